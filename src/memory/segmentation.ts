import { HoldfastError } from "../errors/index.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { isGraphemeBoundary, textUnits } from "../segments/text-units.ts";

/** Cuts texts in a way of your own. */
export interface Segmenter {
  /** Names it and its version: shown by `stats` when a memory was written with another. */
  readonly name: string;
  /**
   * The ranges of `text` that become segments, in UTF-16 units: in order, not overlapping, each on boundaries between
   * graphemes and with more than white space in it; only white space may lie outside them. What is longer than the
   * embedder's window is cut further.
   */
  segment(text: string): readonly SegmentRange[] | Promise<readonly SegmentRange[]>;
}

/**
 * How events are cut into segments, which are what recall finds: `whole` (the default) keeps a text in one piece,
 * `paragraphs` and `sentences` cut there. Whatever is longer than the embedder's window is cut further.
 */
export type Segmentation = "whole" | "paragraphs" | "sentences" | Segmenter;

const BUILT_IN: ReadonlySet<unknown> = new Set(["whole", "paragraphs", "sentences"]);

export function assertSegmentation(value: unknown): asserts value is Segmentation {
  if (BUILT_IN.has(value)) return;
  const { name, segment } = (value ?? {}) as Partial<Segmenter>;
  if (typeof name === "string" && /^[\w.-]{1,64}$/.test(name) && typeof segment === "function" && !BUILT_IN.has(name))
    return;
  const message =
    'segmenter is "whole", "paragraphs", "sentences", or { name, segment(text) } with a name of your own of 1 to 64 letters, digits, ".", "_" or "-".';
  throw new HoldfastError("INVALID_ARGUMENT", message);
}

export function segmentationName(segmentation: Segmentation): string {
  return typeof segmentation === "string" ? segmentation : segmentation.name;
}

/** The ranges of one text, before they are cut to the embedder's window. */
export async function segmentRanges(
  segmentation: Segmentation,
  text: string,
  between: () => void,
): Promise<readonly SegmentRange[]> {
  if (segmentation === "whole") return [{ start: 0, end: text.length }];
  if (segmentation === "paragraphs") return textUnits(text, "paragraph", between);
  if (segmentation === "sentences") return textUnits(text, "sentence", between);
  let ranges: unknown;
  try {
    ranges = await segmentation.segment(text);
  } catch (cause) {
    const message = `The segmenter ${segmentation.name} failed; its own error is the cause.`;
    throw new HoldfastError("INVALID_ARGUMENT", message, { cause, details: { segmenter: segmentation.name } });
  }
  return checkRanges(segmentation.name, text, ranges);
}

function checkRanges(segmenter: string, text: string, ranges: unknown): readonly SegmentRange[] {
  if (!Array.isArray(ranges)) throw wrong(segmenter, "answers no list of ranges");
  let last = 0;
  const checked = ranges.map((range: unknown, index): SegmentRange => {
    const { start, end } = (range ?? {}) as Partial<SegmentRange>;
    if (!isOffset(start, text) || !isOffset(end, text))
      throw wrong(segmenter, "answers a range outside the text", index);
    if (start < last) throw wrong(segmenter, "answers ranges that overlap or are out of order", index);
    if (end <= start || isBlank(text.slice(start, end)))
      throw wrong(segmenter, "answers a range with nothing but white space in it", index);
    if (!isBlank(text.slice(last, start)))
      throw wrong(segmenter, "leaves out a part of the text before a range", index);
    // A place behind a boundary is looked at from there, so that a long text is gone through once.
    if (!isGraphemeBoundary(text, start, last) || !isGraphemeBoundary(text, end, start))
      throw wrong(segmenter, "cuts through a grapheme", index);
    last = end;
    return { start, end };
  });
  if (!isBlank(text.slice(last))) throw wrong(segmenter, "leaves out the end of the text");
  return checked;
}

function isOffset(value: unknown, text: string): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= text.length;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function wrong(segmenter: string, what: string, range?: number): HoldfastError {
  const message = `The segmenter ${segmenter} ${what}: it answers { start, end } in order, without gaps but white space, between graphemes.`;
  return new HoldfastError("INVALID_ARGUMENT", message, {
    details: { segmenter, ...(range !== undefined && { range }) },
  });
}
