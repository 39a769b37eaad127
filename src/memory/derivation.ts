import { isWellFormed } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { textUnits } from "../segments/text-units.ts";
import { searchableText } from "./segment-records.ts";

/** What a derivation of your own is told of a segment. */
export interface DerivationInput {
  readonly event: {
    readonly id: string;
    readonly producer?: string;
    readonly role?: string;
    readonly kind?: string;
    /** The whole event's. */
    readonly text: string;
  };
  /** The segment's text. */
  readonly text: string;
  /** Where it stands in the event's text, in UTF-16 units. */
  readonly range: SegmentRange;
}

/** Makes texts of a segment, 1 to 64, each not empty. Asked again when an embedding is tried again. */
export type Derive = (segment: DerivationInput) => readonly string[] | Promise<readonly string[]>;

/**
 * What is embedded of a segment: `segment` (the default) is its text with the producer before it; `sentences` is each of
 * its sentences so; or texts of your own. A segment's cosine is the best of what was derived from it. Words are searched
 * in the segment's own text.
 */
export type Derivation = "segment" | "sentences" | Derive;

export const DERIVATIVES_MAX = 64;

export function assertDerivation(value: unknown): asserts value is Derivation {
  if (value === "segment" || value === "sentences" || typeof value === "function") return;
  throw new HoldfastError("INVALID_ARGUMENT", 'derive is "segment", "sentences", or a function that answers texts.');
}

export function derivationName(derivation: Derivation): string {
  return typeof derivation === "string" ? derivation : "own";
}

/** What is derived of a segment, each with a shorter form for the case that it is over the embedder's window. */
export interface Derived {
  readonly text: string;
  readonly shorter: string;
}

export async function deriveTexts(
  derivation: Derivation,
  event: NewEvent,
  range: SegmentRange,
): Promise<readonly Derived[]> {
  const text = event.text.slice(range.start, range.end);
  if (derivation === "segment") return [{ text: searchableText(event, range), shorter: text }];
  if (derivation === "sentences") {
    const sentences = await textUnits(text, "sentence");
    // Neighbours share a vector rather than that a segment has more of them than is bounded.
    const share = Math.ceil(sentences.length / DERIVATIVES_MAX);
    const groups = sentences.filter((_, index) => index % share === 0);
    return groups.map(({ start }, index) => {
      const end = sentences[Math.min((index + 1) * share, sentences.length) - 1]?.end ?? start;
      const place = { start: range.start + start, end: range.start + end };
      return { text: searchableText(event, place), shorter: event.text.slice(place.start, place.end) };
    });
  }
  return (await derived(derivation, event, range)).map((own) => ({ text: own, shorter: own }));
}

async function derived(derive: Derive, event: NewEvent, range: SegmentRange): Promise<readonly string[]> {
  const { id, producer, role, kind, text } = event;
  let answer: unknown;
  try {
    answer = await derive({
      event: {
        id,
        ...(producer !== undefined && { producer }),
        ...(role !== undefined && { role }),
        ...(kind !== undefined && { kind }),
        text,
      },
      text: text.slice(range.start, range.end),
      range: { start: range.start, end: range.end },
    });
  } catch (cause) {
    throw new HoldfastError("INVALID_ARGUMENT", "derive failed; its own error is the cause.", { cause });
  }
  if (!Array.isArray(answer) || answer.length === 0 || answer.length > DERIVATIVES_MAX)
    throw new HoldfastError("INVALID_ARGUMENT", `derive answers a list of 1 to ${DERIVATIVES_MAX} texts.`);
  return answer.map((own: unknown, index) => {
    if (typeof own === "string" && own.trim() !== "" && isWellFormed(own)) return own;
    const message = `derive answers texts that are not empty and are valid Unicode; text ${index} is not.`;
    throw new HoldfastError("INVALID_ARGUMENT", message, { details: { index } });
  });
}
