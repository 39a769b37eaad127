import { stemmer } from "stemmer";
import { foldText } from "./folding.ts";

/** Raised by every change of what {@link tokeniseWords} answers; the text index is then built anew. */
export const TOKENIZER_VERSION = 1;

/** UTF-16 units of one token: above every word and digest in hexadecimal, far below FTS5's 32,768 bytes. */
const TOKEN_UNITS_MAX = 128;

/**
 * Units given to one call of `Intl.Segmenter`. V8 copies the whole text at each step of its iterator, so that
 * 300,000 units at once take 88 s; measured fastest here, and longer than any run between two marks of punctuation.
 */
const RUN_UNITS_MAX = 512;

/** The locale is fixed: the default one is the machine's, and the words would follow it. */
const unspacedWords = new Intl.Segmenter("en", { granularity: "word" });

type CharacterClass = 0 | 1 | 2 | 3;
const SEPARATOR = 0;
const SPACED = 1;
/** Scripts that put no space between words, which ICU cuts with a dictionary. */
const UNSPACED = 2;
const PICTURE = 3;

const UNSPACED_LETTER =
  /(?=[\p{L}\p{M}\p{N}])[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Mymr}]/u;
const LETTER = /[\p{L}\p{M}\p{N}]/u;
const PICTOGRAPH = /\p{RI}|(?![©®™])\p{Extended_Pictographic}/u;
const LONG_HAN = /^\p{scx=Han}{3,}$/u;
const ELISION = /^(?:[cdjlmnst]|qu)'(?=.)/;
const POSSESSIVE = /'s$/;
const ASCII_WORD = /^[a-z]+$/;
const HALF_PAIR = /[\ud800-\udbff]$/;
const THOUSANDS = /^,\d{3}(?!\d)/;

/**
 * The words of a text as they are indexed and searched, in order, repeats kept; empty when it has none.
 *
 * Case, accents and width are folded and English words stemmed. Chinese, Japanese, Thai, Lao, Khmer and
 * Burmese are cut by `Intl.Segmenter`; a Chinese word of three characters or more also gives its pairs, so that
 * a part of it is found. Numbers keep their points, emoji are words. A token holds at most 128 UTF-16 units:
 * what a longer word has beyond them is not looked at. Takes time linear in the text.
 */
export function tokeniseWords(text: string): string[] {
  const folded = foldText(text);
  const tokens: string[] = [];
  let at = 0;
  while (at < folded.length) {
    const kind = classAt(folded, at);
    const end = kind === SEPARATOR ? at + widthAt(folded, at) : endOfRun(folded, at, kind);
    switch (kind) {
      case SEPARATOR:
        break;
      case SPACED:
        pushWord(tokens, folded.slice(at, Math.min(end, at + TOKEN_UNITS_MAX + 1)));
        break;
      case UNSPACED:
        pushUnspaced(tokens, folded.slice(at, end));
        break;
      case PICTURE:
        tokens.push(folded.slice(at, end));
        break;
      default:
        kind satisfies never;
    }
    at = end;
  }
  return tokens;
}

function endOfRun(text: string, start: number, kind: CharacterClass): number {
  let at = start + widthAt(text, start);
  if (kind === PICTURE) return isRegional(text, start) && isRegional(text, at) ? at + 2 : at;
  const limit = kind === UNSPACED ? start + RUN_UNITS_MAX - 1 : text.length;
  while (at < limit && (classAt(text, at) === kind || (kind === SPACED && joinsAt(text, at)))) at += widthAt(text, at);
  return at;
}

/** An apostrophe between letters, a point between digits, a comma before a group of three digits. */
function joinsAt(text: string, at: number): boolean {
  const mark = text.charAt(at);
  if (mark === "'") return classAt(text, at + 1) === SPACED;
  if (mark === ".") return isDigit(text, at - 1) && isDigit(text, at + 1);
  return mark === "," && isDigit(text, at - 1) && THOUSANDS.test(text.slice(at, at + 5));
}

function pushWord(tokens: string[], raw: string): void {
  const word = raw.replace(POSSESSIVE, "").replace(ELISION, "").replace(/[',]/g, "");
  const token = capUnits(word);
  if (token !== "") tokens.push(ASCII_WORD.test(token) ? stemmer(token) : token);
}

function pushUnspaced(tokens: string[], run: string): void {
  for (const { segment, isWordLike } of unspacedWords.segment(run)) {
    if (isWordLike !== true) continue;
    tokens.push(capUnits(segment));
    if (!LONG_HAN.test(segment)) continue;
    const characters = Array.from(segment);
    for (let i = 1; i < characters.length; i++) tokens.push(`${characters[i - 1]}${characters[i]}`);
  }
}

/** Cuts to the limit, and never inside a surrogate pair. */
function capUnits(word: string): string {
  return word.slice(0, TOKEN_UNITS_MAX).replace(HALF_PAIR, "");
}

/** One byte for each code point of the basic plane: the class plus one, or 0 where it is not known yet. */
const knownClasses = new Uint8Array(65_536);

function classAt(text: string, at: number): CharacterClass {
  const point = text.codePointAt(at);
  if (point === undefined) return SEPARATOR;
  if (point > 0xffff) return classOf(point);
  const known = knownClasses[point] ?? 0;
  if (known !== 0) return (known - 1) as CharacterClass;
  const found = classOf(point);
  knownClasses[point] = found + 1;
  return found;
}

function classOf(point: number): CharacterClass {
  const character = String.fromCodePoint(point);
  if (UNSPACED_LETTER.test(character)) return UNSPACED;
  if (LETTER.test(character)) return SPACED;
  return PICTOGRAPH.test(character) ? PICTURE : SEPARATOR;
}

function widthAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

function isRegional(text: string, at: number): boolean {
  const point = text.codePointAt(at) ?? 0;
  return point >= 0x1f1e6 && point <= 0x1f1ff;
}
