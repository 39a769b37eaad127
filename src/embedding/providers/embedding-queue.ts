import { HoldfastError, isHoldfastError } from "../../errors/index.ts";
import { schedule } from "../../io/clock.ts";
import { abortError } from "../abort.ts";
import type { EmbedOptions } from "../embedder.ts";
import { EmbeddingJob, type JobSlice } from "./embedding-job.ts";

/** The queue's end of a thread that embeds. */
export interface EmbeddingThread {
  /** Embeds `texts`; answers their vectors in order. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>;
  /** Ends the thread by message, once it has finished its call. */
  end(): Promise<void>;
  /** Ends it at once; only for a thread that does not end by itself. */
  terminate(): Promise<void>;
}

export interface EmbeddingQueueSettings {
  /** Starts a thread; `onGone` is told when it ended by itself. */
  readonly start: (onGone: () => void) => EmbeddingThread;
  readonly threads: number;
  readonly textsPerSliceMax: number;
  readonly tokensPerSliceMax: number;
  /** Bytes of texts that may wait; a call that finds nothing waiting is taken whatever its size. */
  readonly queueBytesMax: number;
  /** How long `close` waits for a thread that is in the middle of a slice. */
  readonly closeGraceMs: number;
}

/** Another thread is started when this many texts wait for each that runs: starting one costs as much as 20 texts. */
const BACKLOG_PER_THREAD = 64;

/** Of so many slices taken in a row while documents wait, at most all but one are queries: neither starves. */
const QUERY_RUN_MAX = 8;

interface Slot {
  thread: EmbeddingThread | undefined;
  busy: boolean;
}

/**
 * Waiting calls of one embedder, cut into slices for its threads. Queries go before documents, so that
 * a search waits for one slice at most and not for an import.
 */
export class EmbeddingQueue {
  readonly #settings: EmbeddingQueueSettings;
  readonly #slots: readonly Slot[];
  readonly #waiting = { query: new Set<EmbeddingJob>(), document: new Set<EmbeddingJob>() };
  readonly #unsettled = new Set<EmbeddingJob>();
  #bytesWaiting = 0;
  #textsWaiting = 0;
  #queryRun = 0;
  #closed: Promise<void> | undefined;

  constructor(settings: EmbeddingQueueSettings) {
    this.#settings = settings;
    this.#slots = Array.from({ length: settings.threads }, () => ({ thread: undefined, busy: false }));
  }

  /**
   * @param tokens - of each text; bounds how long one slice takes
   * @throws BUSY, CLOSED, EMBEDDING_FAILED, PACKAGE_MISSING, ABORTED, TIMEOUT
   */
  embed(texts: readonly string[], tokens: readonly number[], options: EmbedOptions): Promise<readonly Float32Array[]> {
    if (this.#closed !== undefined) return Promise.reject(closedError());
    if (options.signal?.aborted === true) return Promise.reject(abortError(options.signal));
    const job = new EmbeddingJob(texts, tokens);
    if (this.#bytesWaiting > 0 && this.#bytesWaiting + job.bytesLeft > this.#settings.queueBytesMax) {
      const message = "Too many texts wait to be embedded; try again when earlier calls have answered.";
      return Promise.reject(new HoldfastError("BUSY", message, { operation: "embed" }));
    }
    this.#waiting[options.kind].add(job);
    this.#bytesWaiting += job.bytesLeft;
    this.#textsWaiting += job.textsLeft;
    this.#unsettled.add(job);
    const leave = (): void => {
      if (options.signal !== undefined) job.reject(abortError(options.signal));
    };
    options.signal?.addEventListener("abort", leave, { once: true });
    const settled = job.answer.finally(() => {
      options.signal?.removeEventListener("abort", leave);
      this.#unsettled.delete(job);
      if (!this.#waiting[options.kind].delete(job)) return;
      this.#bytesWaiting -= job.bytesLeft;
      this.#textsWaiting -= job.textsLeft;
    });
    this.#pump();
    return settled;
  }

  /** Refuses what waits with CLOSED, lets threads finish their slice within the grace time and ends them. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const job of this.#unsettled) job.reject(closedError());
    await Promise.all(this.#slots.map((slot) => this.#end(slot)));
  }

  #pump(): void {
    if (this.#closed !== undefined) return;
    for (const [index, slot] of this.#slots.entries()) {
      if (slot.busy || (slot.thread === undefined && index > 0 && !this.#paysToStart())) continue;
      const slice = this.#nextSlice();
      if (slice === undefined) return;
      slot.busy = true;
      void this.#run(slot, slice);
    }
  }

  async #run(slot: Slot, slice: JobSlice): Promise<void> {
    const { job, start, texts } = slice;
    try {
      slot.thread ??= this.#start(slot);
      job.fill(start, await slot.thread.embed(texts));
    } catch (error) {
      job.reject(toEmbeddingError(error));
      // A WASM module that trapped is not to be trusted; the next slice gets a fresh thread.
      void this.#end(slot);
    }
    slot.busy = false;
    this.#pump();
  }

  #start(slot: Slot): EmbeddingThread {
    const thread = this.#settings.start(() => {
      if (slot.thread === thread) slot.thread = undefined;
    });
    return thread;
  }

  #nextSlice(): JobSlice | undefined {
    const { query, document } = this.#waiting;
    const documentsTurn = document.size > 0 && (query.size === 0 || this.#queryRun >= QUERY_RUN_MAX - 1);
    this.#queryRun = documentsTurn || document.size === 0 ? 0 : this.#queryRun + 1;
    const jobs = documentsTurn ? document : query;
    for (const job of jobs) {
      const [bytes, texts] = [job.bytesLeft, job.textsLeft];
      const slice = job.takeSlice(this.#settings.textsPerSliceMax, this.#settings.tokensPerSliceMax);
      this.#bytesWaiting -= bytes - job.bytesLeft;
      this.#textsWaiting -= texts - job.textsLeft;
      if (job.textsLeft === 0) jobs.delete(job);
      return slice;
    }
    return undefined;
  }

  #paysToStart(): boolean {
    const running = this.#slots.filter((slot) => slot.thread !== undefined).length;
    return this.#textsWaiting >= running * BACKLOG_PER_THREAD;
  }

  async #end(slot: Slot): Promise<void> {
    const thread = slot.thread;
    slot.thread = undefined;
    if (thread === undefined) return;
    const cancel = schedule(this.#settings.closeGraceMs, () => void thread.terminate());
    await thread.end();
    cancel();
  }
}

function toEmbeddingError(error: unknown): HoldfastError {
  if (isHoldfastError(error) && error.code === "PACKAGE_MISSING") return error;
  const message = "The thread that embeds failed; the next call starts a fresh one, and the error is the cause.";
  return new HoldfastError("EMBEDDING_FAILED", message, { cause: error, operation: "embed" });
}

function closedError(): HoldfastError {
  return new HoldfastError("CLOSED", "The embedder was closed; create another one.", { operation: "embed" });
}
