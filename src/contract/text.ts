import { HoldfastError } from "../errors/index.ts";

/**
 * Refuses a text that holds a lone surrogate: it has no UTF-8 form, so no storage could give it back (V8).
 *
 * @throws INVALID_TEXT naming `field`
 */
export function assertWellFormed(text: string, field: string): void {
  if (isWellFormed(text)) return;
  throw new HoldfastError(
    "INVALID_TEXT",
    `${field} holds half of a surrogate pair, which is no Unicode text; replace it, for example with text.toWellFormed().`,
    { details: { field } },
  );
}

/** True when `text` is Unicode text: every surrogate stands in a pair. */
export function isWellFormed(text: string): boolean {
  // ES2024, in every runtime that we support; the library types stop at ES2022.
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

/** The number of bytes of `text` in UTF-8, counted without encoding it; a lone surrogate counts as three. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // Each half of a pair adds one: two units become four bytes.
    if (unit < 0x800 || isPairAt(text, index)) bytes += 1;
    else bytes += 2;
  }
  return bytes;
}

/**
 * Orders two texts as their UTF-8 bytes would be ordered, which is by code point.
 * JavaScript's `<` orders by UTF-16 units and puts emoji before U+E000…U+FFFF.
 *
 * @returns below 0, 0 or above 0
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Moves surrogates behind the rest of the basic plane, where their code points are. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function isPairAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (isHigh(unit)) return isLow(text.charCodeAt(index + 1));
  return isLow(unit) && index > 0 && isHigh(text.charCodeAt(index - 1));
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
