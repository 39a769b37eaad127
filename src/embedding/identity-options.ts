import { HoldfastError } from "../errors/index.ts";

/** A plain JSON value. */
export type IdentityValue =
  | string
  | number
  | boolean
  | null
  | readonly IdentityValue[]
  | { readonly [name: string]: IdentityValue };

/** Options are a handful of switches; deeper is a mistake, or a cycle. */
const DEPTH_MAX = 8;

/** Names whose last word is one of these hold a secret: `apiKey`, `access_token`, `X-Client-Secret`. */
const SECRET_LAST_WORDS = new Set(["key", "keys", "apikey", "token", "pat", "signature", "session"]);

/** Names with one of these words anywhere hold a secret. */
const SECRET_WORDS = new Set([
  ..."secret secrets password passwords passwd pwd passphrase credential credentials".split(" "),
  ..."authorization auth oauth bearer cookie cookies jwt".split(" "),
]);

/** Two words written as one: `apikey`, `accesstoken`. `tokenizer` and `maxTokens` are none of these. */
const SECRET_COMPOUND =
  /^(?:x?api|access|auth|bearer|client|id|private|refresh|secret|session)(?:key|token|secret)s?$/u;

/** Forms in which well-known services issue keys. */
const SECRET_VALUE =
  /^(?:(?:bearer|basic) \S|(?:sk|pk|rk|vck|pa|jina|r8|hf|gh[opsu]|xox[a-z]|github_pat|AKIA|AIza)[-_]?[\w-]{16,}$|eyJ[\w-]+\.[\w-]+\.)/iu;

/**
 * Options in one form: names sorted, names without a value left out.
 *
 * @throws INVALID_ARGUMENT when a value is not plain JSON or seems to be a secret. It is refused rather
 * than dropped: what was meant to set one space apart from another must not vanish in silence.
 */
export function canonicalOptions(options: Readonly<Record<string, IdentityValue>>): IdentityValue {
  return canonicalValue(options, "options", 0);
}

function canonicalValue(value: unknown, path: string, depth: number): IdentityValue {
  if (depth > DEPTH_MAX) throw refused(path, "is nested too deeply");
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") {
    if (SECRET_VALUE.test(value)) throw refused(path, "looks like a key or token; keep it out of the identity");
    return value;
  }
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, index) => canonicalValue(item, `${path}[${index}]`, depth + 1));
  if (isPlainObject(value)) return canonicalObject(value, path, depth);
  throw refused(path, "must be a text, a finite number, a boolean, or an array or plain object of these");
}

function canonicalObject(value: Readonly<Record<string, unknown>>, path: string, depth: number): IdentityValue {
  const entries: [string, IdentityValue][] = [];
  for (const name of Object.keys(value).sort()) {
    const item = value[name];
    if (item === undefined || item === null) continue;
    if (isSecretName(name)) throw refused(`${path}.${name}`, "has the name of a secret; keep it out of the identity");
    entries.push([name, canonicalValue(item, `${path}.${name}`, depth + 1)]);
  }
  // A name such as "7" would be moved to the front by an object, the same way for writer and reader.
  return Object.fromEntries(entries);
}

function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/gu, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/gu, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/u)
    .filter((word) => word !== "");
  const last = words.at(-1) ?? "";
  return (
    SECRET_LAST_WORDS.has(last) ||
    words.some((word) => SECRET_WORDS.has(word) || SECRET_COMPOUND.test(word)) ||
    SECRET_COMPOUND.test(words.join(""))
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function refused(path: string, rule: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", `The embedder's identity is not usable: ${path} ${rule}.`, {
    details: { field: path },
  });
}
