/**
 * What a stored text must not do to a terminal: control characters (C0, DEL, C1), the marks that turn or hide the
 * direction of writing, and line separators.
 */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/gu;

/** One line that is safe to print: white space becomes a space, any other control character is spelled out as `\x1b`. */
export function toPrintableLine(text: string): string {
  return toPrintableText(text.replace(/\s*[\r\n\u2028\u2029]+\s*/g, " "));
}

/** Text that is safe to print; its line breaks stay. */
export function toPrintableText(text: string): string {
  return text.replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(UNPRINTABLE, spell);
}

/** JSON in which the same characters are escaped: `JSON.stringify` escapes only those below U+0020. */
export function toPrintableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : `\\u${codeOf(character).toString(16).padStart(4, "0")}`,
  );
}

function spell(character: string): string {
  if (character === "\n") return character;
  if (character === "\t") return " ";
  const code = codeOf(character);
  return code <= 0xff ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
