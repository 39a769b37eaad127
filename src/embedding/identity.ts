import { createHash } from "node:crypto";
import { HoldfastError } from "../errors/index.ts";
import type { Embedder } from "./embedder.ts";
import { canonicalEndpoint } from "./endpoint.ts";
import { canonicalOptions, type IdentityValue } from "./identity-options.ts";

/** What tells one embedding space from another (M1). Absent, `null` and `undefined` are one state. */
export interface EmbedderIdentity {
  /** Who computes the vectors: a service or a package. */
  readonly provider: string;
  readonly model: string;
  /** Which weights stand behind the model's name. */
  readonly revision?: string;
  /** The size that was asked for, where a model offers several. */
  readonly requestedDimensions?: number;
  /**
   * URL or host of a remote model. Only host and port count; a path that picks the model belongs
   * in `model` or `options`.
   */
  readonly endpoint?: string;
  /** `unit`: every vector has norm 1. */
  readonly normalization?: "unit" | "none";
  /** The templates that the embedder puts around a text, as it applies them. */
  readonly templates?: { readonly document?: string; readonly query?: string };
  /**
   * Whatever else changes a vector, as plain JSON values. A name or value that looks like a key, token
   * or password is refused: this text is written to disk, into backups and reports.
   */
  readonly options?: Readonly<Record<string, IdentityValue>>;
}

/** Raised when the form below changes; a text of another version is another space until it is adopted. */
const IDENTITY_VERSION = 1;

/** 64 bits name the few spaces of one store; the whole text is compared wherever two spaces meet. */
const HASH_HEX_DIGITS = 16;

interface CanonicalIdentity {
  readonly version: number;
  readonly provider: string;
  readonly model: string;
  readonly revision: string | null;
  readonly requestedDimensions: number | null;
  readonly dimensions: number;
  readonly endpoint: string | null;
  readonly normalization: "unit" | "none" | null;
  readonly documentTemplate: string | null;
  readonly queryTemplate: string | null;
  readonly options: IdentityValue;
}

/**
 * The space of an embedder as one canonical, versioned line of JSON: equal texts mean comparable
 * vectors. The only function that computes it, for those who write vectors and those who read them.
 *
 * @throws INVALID_ARGUMENT for a missing name, a malformed endpoint or an option that holds a secret
 */
export function identityText(embedder: Pick<Embedder, "identity" | "dimensions">): string {
  const { identity } = embedder;
  const canonical: CanonicalIdentity = {
    version: IDENTITY_VERSION,
    provider: requiredName(identity.provider, "provider"),
    model: requiredName(identity.model, "model"),
    revision: optionalText(identity.revision, "revision"),
    requestedDimensions: optionalDimensions(identity.requestedDimensions),
    dimensions: dimensionCount(embedder.dimensions, "dimensions"),
    endpoint: isAbsent(identity.endpoint) ? null : canonicalEndpoint(identity.endpoint),
    normalization: normalization(identity.normalization),
    documentTemplate: optionalText(identity.templates?.document, "templates.document"),
    queryTemplate: optionalText(identity.templates?.query, "templates.query"),
    options: canonicalOptions(identity.options ?? {}),
  };
  return JSON.stringify(canonical);
}

/** 16 lower-case hex digits that name an {@link identityText} in keys and reports. */
export function identityHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex").slice(0, HASH_HEX_DIGITS);
}

/** True when two identity texts name one model behind two endpoints: such a space may be adopted once every probe agrees (M2). */
export function differsOnlyInEndpoint(left: string, right: string): boolean {
  return left !== right && withoutEndpoint(left) === withoutEndpoint(right);
}

function withoutEndpoint(text: string): string {
  return JSON.stringify({ ...(JSON.parse(text) as CanonicalIdentity), endpoint: null });
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function requiredName(value: unknown, field: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw invalid(field, "must be a text that is not empty");
}

function optionalText(value: unknown, field: string): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === "string") return value;
  throw invalid(field, "must be a text");
}

function optionalDimensions(value: unknown): number | null {
  return isAbsent(value) ? null : dimensionCount(value, "requestedDimensions");
}

function dimensionCount(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw invalid(field, "must be a whole number of at least 1");
}

function normalization(value: unknown): "unit" | "none" | null {
  if (isAbsent(value)) return null;
  if (value === "unit" || value === "none") return value;
  throw invalid("normalization", 'must be "unit" or "none"');
}

function invalid(field: string, rule: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", `The embedder's identity is not usable: ${field} ${rule}.`, {
    details: { field },
  });
}
