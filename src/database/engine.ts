import type { Cancellation, CancelReason } from "../io/cancellation.ts";
import type { SentPart } from "../io/sent-part.ts";
import type { StepJob, StepWatch } from "../io/step-job.ts";
import type { CheckpointMode } from "./checkpointer.ts";
import type { EngineSettings } from "./operation.ts";
import type { EngineSnapshot } from "./snapshot.ts";

export interface EngineCall {
  readonly name: string;
  readonly input: unknown;
  /** Pieces of a large write, made while they are sent; a failure while making them writes nothing. */
  readonly parts?: AsyncIterable<SentPart>;
}

/** A call under way: its answer, and the way to tell the thread that nobody waits for it. */
export interface RunningCall {
  readonly answer: Promise<unknown>;
  cancel(reason: CancelReason): void;
}

/** Where the connections of one folder live: in threads, or inline on the calling one. */
export interface Engine {
  readonly threads: "workers" | "inline";
  /** Resolves when calls are taken up at once. */
  started(): Promise<void>;
  write(call: EngineCall): RunningCall;
  read(call: EngineCall): RunningCall;
  /** A read that takes long: beside the others, which it does not hold up. */
  readAside(call: EngineCall): RunningCall;
  /** A small read by key, on the calling thread's own connection. */
  lookup(call: EngineCall, cancellation: Cancellation): unknown;
  checkpoint(mode: CheckpointMode): Promise<boolean>;
  /** Writes all of the database into an empty file, beside the other calls. */
  copyInto(file: string): Promise<void>;
  /** Runs long work that does not use the connections, beside the other calls. */
  runSteps<Input, Output>(job: StepJob<Input, Output>, input: Input, watch: StepWatch): Promise<Output>;
  /** One moment of the folder, until it is closed. */
  openSnapshot(): Promise<EngineSnapshot>;
  /** Ends the threads; one that the system holds for longer is not waited for, and its calls raise CLOSED. */
  close(withinMs: number): Promise<void>;
}

/** `onGone` is told when a thread ended by itself. */
export type EngineStart = (settings: EngineSettings, onGone: (error: Error) => void) => Engine;

/** Makes the parts into the input that the operation reads ({@link Parted}). */
export function joinParts(input: unknown, parts: readonly unknown[]): unknown {
  return parts.length === 0 ? input : { ...(input as object), parts };
}
