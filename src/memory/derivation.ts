import { formatWithOffset } from "../contract/datetime.ts";
import { isWellFormed } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { textUnits } from "../segments/text-units.ts";

/** What a derivation of your own is told of a segment. */
export interface DerivationInput {
  readonly event: {
    readonly id: string;
    /** RFC 3339, with the offset that it was given with. */
    readonly at: string;
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
 * What is embedded of a segment: `segment` (the default) is its text with the producer before it; `segment-with-time` has
 * the day in it too, as the event's own offset shows it; `sentences` is each sentence with the producer; or texts of your
 * own. A segment's cosine is the best of what was derived from it. Words are searched in the segment's own text.
 */
export type Derivation = "segment" | "segment-with-time" | "sentences" | Derive;

const NAMED: ReadonlySet<unknown> = new Set(["segment", "segment-with-time", "sentences"]);

export const DERIVATIVES_MAX = 64;

export function assertDerivation(value: unknown): asserts value is Derivation {
  if (NAMED.has(value) || typeof value === "function") return;
  const message = 'derive is "segment", "segment-with-time", "sentences", or a function that answers texts.';
  throw new HoldfastError("INVALID_ARGUMENT", message);
}

export function derivationName(derivation: Derivation): string {
  return typeof derivation === "string" ? derivation : "own";
}

/** What is derived of a segment, each with a shorter form for the case that it is over the embedder's window. */
export interface Derived {
  readonly text: string;
  readonly shorter: string;
}

/** What is put before a segment's text: who said it is part of what was said, and when may be. */
export function derivedPrefix(derivation: Derivation, event: NewEvent): string {
  const { producer } = event;
  if (derivation === "segment-with-time")
    return producer === undefined ? `${dayOf(event)}: ` : `${producer} (${dayOf(event)}): `;
  return producer === undefined ? "" : `${producer}: `;
}

const MONTHS = "January February March April May June July August September October November December".split(" ");

/** In words, such as `8 May 2023`: models read them better than `2023-05-08`. */
function dayOf({ at, atOffset }: NewEvent): string {
  const [year, month, day] = formatWithOffset(at, atOffset).slice(0, "0000-00-00".length).split("-").map(Number);
  return `${day} ${MONTHS[(month ?? 1) - 1]} ${year}`;
}

export async function deriveTexts(
  derivation: Derivation,
  event: NewEvent,
  range: SegmentRange,
): Promise<readonly Derived[]> {
  const text = event.text.slice(range.start, range.end);
  const prefix = derivedPrefix(derivation, event);
  if (derivation === "segment" || derivation === "segment-with-time")
    return [{ text: `${prefix}${text}`, shorter: text }];
  if (derivation === "sentences") {
    const sentences = await textUnits(text, "sentence");
    // Neighbours share a vector rather than that a segment has more of them than is bounded.
    const share = Math.ceil(sentences.length / DERIVATIVES_MAX);
    const groups = sentences.filter((_, index) => index % share === 0);
    return groups.map(({ start }, index) => {
      const end = sentences[Math.min((index + 1) * share, sentences.length) - 1]?.end ?? start;
      const sentence = text.slice(start, end);
      return { text: `${prefix}${sentence}`, shorter: sentence };
    });
  }
  return (await derived(derivation, event, range)).map((own) => ({ text: own, shorter: own }));
}

async function derived(derive: Derive, event: NewEvent, range: SegmentRange): Promise<readonly string[]> {
  const { id, at, atOffset, producer, role, kind, text } = event;
  let answer: unknown;
  try {
    answer = await derive({
      event: {
        id,
        at: formatWithOffset(at, atOffset),
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
