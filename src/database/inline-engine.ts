import { HoldfastError } from "../errors/index.ts";
import { CancelFlags, type Cancellation } from "../io/cancellation.ts";
import { giveWay } from "../io/clock.ts";
import type { StepJob, StepWatch } from "../io/step-job.ts";
import { runSteps } from "../io/step-thread.ts";
import { type CheckpointMode, checkpoint } from "./checkpointer.ts";
import type { Connection } from "./connection.ts";
import { type Engine, type EngineCall, joinParts, type RunningCall } from "./engine.ts";
import { openEngineConnection } from "./open-files.ts";
import type { DatabasePlan, EngineSettings } from "./operation.ts";
import type { Reader } from "./reader.ts";
import { copySnapshot, type EngineSnapshot, InlineSnapshot, SnapshotReader } from "./snapshot.ts";
import { copyDatabase } from "./whole-database.ts";
import { JOBS_PER_COMMIT_MAX, type JobResult, type WriteJob, type Writer } from "./writer.ts";

interface QueuedJob extends WriteJob {
  readonly settle: (result: JobResult) => void;
}

/**
 * Everything on the calling thread and one connection: for stores in memory, for exclusive mode, and
 * where no worker can start. The calling thread is held while an operation runs.
 */
export class InlineEngine implements Engine {
  readonly threads = "inline" as const;
  readonly #connection: Connection;
  /** None where the folder is only read. */
  readonly #writer: Writer | undefined;
  readonly #reader: Reader;
  readonly #plan: DatabasePlan;
  readonly #settings: EngineSettings;
  readonly #flags = new CancelFlags();
  readonly #snapshots = new Set<EngineSnapshot>();
  #queue: QueuedJob[] = [];

  constructor(
    connection: Connection,
    { writer, reader }: { readonly writer: Writer | undefined; readonly reader: Reader },
    { plan, settings }: { readonly plan: DatabasePlan; readonly settings: EngineSettings },
  ) {
    this.#connection = connection;
    this.#writer = writer;
    this.#reader = reader;
    this.#plan = plan;
    this.#settings = settings;
  }

  async started(): Promise<void> {}

  write(call: EngineCall): RunningCall {
    return this.#start("not-applied", async (cancellation) => {
      const parts: unknown[] = [];
      for await (const { part } of call.parts ?? []) {
        cancellation.assertLive();
        parts.push(part);
      }
      const result = await new Promise<JobResult>((settle) => {
        if (this.#queue.length === 0) setImmediate(() => this.#drain());
        this.#queue.push({ name: call.name, input: joinParts(call.input, parts), cancellation, settle });
      });
      if ("error" in result) throw result.error;
      return result.value;
    });
  }

  read(call: EngineCall): RunningCall {
    return this.#start("none", async (cancellation) => {
      await giveWay();
      return this.#reader.run(call.name, call.input, cancellation);
    });
  }

  readAside(call: EngineCall): RunningCall {
    return this.read(call);
  }

  lookup(call: EngineCall, cancellation: Cancellation): unknown {
    return this.#reader.run(call.name, call.input, cancellation);
  }

  async checkpoint(mode: CheckpointMode): Promise<boolean> {
    return checkpoint(this.#connection, mode, this.#settings.path);
  }

  async copyInto(file: string): Promise<void> {
    copyDatabase(this.#connection, file);
  }

  runSteps<Input, Output>(job: StepJob<Input, Output>, input: Input, watch: StepWatch): Promise<Output> {
    return runSteps(job, input, { ...watch, url: undefined });
  }

  /** Where a second connection may be open it reads beside this one. */
  async openSnapshot(): Promise<EngineSnapshot> {
    const [plan, settings] = [this.#plan, this.#settings];
    if (settings.inMemory || settings.exclusive) return this.#keep(copySnapshot(this.#connection, plan, settings));
    const connection = openEngineConnection(settings, { autoCheckpoint: false });
    return this.#keep(new InlineSnapshot(new SnapshotReader(connection, plan, settings)));
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close();
    if (this.#writer === undefined) this.#reader.close();
    else this.#writer.close();
  }

  /** Those that nobody closes end with the engine. */
  #keep(snapshot: EngineSnapshot): EngineSnapshot {
    this.#snapshots.add(snapshot);
    const close = async (): Promise<void> => {
      this.#snapshots.delete(snapshot);
      await snapshot.close();
    };
    return { read: (call) => snapshot.read(call), close };
  }

  /** Jobs queued in the same turn share one commit. */
  #drain(): void {
    const writer = this.#writer;
    if (writer === undefined) throw new HoldfastError("BUG", "A folder that is only read was written to.");
    while (this.#queue.length > 0) {
      const jobs = this.#queue.slice(0, JOBS_PER_COMMIT_MAX);
      this.#queue = this.#queue.slice(JOBS_PER_COMMIT_MAX);
      const results = writer.commit(jobs);
      for (const [index, job] of jobs.entries()) {
        const result = results[index];
        if (result !== undefined) job.settle(result);
      }
    }
  }

  #start(outcome: "none" | "not-applied", action: (cancellation: Cancellation) => Promise<unknown>): RunningCall {
    const flag = this.#flags.take();
    const answer = action(this.#flags.watch(flag.index, outcome)).finally(flag.giveBack);
    return { answer, cancel: flag.raise };
  }
}
