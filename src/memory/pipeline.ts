import type { CallOptions } from "../contract/store.ts";
import { assertNotAborted } from "../embedding/abort.ts";
import { QueryCache } from "../embedding/cache.ts";
import { embedChecked } from "../embedding/checked.ts";
import { countTokens } from "../embedding/count-tokens.ts";
import { closeEmbedder, openEmbedder } from "../embedding/embed-call.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { identityText } from "../embedding/identity.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import { isHoldfastError } from "../errors/index.ts";
import { giveWay } from "../io/clock.ts";
import { segmentTextInSlices } from "../segments/segmenter.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { textRanges } from "./blocks.ts";
import { type EventPart, searchableText } from "./segment-records.ts";

/** The least part of the model's window that is left for the text when a producer's name is very long. */
const TEXT_SHARE_MIN = 0.5;

/** Segments texts and embeds them, with the model's own tokens counted, so that nothing is cut in silence (S3). */
export class Pipeline {
  readonly #embedder: Embedder;
  readonly #queries = new QueryCache();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  get identity(): SpaceIdentity {
    return { identity: identityText(this.#embedder), dimensions: this.#embedder.dimensions };
  }

  /** No transaction is open while this runs. */
  async toParts(events: readonly NewEvent[], options: CallOptions): Promise<readonly EventPart[]> {
    await openEmbedder(this.#embedder, options.signal);
    const ranges: (readonly SegmentRange[])[] = [];
    for (const event of events) ranges.push(await this.#segment(event, options.signal));
    const texts: string[] = [];
    for (const [index, event] of events.entries()) {
      for (const range of ranges[index] ?? []) {
        await giveWay();
        texts.push(this.#derive(event, range));
      }
    }
    const vectors = await embedChecked(this.#embedder, texts, {
      kind: "document",
      ...(options.signal && { signal: options.signal }),
    });
    let next = 0;
    return events.map((event, index) => {
      const segments = ranges[index] ?? [];
      const joined = new Float32Array(segments.length * this.#embedder.dimensions);
      for (const [slot] of segments.entries()) {
        joined.set(vectors[next] ?? [], slot * this.#embedder.dimensions);
        next += 1;
      }
      return { event, segments, vectors: joined };
    });
  }

  /** The question's vector, or `undefined` when the embedder failed: text search still answers (S7, D11). */
  async embedQuery(tenant: string, text: string, options: CallOptions): Promise<Float32Array | undefined> {
    const key = { tenant, space: this.identity.identity, text };
    const cached = this.#queries.get(key);
    if (cached !== undefined) return cached;
    try {
      const [vector] = await embedChecked(this.#embedder, [text], {
        kind: "query",
        ...(options.signal && { signal: options.signal }),
      });
      if (vector !== undefined) this.#queries.set(key, vector);
      return vector;
    } catch (error) {
      if (isHoldfastError(error, "EMBEDDING_FAILED")) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#queries.clear();
    await closeEmbedder(this.#embedder);
  }

  async #segment(event: NewEvent, signal: AbortSignal | undefined): Promise<readonly SegmentRange[]> {
    const ranges = textRanges(event);
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
  #derive(event: NewEvent, range: SegmentRange): string {
    const { maxTokens } = this.#embedder;
    const whole = searchableText(event, range);
    const tokens = maxTokens === undefined ? undefined : this.#count(whole);
    if (maxTokens === undefined || tokens === undefined || tokens <= maxTokens) return whole;
    return event.text.slice(range.start, range.end);
  }

  #count(text: string): number | undefined {
    return countTokens(this.#embedder, text);
  }
}
