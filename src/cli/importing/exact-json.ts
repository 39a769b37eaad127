import { HoldfastError } from "../../errors/index.ts";

const NOT_JSON = 'The line is not valid JSON; each line is one whole object such as {"session": "…", "text": "…"}.';

/** From 16 digits on an integer may be one that no `number` equals. */
const MANY_DIGITS = /\d{16}/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * Parses JSON whose long integers keep every digit: they are answered as `{ "$int": "<digits>" }`, the form in which
 * they may also be written. `JSON.parse` alone would round 9007199254740993 in silence.
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(MANY_DIGITS.test(text) ? wrapLongIntegers(text) : text);
  } catch (cause) {
    // V8's message quotes a part of the text, which is private.
    throw new HoldfastError("INVALID_ARGUMENT", NOT_JSON, { cause });
  }
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
