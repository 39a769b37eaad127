import { HoldfastError } from "../errors/index.ts";
import { giveWay } from "../io/clock.ts";
import { BOUNDARY_LEVELS, Boundaries, type BoundaryLevel, trimmedEnd, trimmedStart } from "./boundaries.ts";

export interface SegmentLimits {
  /** The embedder's window, in its own tokens: a whole number from 1. */
  readonly maxTokens: number;
  /** Counts the embedder's tokens in a text, with those that it adds at both ends. */
  readonly countTokens: (text: string) => number;
}

/** A range of a text: `text.slice(start, end)`, in UTF-16 units. */
export interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Text behind a cut that is looked at, so that the rules for sentences and words see what follows. */
const CONTEXT_UNITS = 256;

/** Longer texts are not counted whole at first: they hardly fit, and some counters need long for a long text. */
const UNITS_PER_TOKEN_TRIED = 8;

/**
 * Cuts a text into segments that the embedder reads whole.
 *
 * One segment when it fits. Otherwise each holds as much as fits up to the end of a paragraph, else of a sentence,
 * a word or a grapheme; only a grapheme that alone is over the window is cut between its code points. Segments are in
 * order, do not overlap, and only white space lies outside them. Equal texts and windows give equal segments. Counts
 * about five times the text's length in all.
 *
 * @throws INVALID_TEXT when nothing but white space is there; INVALID_ARGUMENT when one character is over `maxTokens`
 */
export function segmentText(text: string, limits: SegmentLimits): Segment[] {
  const steps = segmentSteps(text, limits);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/**
 * The same, giving the thread back between segments: counting the tokens of a megabyte takes seconds (E7).
 *
 * @param between - called before each segment; what it raises ends the cutting
 */
export async function segmentTextInSlices(
  text: string,
  limits: SegmentLimits,
  between: () => void,
): Promise<Segment[]> {
  const steps = segmentSteps(text, limits);
  for (;;) {
    await giveWay();
    between();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** One step a segment. */
function segmentSteps(text: string, limits: SegmentLimits): Generator<undefined, Segment[]> {
  if (!Number.isSafeInteger(limits.maxTokens) || limits.maxTokens < 1) throw windowTooSmall(limits.maxTokens);
  const end = trimmedEnd(text, 0, text.length);
  const start = trimmedStart(text, 0, end);
  if (start === end)
    throw new HoldfastError("INVALID_TEXT", "A text holds nothing but white space: give it words, or leave it out.");
  return new Cutter(text, end, limits).cut(start);
}

class Cutter {
  readonly #text: string;
  readonly #end: number;
  readonly #limits: SegmentLimits;
  readonly #segments: Segment[] = [];
  /** Of the last count: the first guess of the next segment's length. English has about four. */
  #unitsPerToken = 4;

  constructor(text: string, end: number, limits: SegmentLimits) {
    this.#text = text;
    this.#end = end;
    this.#limits = limits;
  }

  *cut(from: number): Generator<undefined, Segment[]> {
    let start = from;
    const couldFit = this.#end - start <= this.#limits.maxTokens * UNITS_PER_TOKEN_TRIED;
    if (couldFit && this.#fits(start, this.#end)) return this.#push(start, this.#end);
    while (start < this.#end) {
      const bracket = this.#bracket(start, this.#end);
      const cut = bracket.low === this.#end ? this.#end : this.#bestCut(start, bracket);
      if (cut === undefined) {
        start = this.#cutGrapheme(start);
      } else {
        this.#push(start, cut);
        start = cut;
      }
      start = trimmedStart(this.#text, start, this.#end);
      yield;
    }
    return this.#segments;
  }

  /** Finds a `low` behind `start` up to which the text fits, and a `high` up to which it does not, or `low` at `end`. */
  #bracket(start: number, end: number): Bracket {
    let low = start;
    let high = end + 1;
    let length = this.#estimate();
    while (low < end && (low === start || high > end)) {
      const least = (low - start) * 1.1;
      const wanted = low === start ? length : Math.min(Math.max(length, least), (low - start) * 2);
      const at = this.#codePointAt(start + Math.ceil(wanted), { low, high });
      // Nothing between the two: a single code point does not fit.
      if (at === undefined) throw windowTooSmall(this.#limits.maxTokens);
      if (this.#fits(start, at)) low = at;
      else high = at;
      length = low === start ? Math.min(this.#estimate(), (high - start) / 2) : this.#estimate();
    }
    return { low, high };
  }

  #estimate(): number {
    return this.#limits.maxTokens * this.#unitsPerToken;
  }

  /** The best cut of the segment from `start`, or `undefined` when its first grapheme alone is over the window. */
  #bestCut(start: number, bracket: Bracket): number | undefined {
    const around = new Boundaries(this.#text, start, Math.min(this.#end, bracket.high + CONTEXT_UNITS));
    let { low, high } = bracket;
    for (const level of BOUNDARY_LEVELS) {
      ({ low, high } = this.#raise(start, { low, high }, (bounds) => between(around, level, bounds)));
      let cut = around.atOrBefore(level, low);
      // A counter need not grow with the text: what is shorter than what fits may still be over the window.
      while (cut > start && cut < low && !this.#fits(start, cut)) cut = around.atOrBefore(level, cut - 1);
      if (cut > start) return cut;
    }
    return undefined;
  }

  /** Moves `low` up to the last of some places below `high` that fits, halving. */
  #raise(start: number, bracket: Bracket, place: (bracket: Bracket) => number | undefined): Bracket {
    let { low, high } = bracket;
    for (let at = place({ low, high }); at !== undefined; at = place({ low, high })) {
      if (this.#fits(start, at)) low = at;
      else high = at;
    }
    return { low, high };
  }

  /** Cuts one grapheme that is over the window between its code points; answers its end. */
  #cutGrapheme(start: number): number {
    const end = this.#graphemeEnd(start);
    let from = start;
    while (from < end) {
      const found = this.#bracket(from, end);
      const inner = (bracket: Bracket): number | undefined =>
        this.#codePointAt((bracket.low + bracket.high) >> 1, bracket);
      const at = found.low === end ? end : this.#raise(from, found, inner).low;
      this.#push(from, at);
      from = at;
    }
    return end;
  }

  #graphemeEnd(start: number): number {
    for (let length = CONTEXT_UNITS; ; length *= 2) {
      const end = Math.min(start + length, this.#end);
      const found = new Boundaries(this.#text, start, end).after("grapheme", start);
      if (found < end || end === this.#end) return found;
    }
  }

  /** The start of a code point strictly inside the bracket, near `offset`; `undefined` when there is none. */
  #codePointAt(offset: number, { low, high }: Bracket): number | undefined {
    const near = Math.min(Math.max(offset, low + 1), high - 1);
    for (const at of [near, near - 1, near + 1]) if (at > low && at < high && !this.#isInsidePair(at)) return at;
    return undefined;
  }

  #isInsidePair(at: number): boolean {
    return at > 0 && (this.#text.codePointAt(at - 1) ?? 0) > 0xffff;
  }

  #fits(start: number, end: number): boolean {
    const until = trimmedEnd(this.#text, start, end);
    const tokens = this.#limits.countTokens(this.#text.slice(start, until));
    if (tokens > 0) this.#unitsPerToken = (until - start) / tokens;
    return tokens <= this.#limits.maxTokens;
  }

  #push(start: number, cut: number): Segment[] {
    const end = trimmedEnd(this.#text, start, cut);
    // Of a cut grapheme, the white space that carries its marks may be left alone.
    if (trimmedStart(this.#text, start, end) < end)
      this.#segments.push({ text: this.#text.slice(start, end), start, end });
    return this.#segments;
  }
}

interface Bracket {
  readonly low: number;
  readonly high: number;
}

/** A boundary strictly inside the bracket and near its middle. */
function between(around: Boundaries, level: BoundaryLevel, { low, high }: Bracket): number | undefined {
  const middle = (low + high) >> 1;
  const before = around.atOrBefore(level, middle);
  if (before > low && before < high) return before;
  const after = around.after(level, Math.max(middle, low));
  return after > low && after < high ? after : undefined;
}

function windowTooSmall(maxTokens: number): HoldfastError {
  const message = `maxTokens is ${maxTokens}: give a whole number of tokens that holds at least one character.`;
  return new HoldfastError("INVALID_ARGUMENT", message, { details: { maxTokens } });
}
