import type { Database } from "../database/database.ts";
import { abortError } from "../embedding/abort.ts";
import { type Clock, pause, schedule } from "../io/clock.ts";
import { mintId, randomFraction } from "../io/ids.ts";
import { ownProcess } from "../io/processes.ts";
import { anySignal } from "../io/signals.ts";
import { backoffMs, retryHintMs } from "./backoff.ts";
import { claimLease, type LeaseHolder, nextEmbeddingAt, releaseLease } from "./embedding-lease.ts";
import { type PassResult, PendingPass } from "./pending-pass.ts";
import type { PendingSelection } from "./pending-rows.ts";
import type { Pipeline } from "./pipeline.ts";

const CALL_BYTES = 256;

/** How soon somebody who waits for the lease of another process looks again. */
const LEASE_POLL_MS = 100;

/** A pass that changed nothing is not repeated at once, whatever stands in its way. */
const IDLE_MS = 1_000;

/** Longer waits are taken in steps, so that a clock that is set meanwhile is noticed. */
const STEP_MS_MAX = 60_000;

/** More than a step, so that it is looked again and not begun. */
const UNREADABLE_MS = STEP_MS_MAX + 1;

/**
 * Embeds what an embedder failed on: by itself beside the traffic, with longer and longer pauses while the service is
 * down, and at once when it is asked to. It never keeps the process alive, and ends with the memory (S7).
 */
export class EmbeddingRetrier {
  readonly #database: Database;
  readonly #pipeline: Pipeline;
  readonly #clock: Clock;
  readonly #self: LeaseHolder = { holder: mintId(), process: ownProcess() };
  readonly #pendingPass: PendingPass;
  readonly #stop = new AbortController();
  #stopTimer: (() => void) | undefined;
  /** Passes of this process follow each other. */
  #turn: Promise<unknown> = Promise.resolve();
  #isRunning = false;

  constructor(database: Database, pipeline: Pipeline, clock: Clock) {
    this.#database = database;
    this.#pipeline = pipeline;
    this.#clock = clock;
    this.#pendingPass = new PendingPass(database, pipeline, this.#self.holder);
  }

  /**
   * Looks when the next pending segment is due, and is there by then; does nothing where none waits. Never raises: it is
   * called behind commits and by timers. What cannot be read now is looked for again after a pause.
   */
  wake(atLeastMs = 0): void {
    if (this.#stop.signal.aborted || this.#isRunning || !this.#database.isOpen) return;
    const nowMicros = this.#clock.nowMicros();
    const { identity } = this.#pipeline.identity;
    try {
      const at = this.#database.lookup(nextEmbeddingAt, { identity, nowMicros });
      if (at !== undefined) this.#wakeIn(Math.max(atLeastMs, (at - nowMicros) / 1_000));
    } catch {
      this.#wakeIn(UNREADABLE_MS);
    }
  }

  /** Embeds what is selected now. Waits for its turn: one at a time embeds for the whole folder. */
  drain(
    selection: PendingSelection,
    signal: AbortSignal | undefined,
    onCommit: (embedded: number) => void,
  ): Promise<PassResult> {
    const ended = signal === undefined ? this.#stop.signal : anySignal([signal, this.#stop.signal]);
    return this.#inTurn(async () => {
      for (;;) {
        if (ended.aborted) throw abortError(ended);
        const result = await this.#pass(selection, ended, onCommit);
        if (result !== undefined) return result;
        await pause(LEASE_POLL_MS, ended);
      }
    });
  }

  /** Ends what runs, and waits for its commit. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stopTimer?.();
    await this.#turn;
  }

  #wakeIn(dueMs: number): void {
    this.#stopTimer?.();
    this.#stopTimer = schedule(Math.min(dueMs, STEP_MS_MAX), () => {
      if (dueMs > STEP_MS_MAX) this.wake();
      else this.#begin();
    });
  }

  #begin(): void {
    if (this.#stop.signal.aborted || this.#isRunning) return;
    this.#isRunning = true;
    const selection = { scope: undefined, dueAt: this.#clock.nowMicros(), includeParked: false };
    let pauseMs = 0;
    this.#inTurn(() => this.#pass(selection, this.#stop.signal))
      .then(
        (result) => {
          // Another process embeds: looked at again when it may have ended.
          if (result === undefined) pauseMs = backoffMs(4, randomFraction());
          else if (result.embedded === 0 && result.failure === undefined) pauseMs = IDLE_MS;
        },
        // Whatever the database raises, such as a full disk, leaves the rows as they are.
        () => {
          pauseMs = backoffMs(5, randomFraction());
        },
      )
      .finally(() => {
        this.#isRunning = false;
        this.wake(pauseMs);
      });
  }

  /** One pass under the lease; `undefined` when another process has it. */
  async #pass(
    selection: PendingSelection,
    signal: AbortSignal,
    onCommit?: (embedded: number) => void,
  ): Promise<PassResult | undefined> {
    const lease = await this.#database.write(claimLease, this.#self, { sizeBytes: CALL_BYTES });
    if (!lease.granted) return undefined;
    let { failures } = lease;
    let resumeInMs = 0;
    try {
      const result = await this.#pendingPass.run(selection, signal, onCommit);
      failures = result.failure === undefined ? 0 : (result.embedded > 0 ? 0 : failures) + 1;
      if (result.failure !== undefined) resumeInMs = backoffMs(failures, randomFraction(), retryHintMs(result.failure));
      return result;
    } finally {
      const release = { holder: this.#self.holder, failures, resumeInMs };
      await this.#database.write(releaseLease, release, { sizeBytes: CALL_BYTES });
    }
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const run = this.#turn.then(action);
    this.#turn = run.catch(() => undefined);
    return run;
  }
}
