import { isInt64, toSafeNumber } from "../contract/property-values.ts";

/** `-? digits (. digits)? (e [+-]? digits)?`, as the text form and JSON's decimal strings write numbers. */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The value of a number as it is written, exactly: a `number`, or a `bigint` where it is integral and unsafe.
 *
 * @returns `undefined` when it is beyond the range of a float, or has a fraction so small that rounding
 *   would take it for an integer
 */
export function parseNumber(text: string): number | bigint | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent] = match;
  if (exponent === undefined && fraction === "") return toSafeNumber(BigInt(text));
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  // Not an integer after rounding: it was none before, since every integer this small is a float.
  if (!Number.isInteger(value)) return value;
  return exactInteger(value, `${sign}${whole}${fraction}`, Number(exponent ?? "0") - fraction.length);
}

/** The integer `digits` × 10^`shift`, whose nearest float is `value`. */
function exactInteger(value: number, digits: string, shift: number): number | bigint | undefined {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  const mantissa = digits.slice(0, end);
  const zeros = shift + digits.length - mantissa.length;
  if (mantissa === "" || mantissa === "-") return 0;
  if (zeros < 0) return undefined;
  // Beyond 64 bits, and so with any exponent: only a float key can hold it, by its nearest float.
  if (Math.abs(value) > 2 ** 64) return value;
  const exact = BigInt(mantissa) * 10n ** BigInt(zeros);
  return isInt64(exact) ? toSafeNumber(exact) : value;
}

/** An integer beyond the safe ones as canonical decimal digits: no sign but `-`, no leading zero. */
export function parseUnsafeInteger(text: string): bigint | undefined {
  const value = parseInteger(text);
  return value !== undefined && typeof toSafeNumber(value) === "bigint" ? value : undefined;
}

/** An integer as canonical decimal digits, of at most 64 bits' length. */
export function parseInteger(text: string): bigint | undefined {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(text) ? BigInt(text) : undefined;
}
