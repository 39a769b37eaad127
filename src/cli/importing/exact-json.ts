import { HoldfastError } from "../../errors/index.ts";

const NOT_JSON = 'The line is not valid JSON; each line is one whole object such as {"session": "…", "text": "…"}.';

/** From 16 digits on an integer may be one that no `number` equals. */
const MANY_DIGITS = /\d{16}/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const LONG_INTEGER = /^-?\d{16,}$/;

/** Deeper than any event: its properties are flat, and data of blocks holds 100 levels at most. */
const DEPTH_MAX = 200;

/**
 * Parses JSON whose long integers keep every digit: they are answered as `{ "$int": "<digits>" }`, the form in which
 * they may also be written. `JSON.parse` alone would round 9007199254740993 in silence, and keep one of two fields of
 * one name.
 *
 * @throws INVALID_ARGUMENT
 */
export function parseExactJson(text: string): unknown {
  const json = MANY_DIGITS.test(text) ? wrapLongIntegers(text) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    // V8's message quotes a part of the text, which is private.
    throw new HoldfastError("INVALID_ARGUMENT", NOT_JSON, { cause });
  }
  if (fieldsIn(value, 0) < fieldsWritten(json)) {
    const message = "The line names a field twice in one object; one of its values would be lost.";
    throw new HoldfastError("INVALID_ARGUMENT", message);
  }
  return value;
}

function fieldsIn(value: unknown, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth > DEPTH_MAX)
    throw new HoldfastError("INVALID_ARGUMENT", `The line is nested deeper than ${DEPTH_MAX} levels.`);
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.reduce<number>((sum, item) => sum + fieldsIn(item, depth + 1), Array.isArray(value) ? 0 : items.length);
}

/** In JSON a colon outside strings stands behind a field's name alone. */
function fieldsWritten(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; ) {
    const character = json[at];
    if (character === ":") count += 1;
    at = character === '"' ? endOfString(json, at) : at + 1;
  }
  return count;
}

function wrapLongIntegers(json: string): string {
  let wrapped = "";
  let copied = 0;
  let at = 0;
  while (at < json.length) {
    const character = json[at] ?? "";
    if (character === '"') {
      at = endOfString(json, at);
    } else if (character === "-" || (character >= "0" && character <= "9")) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(json)?.[0] ?? character;
      if (LONG_INTEGER.test(number)) {
        wrapped += `${json.slice(copied, at)}{"$int":"${number}"}`;
        copied = at + number.length;
      }
      at += number.length;
    } else {
      at += 1;
    }
  }
  return wrapped + json.slice(copied);
}

/** Behind the closing quote of the string that opens at `open`. */
function endOfString(json: string, open: number): number {
  let quote = json.indexOf('"', open + 1);
  while (quote >= 0 && isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote < 0 ? json.length : quote + 1;
}

function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json[first - 1] === "\\") first -= 1;
  return (at - first) % 2 === 1;
}
