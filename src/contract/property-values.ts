import { HoldfastError } from "../errors/index.ts";
import { formatDatetime, type Instant, type InstantLike, instantOf, parseDatetime } from "./datetime.ts";
import { LIMITS } from "./limits.ts";
import type { PropertyKind } from "./properties.ts";
import { assertWellFormed, utf8Length } from "./text.ts";

/**
 * A value as it is stored and compared: a string; an int as `bigint`; a float as `number`; a bool;
 * a datetime as `bigint` microseconds since 1970 in UTC.
 */
export type BoundValue = string | number | bigint | boolean;

export const INT64_MIN: bigint = -(2n ** 63n);
export const INT64_MAX: bigint = 2n ** 63n - 1n;

/** What a value that does not fit is told to be. */
const EXPECTED: Readonly<Record<PropertyKind, string>> = {
  string: "a string",
  int: "an integer of 64 bits: a safe integer as number, beyond that a bigint",
  float: "a finite number, or a bigint of 64 bits that a float equals",
  bool: "true or false",
  datetime: "a Date, or an RFC 3339 text such as 2026-05-01T12:00:00Z, of the years 0001 to 9999, to the microsecond",
};

/**
 * Binds one value to its declared type (V3–V8). Nothing is rounded, cut or coerced.
 *
 * @param field - what it is, for messages: `property "year"`
 * @throws PROPERTY_TYPE_MISMATCH, INVALID_TEXT, LIMIT_EXCEEDED
 */
export function bindValue(kind: PropertyKind, value: unknown, field: string): BoundValue {
  const bound = toKind(kind, value);
  if (bound === undefined) {
    throw new HoldfastError(
      "PROPERTY_TYPE_MISMATCH",
      `The ${field} is declared ${kind}: give ${EXPECTED[kind]}; got ${describeValue(value)}.`,
      {
        details: { field, kind },
      },
    );
  }
  if (typeof bound === "string") assertText(bound, field);
  return bound;
}

/**
 * Reads a bound value back (V5, V7).
 *
 * @param int64 - `number`: an int is a number where safe and a bigint beyond; `bigint`: always a bigint
 */
export function readValue(kind: PropertyKind, bound: BoundValue, int64: "number" | "bigint"): BoundValue {
  if (typeof bound !== "bigint") return bound;
  if (kind === "datetime") return formatDatetime(bound);
  return int64 === "number" ? toSafeNumber(bound) : bound;
}

/** A bigint as a number where that is safe, itself beyond. */
export function toSafeNumber(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/**
 * A property of a user's own, undeclared: it keeps the kind that it was written with (F11).
 * A number that is integral and unsafe may be a bigint; numbers compare by exact value.
 */
export type UserValue =
  | { readonly kind: "bool"; readonly value: boolean }
  | { readonly kind: "number"; readonly value: number | bigint }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "datetime"; readonly value: bigint; readonly offset: string };

export type UserKind = UserValue["kind"];

/** A user's own property as it is written; a text is a text, an instant is named as one. */
export type UserInputValue = string | number | bigint | boolean | Date | InstantLike | { readonly datetime: string };

/**
 * Binds one undeclared value to the kind that it comes with.
 *
 * @throws PROPERTY_TYPE_MISMATCH, INVALID_TEXT, LIMIT_EXCEEDED
 */
export function bindUserValue(value: unknown, field: string): UserValue {
  switch (typeof value) {
    case "boolean":
      return { kind: "bool", value };
    case "string":
      assertText(value, field);
      return { kind: "string", value };
    case "number":
      if (Number.isFinite(value)) return { kind: "number", value: withoutNegativeZero(value) };
      break;
    case "bigint":
      if (isInt64(value)) return { kind: "number", value: toSafeNumber(value) };
      break;
    default: {
      const instant = toInstant(value);
      if (instant !== undefined) return { kind: "datetime", value: instant.microseconds, offset: instant.offset };
    }
  }
  throw new HoldfastError(
    "PROPERTY_TYPE_MISMATCH",
    `The ${field} must be a string, a finite number, a bigint of 64 bits, a boolean, a Date or { datetime: <RFC 3339 text> }; got ${describeValue(value)}.`,
    { details: { field } },
  );
}

/** The instant of a `Date`, a `Temporal.Instant` or `{ datetime: text }`; `undefined` for anything else. */
export function toInstant(value: unknown): Instant | undefined {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "datetime")) {
    const text = (value as { readonly datetime?: unknown }).datetime;
    return typeof text === "string" ? parseDatetime(text) : undefined;
  }
  return instantOf(value);
}

export function isInt64(value: bigint): boolean {
  return value >= INT64_MIN && value <= INT64_MAX;
}

/** Says what a value is without repeating it: values are private (O4). */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return describeNumber(value);
  if (typeof value === "bigint") return isInt64(value) ? "a bigint" : "a bigint outside 64 bits";
  if (typeof value === "object") return instantOf(value) === undefined ? "an object" : "an instant";
  return value === undefined ? "undefined" : `a ${typeof value}`;
}

function describeNumber(value: number): string {
  if (!Number.isFinite(value)) return "a number that is not finite";
  if (!Number.isInteger(value)) return "a number with a fraction";
  return Number.isSafeInteger(value) ? "a number" : "a number beyond the safe integers";
}

function toKind(kind: PropertyKind, value: unknown): BoundValue | undefined {
  switch (kind) {
    case "string":
      return typeof value === "string" ? value : undefined;
    case "bool":
      return typeof value === "boolean" ? value : undefined;
    case "int":
      return toInt(value);
    case "float":
      return toFloat(value);
    case "datetime":
      return (typeof value === "string" ? parseDatetime(value) : toInstant(value))?.microseconds;
    default:
      return kind satisfies never;
  }
}

function toInt(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return isInt64(value) ? value : undefined;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function toFloat(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? withoutNegativeZero(value) : undefined;
  if (typeof value !== "bigint" || !isInt64(value)) return undefined;
  const float = Number(value);
  return BigInt(float) === value ? float : undefined;
}

/** SQLite gives −0.0 back as 0.0; written so from the start, a value is the same before and after a restart. */
function withoutNegativeZero(value: number): number {
  return value === 0 ? 0 : value;
}

function assertText(text: string, field: string): void {
  assertWellFormed(text, `The ${field}`);
  // A UTF-16 unit is at most three bytes: only a text that could be too long is counted.
  if (text.length * 3 <= LIMITS.textBytesMax || utf8Length(text) <= LIMITS.textBytesMax) return;
  throw new HoldfastError("LIMIT_EXCEEDED", `The ${field} is longer than ${LIMITS.textBytesMax} UTF-8 bytes.`, {
    details: { field, limit: LIMITS.textBytesMax },
  });
}
