/** Plain ASCII needs nothing but lower case. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL and its kind are ASCII too
const ASCII_ONLY = /^[\x00-\x7f]*$/;

/** Symbols and raised or circled numbers stand alone ("Foo™", "word¹"): NFKD would glue them to the word before. */
const LONE_SYMBOL = /(?!\p{RI})[\p{No}\p{So}]/gu;

/** Soft hyphens, joiners, direction marks and variation selectors are invisible; a zero-width space separates words. */
const ZERO_WIDTH_SPACE = /\u200b/g;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * The marks that a reader of the script may leave out: accents of Latin, Greek and Cyrillic, vowel points of
 * Hebrew and Arabic with the Arabic stretch, and enclosing marks. Never all of \p{M}: the vowel signs of Hindi or
 * Thai and the voicing marks of Japanese make other words.
 */
const OPTIONAL_MARKS = new RegExp(
  "[\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a\\u0640" +
    "\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed\\u1ab0-\\u1aff\\u1dc0-\\u1dff" +
    "\\u20d0-\\u20ff\\ufe20-\\ufe2f]",
  "g",
);

/** Letters that Unicode does not take apart though their readers type them without the stroke. */
const UNDECOMPOSED = /[æœøđłħŧıςðþ\u2018\u2019\u02bc\uff07]|\p{Emoji_Modifier}/gu;
const REPLACEMENTS: ReadonlyMap<string, string> = new Map([
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["đ", "d"],
  ["ł", "l"],
  ["ħ", "h"],
  ["ŧ", "t"],
  ["ı", "i"],
  ["ς", "σ"],
  ["ð", "d"],
  ["þ", "th"],
  ["\u2018", "'"],
  ["\u2019", "'"],
  ["\u02bc", "'"],
  ["\uff07", "'"],
]);

/**
 * Brings equal words to equal code points: case, accents, width, ligatures, apostrophes, canonical form.
 * The same for every locale of the process. Answers a text in NFC; its offsets are not those of `text`.
 */
export function foldText(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  const plain = text.replace(LONE_SYMBOL, " $& ").replace(ZERO_WIDTH_SPACE, " ").normalize("NFKD");
  // Upper case first: ß and its kind only have a pair there. It can compose anew, hence NFKD twice.
  const folded = plain.toUpperCase().toLowerCase().normalize("NFKD").replace(OPTIONAL_MARKS, "").replace(INVISIBLE, "");
  return folded.replace(UNDECOMPOSED, (letter) => REPLACEMENTS.get(letter) ?? "").normalize("NFC");
}
