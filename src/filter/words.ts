/** Words that the text form keeps for itself; a field of such a name is written quoted. */
export const KEYWORDS: ReadonlySet<string> = new Set([
  "AND",
  "OR",
  "NOT",
  "TRUE",
  "FALSE",
  "IN",
  "BETWEEN",
  "IS",
  "NULL",
]);

/** A field's name that needs no quotes, unless it is a keyword: letters of any script, digits, `_`. */
export const BARE_NAME: RegExp = /^[\p{L}_][\p{L}\p{Nd}_]*$/u;

export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word.toUpperCase());
}
