import { countTokens } from "../embedding/count-tokens.ts";
import { type EachOptions, embedEach } from "../embedding/each.ts";
import { openEmbedder } from "../embedding/embed-call.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { isAboutTexts } from "../embedding/failure-cause.ts";
import type { Embedded } from "../embedding/vector-checks.ts";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { giveWay } from "../io/clock.ts";
import { segmentTextInSlices } from "../segments/segmenter.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { DERIVATIVES_MAX, type Derivation, type Derived, deriveTexts } from "./derivation.ts";

/** A segment whose vectors are asked for. */
export interface UnembeddedSegment {
  readonly event: NewEvent;
  readonly range: SegmentRange;
}

/**
 * The vectors of a segment, or why it has none: by the `text` itself, by the `service`, or by `either`, which only the
 * service's answers to other texts can tell.
 */
export type EmbeddedSegment =
  | { readonly vectors: readonly Float32Array[] }
  | { readonly error: HoldfastError; readonly about: "text" | "service" | "either" };

/**
 * Derives the texts of segments and embeds them: one outcome a segment, in order. A segment has all of its vectors or
 * none. No text is over the embedder's window.
 *
 * @throws ABORTED, TIMEOUT; every other error is the outcome of a segment
 */
export async function embedSegments(
  embedder: Embedder,
  derivation: Derivation,
  segments: readonly UnembeddedSegment[],
  options: EachOptions,
): Promise<readonly EmbeddedSegment[]> {
  try {
    await openEmbedder(embedder, options.signal);
  } catch (error) {
    const failed = { error: toError(error), about: "service" } as const;
    return segments.map(() => failed);
  }
  const texts: string[] = [];
  const derived: (EmbeddedSegment | { readonly from: number; readonly count: number })[] = [];
  for (const segment of segments) {
    await giveWay();
    try {
      const own = await textsOf(embedder, derivation, segment);
      derived.push({ from: texts.length, count: own.length });
      texts.push(...own);
    } catch (error) {
      const failed = toError(error);
      derived.push({ error: failed, about: failed.code === "EMBEDDING_FAILED" ? "service" : "text" });
    }
  }
  const outcomes = await embedEach(embedder, texts, options);
  return derived.map((own) => ("from" in own ? join(outcomes.slice(own.from, own.from + own.count)) : own));
}

function join(outcomes: readonly Embedded[]): EmbeddedSegment {
  const vectors: Float32Array[] = [];
  for (const outcome of outcomes) {
    if ("error" in outcome) return { error: outcome.error, about: aboutWhat(outcome.error) };
    vectors.push(outcome.vector);
  }
  return { vectors };
}

function aboutWhat(error: HoldfastError): "text" | "service" | "either" {
  if (error.code === "INVALID_TEXT" || error.code === "LIMIT_EXCEEDED") return "text";
  return error.code === "DIMENSION_MISMATCH" || isAboutTexts(error) ? "either" : "service";
}

/** What is sent of one segment: each derived text, or its shorter form, or that in pieces, so that all of it fits. */
async function textsOf(
  embedder: Embedder,
  derivation: Derivation,
  { event, range }: UnembeddedSegment,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const own of await deriveTexts(derivation, event, range)) texts.push(...(await toWindow(embedder, own)));
  if (texts.length <= DERIVATIVES_MAX) return texts;
  const message = `What is derived of one segment makes ${texts.length} texts of the embedder's window; at most ${DERIVATIVES_MAX} are embedded: derive shorter texts.`;
  throw new HoldfastError("INVALID_ARGUMENT", message, { details: { texts: texts.length, event: event.id } });
}

async function toWindow(embedder: Embedder, { text, shorter }: Derived): Promise<readonly string[]> {
  const { maxTokens } = embedder;
  const count = (of: string): number => countTokens(embedder, of) ?? 0;
  if (maxTokens === undefined || embedder.countTokens === undefined) return [text];
  if (count(text) <= maxTokens) return [text];
  if (count(shorter) <= maxTokens) return [shorter];
  const pieces = await segmentTextInSlices(shorter, { maxTokens, countTokens: count }, () => undefined);
  return pieces.map((piece) => piece.text);
}

function toError(error: unknown): HoldfastError {
  if (!isHoldfastError(error) || error.group === "abort") throw error;
  return error;
}
