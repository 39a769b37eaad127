import { HoldfastError } from "../errors/index.ts";
import type { Cancellation } from "../io/cancellation.ts";
import type { SentPart } from "../io/sent-part.ts";
import type { StepJob, StepWatch } from "../io/step-job.ts";
import { runSteps } from "../io/step-thread.ts";
import { WorkerChannel } from "../io/workers.ts";
import type { CheckpointMode } from "./checkpointer.ts";
import type { Engine, EngineCall, RunningCall } from "./engine.ts";
import type { EngineSettings } from "./operation.ts";
import type { Reader } from "./reader.ts";
import type { EngineSnapshot } from "./snapshot.ts";

/**
 * Three threads a folder: the writer with the only write connection, the reader that follows, scans
 * and fetches, and, from the first checkpoint on, one that only moves the log into the file. The
 * calling thread keeps a connection for lookups by key (D13).
 */
export class ThreadedEngine implements Engine {
  readonly threads = "workers" as const;
  /** None where the folder is only read. */
  readonly #writer: WorkerChannel | undefined;
  readonly #reader: WorkerChannel;
  readonly #startReader: (onEnd: (error: Error) => void) => WorkerChannel;
  readonly #startMaintenance: () => WorkerChannel;
  readonly #startSnapshot: () => WorkerChannel;
  readonly #lookups: Reader;
  readonly #workerUrl: URL;
  readonly #snapshots = new Set<WorkerChannel>();
  #maintenance: WorkerChannel | undefined;

  constructor(workerUrl: URL, settings: EngineSettings, lookups: Reader, onGone: (error: Error) => void) {
    this.#writer = settings.readOnly ? undefined : new WorkerChannel(workerUrl, "writer", settings, onGone);
    this.#startReader = (onEnd) => new WorkerChannel(workerUrl, "reader", settings, onEnd);
    this.#reader = this.#startReader(onGone);
    // Without it nothing fails: the log grows, and the next checkpoint starts another thread.
    this.#startMaintenance = () => {
      const thread = new WorkerChannel(workerUrl, "maintenance", settings, () => {
        if (this.#maintenance === thread) this.#maintenance = undefined;
      });
      return thread;
    };
    this.#startSnapshot = () => new WorkerChannel(workerUrl, "snapshot", settings, () => undefined);
    this.#lookups = lookups;
    this.#workerUrl = workerUrl;
  }

  async started(): Promise<void> {
    await Promise.all([this.#writer?.started(), this.#reader.started()]);
  }

  write(call: EngineCall): RunningCall {
    if (this.#writer === undefined) throw new HoldfastError("BUG", "A folder that is only read was written to.");
    return start(this.#writer, call);
  }

  read(call: EngineCall): RunningCall {
    return start(this.#reader, call);
  }

  /** In a reader of its own, that ends with the call. */
  readAside(call: EngineCall): RunningCall {
    const thread = this.#startReader(() => undefined);
    const { answer, cancel } = start(thread, call);
    return { answer: answer.finally(() => thread.end()), cancel };
  }

  lookup(call: EngineCall, cancellation: Cancellation): unknown {
    return this.#lookups.run(call.name, call.input, cancellation);
  }

  async checkpoint(mode: CheckpointMode): Promise<boolean> {
    this.#maintenance ??= this.#startMaintenance();
    return (await this.#maintenance.call({ name: "checkpoint", input: mode })) as boolean;
  }

  /** In a thread of its own: a copy takes as long as the database is large, and checkpoints go on meanwhile. */
  async copyInto(file: string): Promise<void> {
    const thread = this.#startMaintenance();
    try {
      await thread.call({ name: "copy", input: file });
    } finally {
      await thread.end();
    }
  }

  runSteps<Input, Output>(job: StepJob<Input, Output>, input: Input, watch: StepWatch): Promise<Output> {
    return runSteps(job, input, { ...watch, url: this.#workerUrl });
  }

  /** In a thread of its own, which ends with it; that it cannot go on is no failure of the folder. */
  async openSnapshot(): Promise<EngineSnapshot> {
    const channel = this.#startSnapshot();
    this.#snapshots.add(channel);
    const close = async (): Promise<void> => {
      this.#snapshots.delete(channel);
      await channel.end();
    };
    try {
      await channel.started();
    } catch (error) {
      await close();
      throw error;
    }
    return { read: (call) => start(channel, call), close };
  }

  /** The writer ends last: the last connection to close moves the whole log, and it may hold this thread no more. */
  async close(withinMs: number): Promise<void> {
    this.#lookups.close();
    const beside = [this.#reader, this.#maintenance, ...this.#snapshots];
    await Promise.all(beside.map((thread) => thread?.end(withinMs)));
    await this.#writer?.end(withinMs);
  }
}

function start(channel: WorkerChannel, call: EngineCall): RunningCall {
  const flag = channel.flags.take();
  const answer = send(channel, call, flag.index).finally(flag.giveBack);
  return { answer, cancel: flag.raise };
}

async function send(channel: WorkerChannel, call: EngineCall, flag: number): Promise<unknown> {
  const id = channel.nextId();
  const { name, input, parts } = call;
  if (parts === undefined) return channel.call({ name, input, id, flag });
  // The thread sees the flag only when the call has come; until then nothing is applied, whatever is asked.
  const cancellation = channel.flags.watch(flag, "not-applied");
  let last: SentPart | undefined;
  try {
    for await (const part of parts) {
      cancellation.assertLive();
      if (last !== undefined) channel.sendPart(id, last);
      last = part;
    }
    cancellation.assertLive();
  } catch (error) {
    channel.dropParts(id);
    throw error;
  }
  // The last part travels with its call, so that a small write is one message.
  return channel.call({ name, input, id, flag, ...(last && { last }) });
}
