/** From the best place to cut to the worst. */
export const BOUNDARY_LEVELS = ["paragraph", "sentence", "word", "grapheme"] as const;
export type BoundaryLevel = (typeof BOUNDARY_LEVELS)[number];

// The locale is fixed: the default one is the machine's, and equal texts would be cut differently.
const segmenters: Readonly<Record<Exclude<BoundaryLevel, "paragraph">, Intl.Segmenter>> = {
  sentence: new Intl.Segmenter("en", { granularity: "sentence" }),
  word: new Intl.Segmenter("en", { granularity: "word" }),
  grapheme: new Intl.Segmenter("en", { granularity: "grapheme" }),
};

const WHITE_SPACE = /\s/;

/**
 * Where a part of a text may be cut. Every boundary is one between graphemes too.
 *
 * V8 copies the text at each step through segments, so that steps through a long text take quadratic time: the
 * part is as short as the caller can make it, and boundaries are asked for by place instead of listed.
 */
export class Boundaries {
  readonly #start: number;
  readonly #part: string;
  readonly #segments = new Map<BoundaryLevel, Intl.Segments>();

  /** @param start - a boundary between graphemes of `text`, in UTF-16 units, as is every offset here */
  constructor(text: string, start: number, end: number) {
    this.#start = start;
    this.#part = text.slice(start, end);
  }

  /** The last boundary at or before `offset`; the part's start when there is none behind it. */
  atOrBefore(level: BoundaryLevel, offset: number): number {
    let at = offset - this.#start;
    while (at > 0) {
      const found = this.#find(level, at).start;
      if (found === 0 || this.#find("grapheme", found).start === found) return this.#start + found;
      at = found - 1;
    }
    return this.#start;
  }

  /** The first boundary behind `offset`, or the part's end, which need not be one. */
  after(level: BoundaryLevel, offset: number): number {
    let at = offset - this.#start;
    while (at < this.#part.length) {
      at = this.#find(level, at).end;
      if (at < this.#part.length && this.#find("grapheme", at).start === at) break;
    }
    return this.#start + at;
  }

  #find(level: BoundaryLevel, at: number): { readonly start: number; readonly end: number } {
    if (level === "paragraph") return { start: this.#paragraphBefore(at), end: this.#paragraphAfter(at + 1) };
    const segments = this.#segments.get(level) ?? segmenters[level].segment(this.#part);
    this.#segments.set(level, segments);
    const found = segments.containing(at);
    return found === undefined
      ? { start: this.#part.length, end: this.#part.length }
      : { start: found.index, end: found.index + found.segment.length };
  }

  /** A paragraph begins behind white space with an empty line in it. */
  #paragraphBefore(from: number): number {
    for (let at = from; at > 0; at--) if (this.#isParagraph(at)) return at;
    return 0;
  }

  #paragraphAfter(from: number): number {
    for (let at = from; at < this.#part.length; at++) if (this.#isParagraph(at)) return at;
    return this.#part.length;
  }

  #isParagraph(at: number): boolean {
    if (isSpaceAt(this.#part, at) || !isSpaceAt(this.#part, at - 1)) return false;
    let breaks = 0;
    for (let before = at - 1; before >= 0 && isSpaceAt(this.#part, before); before--) {
      const unit = this.#part.charAt(before);
      if (unit === "\u2029" || (unit === "\n" && breaks > 0)) return true;
      if (unit === "\n") breaks++;
    }
    return false;
  }
}

/** The start of the text without white space before it; white space that carries a combining mark stays. */
export function trimmedStart(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpaceAt(text, at)) at++;
  return at > start && at < end && isOneGrapheme(text, at) ? at - 1 : at;
}

/** The end of the text without white space behind it; white space that a prefixed sign clings to stays. */
export function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpaceAt(text, at - 1)) at--;
  return at < end && at > start && isOneGrapheme(text, at) ? at + 1 : at;
}

/** Whether white space on one side of `at` and a character on the other are one grapheme. The pair alone decides it. */
function isOneGrapheme(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  const start = before.length === 2 && (before.codePointAt(0) ?? 0) <= 0xffff ? at - 1 : at - before.length;
  return segmenters.grapheme.segment(text.slice(start, at + 2)).containing(at - start)?.index !== at - start;
}

function isSpaceAt(text: string, at: number): boolean {
  return WHITE_SPACE.test(text.charAt(at));
}
