import type { CallOptions } from "../contract/store.ts";
import { assertNotAborted } from "../embedding/abort.ts";
import { QueryCache } from "../embedding/cache.ts";
import { embedChecked } from "../embedding/checked.ts";
import { countTokens } from "../embedding/count-tokens.ts";
import { embedEach } from "../embedding/each.ts";
import { closeEmbedder, openEmbedder } from "../embedding/embed-call.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { identityText } from "../embedding/identity.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import type { Embedded } from "../embedding/vector-checks.ts";
import { isHoldfastError } from "../errors/index.ts";
import { giveWay, yieldToEventLoop } from "../io/clock.ts";
import { segmentTextInSlices } from "../segments/segmenter.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { textRanges } from "./blocks.ts";
import type { Missing } from "./pending.ts";
import { type EventPart, searchableText } from "./segment-records.ts";

/** The least part of the model's window that is left for the text when a producer's name is very long. */
const TEXT_SHARE_MIN = 0.5;

/** How long a question waits for its vector before words answer alone. */
const QUERY_WAIT_MS = 5_000;

/** The same for callers who wait for the model: loading one takes seconds. */
const MODEL_WAIT_MS = 60_000;

/** A question's vector, or why it has none. */
export type QueryVector =
  | { readonly vector: Float32Array }
  | { readonly withoutVector: "not-embedded" | "model-loading" };

/** Embedded to learn whether an embedder works at all. */
const PROBE = "hello";

/** Segments texts and embeds them, with the model's own tokens counted, so that nothing is cut in silence (S3). */
export class Pipeline {
  readonly #embedder: Embedder;
  readonly #queries = new QueryCache();
  #opening: Promise<void> | undefined;
  #opened = false;
  #openFailed = false;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get identity(): SpaceIdentity {
    return { identity: identityText(this.#embedder), dimensions: this.#embedder.dimensions };
  }

  /**
   * No transaction is open while this runs. What the embedder fails for is missing, and what it failed with is kept as
   * the reason (S7); ABORTED, TIMEOUT and PACKAGE_MISSING, which no retry mends, are raised.
   */
  async toParts(events: readonly NewEvent[], options: CallOptions): Promise<readonly EventPart[]> {
    const ranges: (readonly SegmentRange[])[] = [];
    for (const event of events) ranges.push(await this.cut(event, options.signal));
    const texts: string[] = [];
    for (const [index, event] of events.entries()) {
      for (const range of ranges[index] ?? []) {
        await giveWay();
        texts.push(this.derive(event, range));
      }
    }
    const outcomes = await this.embed(texts, options);
    let next = 0;
    return events.map((event, index) => {
      const segments = ranges[index] ?? [];
      const own = outcomes.slice(next, next + segments.length);
      next += segments.length;
      return { event, segments, ...this.#join(own) };
    });
  }

  /**
   * Cuts an event's texts to the embedder's window. Where its tokens cannot be counted now, each text is one segment,
   * and is cut when its vectors are made.
   */
  async cut(
    event: Pick<NewEvent, "text" | "blocks" | "producer">,
    signal: AbortSignal | undefined,
  ): Promise<readonly SegmentRange[]> {
    const ranges = textRanges(event);
    try {
      await openEmbedder(this.#embedder, signal);
      this.#opened = true;
      return await this.#cutToWindow(event, ranges, signal);
    } catch (error) {
      if (isHoldfastError(error, "EMBEDDING_FAILED")) return ranges;
      throw error;
    }
  }

  /** One outcome a text, in input order. */
  async embed(texts: readonly string[], options: CallOptions): Promise<readonly Embedded[]> {
    const outcomes = await embedEach(this.#embedder, texts, {
      kind: "document",
      ...(options.signal && { signal: options.signal }),
    });
    for (const outcome of outcomes)
      if ("error" in outcome && outcome.error.code === "PACKAGE_MISSING") throw outcome.error;
    return outcomes;
  }

  /** Whether the embedder answers for an innocent text: then it is a failing text's own fault. */
  async works(options: CallOptions): Promise<boolean> {
    const [outcome] = await this.embed([PROBE], options);
    return outcome !== undefined && "vector" in outcome;
  }

  #join(outcomes: readonly Embedded[]): Pick<EventPart, "vectors" | "missing"> {
    const { dimensions } = this.#embedder;
    const vectors = new Float32Array(outcomes.length * dimensions);
    const missing = new Map<number, Missing>();
    for (const [slot, outcome] of outcomes.entries()) {
      if ("vector" in outcome) vectors.set(outcome.vector, slot * dimensions);
      else missing.set(slot, { reason: outcome.error.code });
    }
    return { vectors, ...(missing.size > 0 && { missing }) };
  }

  /**
   * The question's vector. Words answer without one when the embedder failed, took longer than
   * {@link QUERY_WAIT_MS}, or is still opening and nobody waits for it (S7, D11).
   */
  async embedQuery(
    tenant: string,
    text: string,
    options: CallOptions & { readonly wait: boolean },
  ): Promise<QueryVector> {
    const key = { tenant, space: this.identity.identity, text };
    const cached = this.#queries.get(key);
    if (cached !== undefined) return { vector: cached };
    if (!options.wait && !(await this.#isOpen()))
      return { withoutVector: this.#openFailed ? "not-embedded" : "model-loading" };
    const late = AbortSignal.timeout(options.wait ? MODEL_WAIT_MS : QUERY_WAIT_MS);
    const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
    try {
      const [vector] = await embedChecked(this.#embedder, [text], { kind: "query", signal });
      if (vector === undefined) return { withoutVector: "not-embedded" };
      this.#queries.set(key, vector);
      return { vector };
    } catch (error) {
      // The caller's own bounds end the call; the embedder's lateness does not.
      if (options.signal?.aborted === true) throw error;
      if (late.aborted || isHoldfastError(error, "EMBEDDING_FAILED")) return { withoutVector: "not-embedded" };
      throw error;
    }
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

  async close(): Promise<void> {
    this.#queries.clear();
    await closeEmbedder(this.#embedder);
  }

  async #cutToWindow(
    event: Pick<NewEvent, "text" | "producer">,
    ranges: readonly SegmentRange[],
    signal: AbortSignal | undefined,
  ): Promise<readonly SegmentRange[]> {
    const { maxTokens } = this.#embedder;
    if (maxTokens === undefined || this.#embedder.countTokens === undefined) return ranges;
    const spoken = event.producer === undefined ? 0 : (this.#count(`${event.producer}: `) ?? 0);
    const room = spoken < maxTokens * (1 - TEXT_SHARE_MIN) ? maxTokens - spoken : maxTokens;
    const window = { maxTokens: room, countTokens: (text: string): number => this.#count(text) ?? 0 };
    const segments: SegmentRange[] = [];
    // No segment reaches over two blocks.
    for (const { start: from, end: to } of ranges) {
      const cut = await segmentTextInSlices(event.text.slice(from, to), window, () => assertNotAborted(signal));
      for (const { start, end } of cut) segments.push({ start: from + start, end: from + end });
    }
    return segments;
  }

  /** What is embedded of a segment: with the speaker, unless the name alone would fill the window. */
  derive(event: Pick<NewEvent, "text" | "producer">, range: SegmentRange): string {
    const { maxTokens } = this.#embedder;
    const whole = searchableText(event, range);
    if (maxTokens === undefined || event.producer === undefined) return whole;
    try {
      const tokens = this.#count(whole);
      return tokens === undefined || tokens <= maxTokens ? whole : event.text.slice(range.start, range.end);
    } catch (error) {
      // Tokens that cannot be counted now are counted when the vector is made.
      if (isHoldfastError(error, "EMBEDDING_FAILED")) return whole;
      throw error;
    }
  }

  #count(text: string): number | undefined {
    return countTokens(this.#embedder, text);
  }
}
