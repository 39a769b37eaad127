import { HoldfastError } from "../errors/index.ts";
import { LIMITS } from "./limits.ts";
import { isWellFormed, utf8Length } from "./text.ts";

const NAME = /^[a-z0-9_]{1,32}$/;

/**
 * Checks the name of a store, partition or property (V12): 1–32 of a–z, 0–9 and _, and not `__proto__`.
 *
 * @param what - what is named, for the message: `store name`
 * @throws INVALID_NAME
 */
export function assertName(name: unknown, what: string): asserts name is string {
  if (typeof name === "string" && NAME.test(name) && name !== "__proto__") return;
  throw new HoldfastError(
    "INVALID_NAME",
    `The ${what} must be 1 to 32 of the characters a-z, 0-9 and _, and not __proto__; got ${describe(name)}.`,
    { details: { what } },
  );
}

/**
 * Checks an id of a record, tenant, session, user or event, or a user's own property key (V12):
 * any Unicode text of 1–512 UTF-8 bytes.
 *
 * @throws INVALID_NAME
 */
export function assertId(id: unknown, what: string): asserts id is string {
  if (isId(id)) return;
  throw new HoldfastError(
    "INVALID_NAME",
    `The ${what} must be Unicode text of 1 to ${LIMITS.idBytesMax} UTF-8 bytes; got ${describe(id)}.`,
    { details: { what } },
  );
}

/** True for any Unicode text of 1–512 UTF-8 bytes. */
export function isId(id: unknown): id is string {
  if (typeof id !== "string" || id.length === 0 || id.length > LIMITS.idBytesMax) return false;
  return isWellFormed(id) && utf8Length(id) <= LIMITS.idBytesMax;
}

/** Says what came instead without repeating it: names can be private. */
function describe(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : `a value of type ${typeof value}`;
  if (value.length === 0) return "an empty text";
  return isWellFormed(value) ? `a text of ${value.length} characters` : "a text with half of a surrogate pair";
}
