import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { neverCancelled } from "../io/cancellation.ts";
import { schedule, systemClock } from "../io/clock.ts";
import { randomFraction } from "../io/ids.ts";
import type { SentPart } from "../io/sent-part.ts";
import type { StepJob, StepWatch } from "../io/step-job.ts";
import { assertBounds, type CallBounds, within } from "./call.ts";
import type { CheckpointMode } from "./checkpointer.ts";
import type { Engine, RunningCall } from "./engine.ts";
import { handleFailed } from "./errors.ts";
import type { EngineSettings, ReadOperation, WriteOperation } from "./operation.ts";

export interface WriteCall extends CallBounds {
  /** Bytes that the call holds while it waits; counted against the queue's bound. */
  readonly sizeBytes: number;
  /** Pieces of the input, made in slices so that the calling thread stays free. */
  readonly parts?: AsyncIterable<SentPart>;
}

/** Reads of one moment. */
export interface Snapshot {
  read<Input, Output>(operation: ReadOperation<Input, Output>, input: Input, bounds?: CallBounds): Promise<Output>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Writes that wait at once, in bytes of their input (E7). Beside them one call may wait that is larger by itself. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/** A passive checkpoint is asked for after at most so many commits or bytes: about 16 MiB of log. */
const CHECKPOINT_AFTER_WRITES = 200;
const CHECKPOINT_AFTER_BYTES = 8 * 1024 * 1024;
/**
 * Each time after another share of that, from here to all of it. Processes that share the lock fairly write in step;
 * with equal bounds they would all let the log grow and then begin at once, and writers wait behind the one large sync.
 */
const CHECKPOINT_SHARE_MIN = 0.3;
const CHECKPOINT_WHEN_IDLE_MS = 1_000;

/** How long a closing handle waits for its calls in flight (E12). */
export const CLOSE_WAIT_MS = 10_000;

/** A thread that has nothing to do ends in a few milliseconds, and is given that time in any case. */
const THREAD_END_MS_MIN = 1_000;

type State = "open" | "closing" | "closed" | "failed";

/** One open folder in this process: the queue in front of its threads, and the state of its handle. */
export class Database {
  readonly settings: EngineSettings;
  readonly #engine: Engine;
  readonly #inFlight = new Set<Promise<unknown>>();
  #state: State = "open";
  #failure: unknown;
  #queuedBytes = 0;
  #oversizedBytes = 0;
  #writesSinceCheckpoint = 0;
  #bytesSinceCheckpoint = 0;
  #checkpointShare = drawShare();
  #stopIdle: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: EngineSettings, start: (onGone: (error: Error) => void) => Engine) {
    this.settings = settings;
    this.#engine = start((error) => this.#fail(error));
  }

  get threads(): Engine["threads"] {
    return this.#engine.threads;
  }

  /** Waits for the threads, so that the first call after an open does not pay for their start; raises when one cannot start. */
  async started(): Promise<void> {
    await this.#engine.started();
  }

  /** Whether it takes calls: not once it failed, is closing or closed. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Raises CLOSED or FAILED when the handle takes no more calls. */
  assertOpen(): void {
    if (this.#state === "open") return;
    if (this.#state === "failed") throw handleFailed(this.#failure);
    throw new HoldfastError("CLOSED", "The handle was closed; open the folder again.", { outcome: "not-applied" });
  }

  /** Raises READ_ONLY for a handle that only reads, before anything is paid for. */
  assertWritable(): void {
    if (!this.settings.readOnly) return;
    const message = "The folder was opened for reading only; open it without readOnly to change something.";
    throw new HoldfastError("READ_ONLY", message, {
      outcome: "not-applied",
      details: { path: this.settings.path },
    });
  }

  /** Runs a write in a commit that other callers may share; durable when it answers (V13). */
  async write<Input, Output>(operation: WriteOperation<Input, Output>, input: Input, call: WriteCall): Promise<Output> {
    this.assertOpen();
    this.assertWritable();
    assertBounds(call, "write");
    this.#reserve(call.sizeBytes);
    try {
      const running = this.#engine.write({ name: operation.name, input, ...(call.parts && { parts: call.parts }) });
      return (await this.#track(within(running, call, "write"))) as Output;
    } catch (error) {
      throw this.#noteFailure(error);
    } finally {
      this.#giveBack(call.sizeBytes);
      this.#noteWrite(call.sizeBytes);
    }
  }

  /** Runs a read in one transaction off the calling thread. */
  async read<Input, Output>(
    operation: ReadOperation<Input, Output>,
    input: Input,
    bounds: CallBounds = {},
  ): Promise<Output> {
    this.assertOpen();
    assertBounds(bounds, "read");
    return this.#reading(this.#engine.read({ name: operation.name, input }), bounds) as Promise<Output>;
  }

  /** Runs a read that takes long, such as one of every page, beside the others. */
  async readAside<Input, Output>(
    operation: ReadOperation<Input, Output>,
    input: Input,
    bounds: CallBounds = {},
  ): Promise<Output> {
    this.assertOpen();
    assertBounds(bounds, "read");
    return this.#reading(this.#engine.readAside({ name: operation.name, input }), bounds) as Promise<Output>;
  }

  /** One that finds the files replaced, or its thread gone, ends the handle (E10). */
  async #reading(running: RunningCall, bounds: CallBounds): Promise<unknown> {
    try {
      return await this.#track(within(running, bounds, "read"));
    } catch (error) {
      throw this.#noteFailure(error);
    }
  }

  /** Runs a read of a few rows by key at once, on the calling thread's own connection. */
  lookup<Input, Output>(operation: ReadOperation<Input, Output>, input: Input, bounds: CallBounds = {}): Output {
    this.assertOpen();
    assertBounds(bounds, "read");
    try {
      return this.#engine.lookup({ name: operation.name, input }, neverCancelled) as Output;
    } catch (error) {
      throw this.#noteFailure(error);
    }
  }

  /** One moment of the folder for reads of several calls, until it is closed; closing the folder closes it too. */
  async openSnapshot(): Promise<Snapshot> {
    this.assertOpen();
    const snapshot = await this.#track(this.#engine.openSnapshot());
    return {
      read: async <Input, Output>(operation: ReadOperation<Input, Output>, input: Input, bounds: CallBounds = {}) => {
        this.assertOpen();
        assertBounds(bounds, "read");
        const running = snapshot.read({ name: operation.name, input });
        return (await this.#track(within(running, bounds, "read"))) as Output;
      },
      close: () => snapshot.close(),
    };
  }

  /** Empties the log, so that erased bytes leave it (E14); answers whether nothing stood in the way. */
  async truncateLog(): Promise<boolean> {
    this.assertOpen();
    this.assertWritable();
    return this.#runCheckpoint("truncate");
  }

  /** Writes all of the database as of one moment into an empty file, off the calling thread; closing waits for it. */
  async copyInto(file: string): Promise<void> {
    this.assertOpen();
    await this.#track(this.#engine.copyInto(file));
  }

  /** Runs long work that does not use the connections, off the calling thread; closing waits for it. */
  async runSteps<Input, Output>(job: StepJob<Input, Output>, input: Input, watch: StepWatch): Promise<Output> {
    this.assertOpen();
    return this.#track(this.#engine.runSteps(job, input, watch));
  }

  /** Idempotent; waits for calls in flight within a bound, 10 s unless given, and then for the threads (E12). */
  close(withinMs: number = CLOSE_WAIT_MS): Promise<void> {
    this.#closing ??= this.#close(systemClock.monotonicMs() + withinMs);
    return this.#closing;
  }

  /** Waits for the calls in flight, at most 10 s unless given. */
  async settled(withinMs: number = CLOSE_WAIT_MS): Promise<void> {
    await settledWithin([...this.#inFlight], withinMs);
  }

  async #close(untilMs: number): Promise<void> {
    const failed = this.#state === "failed";
    this.#state = "closing";
    this.#stopIdle?.();
    if (!failed) await this.settled(Math.max(0, untilMs - systemClock.monotonicMs()));
    await this.#engine.close(Math.max(THREAD_END_MS_MIN, untilMs - systemClock.monotonicMs()));
    this.#state = "closed";
  }

  /** A batch of any size gets in, and does not shut out small writes while it is under way: memory stays bounded. */
  #reserve(sizeBytes: number): void {
    const oversized = sizeBytes > QUEUE_BYTES_MAX;
    const full = oversized ? this.#oversizedBytes > 0 : this.#queuedBytes + sizeBytes > QUEUE_BYTES_MAX;
    if (full) {
      const message = "More writes are waiting than the queue holds; wait for some of them and try again.";
      const details = { queuedBytes: this.#queuedBytes + this.#oversizedBytes, queueBytesMax: QUEUE_BYTES_MAX };
      throw new HoldfastError("BUSY", message, { details, outcome: "not-applied" });
    }
    if (oversized) this.#oversizedBytes = sizeBytes;
    else this.#queuedBytes += sizeBytes;
  }

  #giveBack(sizeBytes: number): void {
    if (sizeBytes > QUEUE_BYTES_MAX) this.#oversizedBytes = 0;
    else this.#queuedBytes -= sizeBytes;
  }

  #track<T>(answer: Promise<T>): Promise<T> {
    this.#inFlight.add(answer);
    const done = (): void => {
      this.#inFlight.delete(answer);
    };
    answer.then(done, done);
    return answer;
  }

  /** The error as it is; FAILED is one that the handle does not outlive (E10). */
  #noteFailure(error: unknown): unknown {
    if (isHoldfastError(error, "FAILED")) this.#fail(error);
    return error;
  }

  #fail(error: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#failure = error;
  }

  #noteWrite(sizeBytes: number): void {
    if (this.#engine.threads === "inline" || this.#state !== "open") return;
    this.#writesSinceCheckpoint += 1;
    this.#bytesSinceCheckpoint += sizeBytes;
    const share = this.#checkpointShare;
    const due =
      this.#writesSinceCheckpoint >= CHECKPOINT_AFTER_WRITES * share ||
      this.#bytesSinceCheckpoint >= CHECKPOINT_AFTER_BYTES * share;
    if (due) this.#checkpoint();
    else if (this.#stopIdle === undefined) this.#checkpointWhenIdle();
  }

  /** Where writes go on, the counts above decide: eight busy processes need not all begin a checkpoint at once. */
  #checkpointWhenIdle(): void {
    const writes = this.#writesSinceCheckpoint;
    this.#stopIdle = schedule(CHECKPOINT_WHEN_IDLE_MS, () => {
      if (this.#writesSinceCheckpoint === writes) this.#checkpoint();
      else this.#checkpointWhenIdle();
    });
  }

  #checkpoint(): void {
    this.#stopIdle?.();
    this.#stopIdle = undefined;
    if (this.#state !== "open") return;
    this.#writesSinceCheckpoint = 0;
    this.#bytesSinceCheckpoint = 0;
    this.#checkpointShare = drawShare();
    // A checkpoint that fails loses nothing: the log keeps what it could not move, and the next one tries again.
    this.#runCheckpoint("passive").catch(() => undefined);
  }

  /** A sync that failed here is one like that of a commit: nobody knows what the disk does (E10). */
  async #runCheckpoint(mode: CheckpointMode): Promise<boolean> {
    try {
      return await this.#track(this.#engine.checkpoint(mode));
    } catch (error) {
      if (isHoldfastError(error, "IO_FAILED")) this.#fail(error);
      throw this.#noteFailure(error);
    }
  }
}

function drawShare(): number {
  return CHECKPOINT_SHARE_MIN + (1 - CHECKPOINT_SHARE_MIN) * randomFraction();
}

/** Waits until every call has settled, or until the bound. */
export async function settledWithin(calls: readonly Promise<unknown>[], boundMs: number): Promise<void> {
  let stop: (() => void) | undefined;
  const bound = new Promise<void>((resolve) => {
    stop = schedule(boundMs, resolve);
  });
  await Promise.race([Promise.allSettled(calls), bound]);
  stop?.();
}
