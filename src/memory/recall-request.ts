import type { CallOptions } from "../contract/store.ts";
import { HoldfastError } from "../errors/index.ts";
import { toLimit, toThreshold } from "../store/query-input.ts";
import type { RecallOptions } from "./contract.ts";
import type { RecallInput } from "./recall.ts";
import { toCandidates } from "./rerank.ts";
import { bindScope } from "./scope.ts";

const CONTEXT_MAX = 20;
const DEFAULT_CONTEXT = 1;

/** A recall's options, checked, with every default filled in. */
export interface RecallRequest {
  readonly search: Pick<RecallInput, "filter" | "limit" | "minCosineSimilarity" | "context">;
  readonly channels: RecallInput["channels"];
  /** Hits that are answered. */
  readonly limit: number;
  /** Hits that a reranker judges first, where it is asked. */
  readonly candidates: number | undefined;
  readonly bounds: CallOptions;
}

export function toRecallRequest(options: RecallOptions): RecallRequest {
  const { signal, timeoutMs } = options;
  assertFlag(options.explain, "explain");
  assertFlag(options.waitForModel, "waitForModel");
  const limit = toLimit(options.limit);
  const candidates = toCandidates(options.rerank);
  return {
    limit,
    candidates,
    search: {
      filter: bindScope(options),
      limit: limit === 0 ? 0 : Math.max(limit, candidates ?? 0),
      minCosineSimilarity: toThreshold(options.minCosineSimilarity),
      context: toContext(options.context),
    },
    channels: toChannels(options.channels),
    bounds: { ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) },
  };
}

function toChannels(given: unknown): RecallInput["channels"] {
  if (given === undefined) return { text: true, vector: true };
  const known = Array.isArray(given) && given.length > 0 && given.every((name) => name === "text" || name === "vector");
  if (!known) throw invalid('channels is a list of "text" and "vector", at least one.');
  return { text: given.includes("text"), vector: given.includes("vector") };
}

function toContext(given: unknown): RecallInput["context"] {
  if (given === undefined) return { before: DEFAULT_CONTEXT, after: DEFAULT_CONTEXT };
  if (typeof given === "number") return { before: toCount(given), after: toCount(given) };
  if (typeof given !== "object" || given === null) throw invalidContext();
  const unknown = Object.keys(given).find((key) => key !== "before" && key !== "after");
  if (unknown !== undefined) throw invalidContext();
  const { before = 0, after = 0 } = given as { readonly before?: unknown; readonly after?: unknown };
  return { before: toCount(before), after: toCount(after) };
}

function toCount(value: unknown): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= CONTEXT_MAX) return Number(value);
  throw invalidContext();
}

function invalidContext(): HoldfastError {
  return invalid(`context is a whole number from 0 to ${CONTEXT_MAX}, or { before, after } of such.`);
}

function assertFlag(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== "boolean") throw invalid(`${name} is true or false.`);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
