import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { CancelFlags } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";
import { replyTo, type WorkerRequest, type WorkerStart } from "../io/workers.ts";
import { type CheckpointMode, checkpoint } from "./checkpointer.ts";
import type { Connection } from "./connection.ts";
import { joinParts } from "./engine.ts";
import { openEngineConnection } from "./open-files.ts";
import type { DatabasePlan, EngineSettings } from "./operation.ts";
import { Reader } from "./reader.ts";
import { SnapshotReader } from "./snapshot.ts";
import { copyDatabase } from "./whole-database.ts";
import { JOBS_PER_COMMIT_MAX, type JobResult, type WriteJob, Writer } from "./writer.ts";

type CallRequest = Extract<WorkerRequest, { type: "call" }>;

/** Answers a batch of calls that wait at the same time. */
type Handler = (calls: readonly CallRequest[], parts: PartStore) => readonly JobResult[];

/** Runs one of a folder's threads until the caller's end asks it to stop. */
export function serveDatabase(start: WorkerStart, plan: DatabasePlan): void {
  const settings = start.settings as EngineSettings;
  const flags = new CancelFlags(start.flags);
  const connection = openEngineConnection(settings, { autoCheckpoint: false });
  switch (start.role) {
    case "writer": {
      const writer = new Writer(connection, plan, settings, systemClock);
      serve(
        start.port,
        JOBS_PER_COMMIT_MAX,
        (calls, parts) => writer.commit(calls.map((call) => toJob(call, parts, flags))),
        () => writer.close(),
      );
      return;
    }
    case "reader": {
      const reader = new Reader(connection, plan, settings, systemClock);
      serve(
        start.port,
        1,
        (calls) =>
          calls.map((call) => attempt(() => reader.run(call.name, call.input, flags.watch(call.flag, "none")))),
        () => reader.close(),
      );
      return;
    }
    case "snapshot": {
      const reader = new SnapshotReader(connection, plan, settings);
      serve(
        start.port,
        1,
        (calls) =>
          calls.map((call) => attempt(() => reader.run(call.name, call.input, flags.watch(call.flag, "none")))),
        () => reader.close(),
      );
      return;
    }
    default:
      serve(
        start.port,
        1,
        (calls) => calls.map((call) => attempt(() => maintain(connection, call, settings.path))),
        () => connection.close(),
      );
  }
}

function maintain(connection: Connection, { name, input }: CallRequest, path: string): unknown {
  if (name === "copy") return copyDatabase(connection, input as string);
  return checkpoint(connection, input as CheckpointMode, path);
}

function toJob(call: CallRequest, parts: PartStore, flags: CancelFlags): WriteJob {
  return {
    name: call.name,
    input: joinParts(call.input, parts.take(call)),
    cancellation: flags.watch(call.flag, "not-applied"),
  };
}

function attempt(action: () => unknown): JobResult {
  try {
    return { value: action() };
  } catch (error) {
    return { error: error as Extract<JobResult, { error: unknown }>["error"] };
  }
}

/** Parts that arrived ahead of their call. */
class PartStore {
  readonly #parts = new Map<number, unknown[]>();

  add(id: number, part: unknown): void {
    const parts = this.#parts.get(id);
    if (parts === undefined) this.#parts.set(id, [part]);
    else parts.push(part);
  }

  /** All parts of a call, the one that came with it last. */
  take({ id, part }: Pick<CallRequest, "id" | "part">): readonly unknown[] {
    const parts = this.#parts.get(id) ?? [];
    this.#parts.delete(id);
    return part === undefined ? parts : [...parts, part];
  }
}

/** Takes all that has arrived, up to `batchMax` calls, before it answers: that is how callers share commits. */
function serve(port: MessagePort, batchMax: number, handle: Handler, close: () => void): void {
  const parts = new PartStore();
  let batch: CallRequest[] = [];
  const flush = (): void => {
    const calls = batch;
    batch = [];
    if (calls.length === 0) return;
    const results = handle(calls, parts);
    for (const [index, call] of calls.entries()) {
      const result = results[index];
      if (result !== undefined) replyTo(port, call.id, result);
    }
  };
  const receive = (request: WorkerRequest | null): boolean => {
    if (request === null) {
      flush();
      close();
      port.close();
      return false;
    }
    switch (request.type) {
      case "hello":
        replyTo(port, request.id, { value: undefined });
        break;
      case "call":
        batch.push(request);
        break;
      case "part":
        parts.add(request.id, request.part);
        break;
      case "drop":
        parts.take(request);
        break;
      default:
        request satisfies never;
    }
    return true;
  };
  port.on("message", (first: WorkerRequest | null) => {
    if (!receive(first)) return;
    while (batch.length < batchMax) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) break;
      if (!receive(next.message as WorkerRequest | null)) return;
    }
    flush();
  });
}
