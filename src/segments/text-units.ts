import { giveWay } from "../io/clock.ts";
import { Boundaries, trimmedEnd, trimmedStart } from "./boundaries.ts";

/** A part of a text in UTF-16 units. */
export interface TextUnit {
  readonly start: number;
  readonly end: number;
}

/** Text that is looked at for the next boundary at first; doubled where there is none in it. */
const LOOK_AHEAD_UNITS = 2_048;

/** Text behind a boundary that is looked at, so that the rules see what follows. */
const CONTEXT_UNITS = 256;

/**
 * The sentences or paragraphs of a text, in order, with the white space between them left out. Every boundary is one
 * between graphemes; equal texts give equal units in every process. Gives the thread back between units (E7).
 *
 * @param between - called before each unit; what it raises ends the cutting
 */
export async function textUnits(
  text: string,
  level: "sentence" | "paragraph",
  between: () => void = () => undefined,
): Promise<readonly TextUnit[]> {
  const end = trimmedEnd(text, 0, text.length);
  const units: TextUnit[] = [];
  for (let start = trimmedStart(text, 0, end); start < end; ) {
    await giveWay();
    between();
    const cut = nextBoundary(text, level, { start, end });
    const stop = trimmedEnd(text, start, cut);
    if (trimmedStart(text, start, stop) < stop) units.push({ start, end: stop });
    start = trimmedStart(text, cut, end);
  }
  return units;
}

function nextBoundary(text: string, level: "sentence" | "paragraph", { start, end }: TextUnit): number {
  for (let length = LOOK_AHEAD_UNITS; ; length *= 2) {
    const until = Math.min(start + length, end);
    const found = new Boundaries(text, start, until).after(level, start);
    if (until === end || found < until - CONTEXT_UNITS) return found;
  }
}

/** Whether a text may be cut at `at`: no grapheme is broken there. `known` is such a place at or before it. */
export function isGraphemeBoundary(text: string, at: number, known: number): boolean {
  if (at === known || at === text.length) return true;
  return new Boundaries(text, known, Math.min(text.length, at + CONTEXT_UNITS)).atOrBefore("grapheme", at) === at;
}
