import type { CallOptions } from "../contract/store.ts";
import { assertNotAborted } from "../embedding/abort.ts";
import { QueryCache } from "../embedding/cache.ts";
import { embedChecked } from "../embedding/checked.ts";
import { countTokens } from "../embedding/count-tokens.ts";
import { type EachOptions, withinMs } from "../embedding/each.ts";
import { closeEmbedder, openEmbedder } from "../embedding/embed-call.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { failureReason } from "../embedding/failure-reason.ts";
import { identityText } from "../embedding/identity.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import { type HoldfastError, isHoldfastError } from "../errors/index.ts";
import { yieldToEventLoop } from "../io/clock.ts";
import { anySignal } from "../io/signals.ts";
import { segmentTextInSlices } from "../segments/segmenter.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { textRanges } from "./blocks.ts";
import { type Derivation, derivationName, derivedPrefix } from "./derivation.ts";
import type { PipelineNames } from "./pipelines.ts";
import { embedQuestion } from "./question-vector.ts";
import { type EmbeddedSegment, embedSegments, type UnembeddedSegment } from "./segment-embedding.ts";
import type { EventPart, SegmentPart } from "./segment-records.ts";
import { type Segmentation, segmentationName, segmentRanges } from "./segmentation.ts";

/** The least part of the model's window that is left for the text when a producer's name is very long. */
const TEXT_SHARE_MIN = 0.5;

/** How long a question waits for its vector, by default, before words answer alone. */
export const QUERY_TIMEOUT_MS = 5_000;

/** The same for callers who wait for the model: loading one takes seconds. */
const MODEL_WAIT_MS = 60_000;

/** A question's vector, or why it has none. */
export type QueryVector =
  | { readonly vector: Float32Array }
  | { readonly withoutVector: "not-embedded" | "model-loading" };

/** Texts that fail alone before a service is taken to be down. */
const GIVE_UP_AFTER = 3;

/** Failures of the embedder that an event survives, kept and embedded later, and a question, answered by words (S7). */
const SURVIVED: ReadonlySet<string> = new Set([
  "EMBEDDING_FAILED",
  "DIMENSION_MISMATCH",
  "INVALID_TEXT",
  "LIMIT_EXCEEDED",
]);

export interface PipelineSettings {
  readonly segmenter: Segmentation;
  readonly derive: Derivation;
  /** Of one call of the embedder. */
  readonly embedTimeoutMs: number;
  /** How long a question waits for its vector. */
  readonly queryTimeoutMs: number;
}

/** Some models load for a minute; whoever waits longer than this waits for nothing. */
export const EMBED_TIMEOUT_MS = 120_000;

const DEFAULT_SETTINGS: PipelineSettings = {
  segmenter: "whole",
  derive: "segment",
  embedTimeoutMs: EMBED_TIMEOUT_MS,
  queryTimeoutMs: QUERY_TIMEOUT_MS,
};

/** Segments texts and embeds them, with the model's own tokens counted, so that nothing is cut in silence (S3). */
export class Pipeline {
  readonly #embedder: Embedder;
  readonly #settings: PipelineSettings;
  readonly #queries = new QueryCache();
  #opening: Promise<void> | undefined;
  #opened = false;
  #openFailed = false;

  constructor(embedder: Embedder, settings: Partial<PipelineSettings> = {}) {
    this.#embedder = embedder;
    this.#settings = { ...DEFAULT_SETTINGS, ...settings };
  }

  get identity(): SpaceIdentity {
    return { identity: identityText(this.#embedder), dimensions: this.#embedder.dimensions };
  }

  /** How texts are cut and what is embedded of them, by name. */
  get names(): PipelineNames {
    const { segmenter, derive } = this.#settings;
    return { segmenter: segmentationName(segmenter), derive: derivationName(derive) };
  }

  /**
   * Events with their segments and vectors, or with the reason why a segment has none yet. No transaction is open
   * while this runs.
   *
   * @throws PACKAGE_MISSING, BUSY, CLOSED, ABORTED, TIMEOUT; INVALID_ARGUMENT of the segmenter and of `derive`
   */
  async toParts(events: readonly NewEvent[], options: CallOptions): Promise<readonly EventPart[]> {
    const unopened = await this.#open(options.signal);
    const segments: UnembeddedSegment[] = [];
    for (const event of events) {
      const ranges = await this.#segment(event, unopened === undefined, options.signal);
      segments.push(...ranges.map((range) => ({ event, range })));
    }
    const outcomes =
      unopened === undefined
        ? await this.embedSegments(segments, {
            kind: "document",
            giveUpAfter: GIVE_UP_AFTER,
            ...(options.signal && { signal: options.signal }),
          })
        : segments.map(() => ({ error: unopened, about: "service" }) as const);
    for (const outcome of outcomes) if ("error" in outcome) assertSurvived(outcome.error);
    const madeBy = this.names;
    return toEventParts(events, segments, outcomes, this.#embedder.dimensions).map((part) => ({ ...part, madeBy }));
  }

  /** The vectors of segments: one outcome each. */
  embedSegments(segments: readonly UnembeddedSegment[], options: EachOptions): Promise<readonly EmbeddedSegment[]> {
    const callTimeoutMs = this.#settings.embedTimeoutMs;
    return embedSegments(this.#embedder, this.#settings.derive, segments, { callTimeoutMs, ...options });
  }

  /** Whether a segment is longer than the embedder's window: it was cut while nobody could count. */
  isOverWindow({ event, range }: UnembeddedSegment): boolean {
    const { maxTokens } = this.#embedder;
    try {
      return maxTokens !== undefined && (this.#count(event.text.slice(range.start, range.end)) ?? 0) > maxTokens;
    } catch (error) {
      // A counter that still fails fails the embedding too, and is told of there.
      if (isHoldfastError(error, "EMBEDDING_FAILED")) return false;
      throw error;
    }
  }

  /**
   * The question's vector. Words answer without one when the embedder failed or cannot read the question, took longer than
   * `queryTimeoutMs`, or is still opening and nobody waits for it (S7, D11).
   */
  async embedQuery(
    tenant: string,
    text: string,
    options: CallOptions & { readonly wait: boolean | undefined },
  ): Promise<QueryVector> {
    const key = { tenant, space: this.identity.identity, text };
    const cached = this.#queries.get(key);
    if (cached !== undefined) return { vector: cached };
    const isOpen = await this.#isOpen();
    if (options.wait === false && !isOpen)
      return { withoutVector: this.#openFailed ? "not-embedded" : "model-loading" };
    const late = AbortSignal.timeout(options.wait === true ? MODEL_WAIT_MS : this.#settings.queryTimeoutMs);
    const signal = options.signal === undefined ? late : anySignal([options.signal, late]);
    try {
      const vector = await embedQuestion(this.#embedder, text, signal);
      if (vector === undefined) return { withoutVector: "not-embedded" };
      this.#queries.set(key, vector);
      return { vector };
    } catch (error) {
      // The caller's own bounds end the call; the embedder's lateness does not.
      if (options.signal?.aborted === true) throw error;
      if (late.aborted && !this.#opened) return { withoutVector: "model-loading" };
      if (!late.aborted) assertSurvived(error);
      return { withoutVector: "not-embedded" };
    }
  }

  /** Drops what a tenant asked: part of deleting it (E14). */
  forgetQueries(tenant: string): void {
    this.#queries.forget(tenant);
  }

  /** Begins to open the embedder and says whether it is open by the next turn; one that failed is asked again. */
  async #isOpen(): Promise<boolean> {
    if (this.#embedder.open === undefined) return true;
    this.#opening ??= openEmbedder(this.#embedder, undefined).then(
      () => {
        this.#opened = true;
        this.#openFailed = false;
      },
      () => {
        this.#opening = undefined;
        this.#openFailed = true;
      },
    );
    await yieldToEventLoop();
    return this.#opened;
  }

  /** Embeds a short text that no model refuses: whether the service is up at all. */
  async answers(signal: AbortSignal): Promise<boolean> {
    try {
      await embedChecked(this.#embedder, ["a short text"], { kind: "document", signal });
      return true;
    } catch (error) {
      if (isHoldfastError(error) && error.group !== "abort") return false;
      throw error;
    }
  }

  /** Opens the embedder; answers why it cannot be opened. */
  async open(signal: AbortSignal | undefined): Promise<HoldfastError | undefined> {
    return this.#open(signal);
  }

  async close(): Promise<void> {
    this.#queries.clear();
    await closeEmbedder(this.#embedder);
  }

  async #open(signal: AbortSignal | undefined): Promise<HoldfastError | undefined> {
    try {
      const { embedTimeoutMs } = this.#settings;
      await withinMs(this.#embedder, embedTimeoutMs, signal, (bound) => openEmbedder(this.#embedder, bound));
      this.#opened = true;
      return undefined;
    } catch (error) {
      return assertSurvived(error);
    }
  }

  /** No segment reaches over two blocks. */
  async #segment(event: NewEvent, counts: boolean, signal: AbortSignal | undefined): Promise<readonly SegmentRange[]> {
    const between = (): void => assertNotAborted(signal);
    const ranges: SegmentRange[] = [];
    for (const { start: from, end: to } of textRanges(event)) {
      const cut = await segmentRanges(this.#settings.segmenter, event.text.slice(from, to), between);
      ranges.push(...cut.map(({ start, end }) => ({ start: from + start, end: from + end })));
    }
    if (!counts) return ranges;
    try {
      return await this.#toWindow(event, ranges, between);
    } catch (error) {
      // Nobody counts: the segments are cut when they are embedded.
      if (isHoldfastError(error, "EMBEDDING_FAILED")) return ranges;
      throw error;
    }
  }

  async #toWindow(
    event: NewEvent,
    ranges: readonly SegmentRange[],
    between: () => void,
  ): Promise<readonly SegmentRange[]> {
    const { maxTokens } = this.#embedder;
    if (maxTokens === undefined || this.#embedder.countTokens === undefined) return ranges;
    const prefix = derivedPrefix(this.#settings.derive, event);
    const spoken = prefix === "" ? 0 : (this.#count(prefix) ?? 0);
    const room = spoken < maxTokens * (1 - TEXT_SHARE_MIN) ? maxTokens - spoken : maxTokens;
    const window = { maxTokens: room, countTokens: (text: string): number => this.#count(text) ?? 0 };
    const segments: SegmentRange[] = [];
    for (const { start: from, end: to } of ranges) {
      const cut = await segmentTextInSlices(event.text.slice(from, to), window, between);
      for (const { start, end } of cut) segments.push({ start: from + start, end: from + end });
    }
    return segments;
  }

  #count(text: string): number | undefined {
    return countTokens(this.#embedder, text);
  }
}

/** Raises what neither an event nor a question survives: what the caller can mend, such as a package that is not installed. */
function assertSurvived(error: unknown): HoldfastError {
  if (isHoldfastError(error) && SURVIVED.has(error.code)) return error;
  throw error;
}

function toEventParts(
  events: readonly NewEvent[],
  segments: readonly UnembeddedSegment[],
  outcomes: readonly EmbeddedSegment[],
  dimensions: number,
): readonly Omit<EventPart, "madeBy">[] {
  let next = 0;
  return events.map((event) => {
    const parts: SegmentPart[] = [];
    const vectors: Float32Array[] = [];
    for (; segments[next]?.event === event; next += 1) {
      const { range } = segments[next] as UnembeddedSegment;
      const outcome = outcomes[next];
      if (outcome !== undefined && "vectors" in outcome) {
        parts.push({ ...range, vectors: outcome.vectors.length });
        vectors.push(...outcome.vectors);
      } else {
        parts.push({ ...range, vectors: 0, ...(outcome && { failure: failureReason(outcome.error) }) });
      }
    }
    return { event, segments: parts, vectors: packVectors(vectors, dimensions) };
  });
}

/** Vectors one behind the other. */
export function packVectors(vectors: readonly Float32Array[], dimensions: number): Float32Array {
  const packed = new Float32Array(vectors.length * dimensions);
  for (const [index, vector] of vectors.entries()) packed.set(vector, index * dimensions);
  return packed;
}
