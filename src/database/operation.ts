import type { Cancellation } from "../io/cancellation.ts";
import type { Connection } from "./connection.ts";
import { FORMATS, type FormatHistory } from "./format-history.ts";

/** What a write operation works with: one transaction, begun, whose guards it checks and whose rows it writes. */
export interface WriteUnit {
  readonly connection: Connection;
  readonly cancellation: Cancellation;
  /** Microseconds since 1970; one moment for the whole commit. */
  readonly nowMicros: number;
  /** State that lives as long as the connection, made at first use; never holds what a rolled-back unit wrote. */
  resource<T>(factory: (settings: EngineSettings) => T): T;
}

/** What a read operation works with: one read transaction, so that an answer is of one moment (Q9). */
export interface ReadView {
  readonly connection: Connection;
  readonly cancellation: Cancellation;
  resource<T>(factory: (settings: EngineSettings) => T): T;
}

/** What a folder was opened with, known in each of its threads. */
export interface EngineSettings {
  readonly path: string;
  /** Which file `path` was when it was opened; `undefined` in memory. */
  readonly fileIdentity: string | undefined;
  readonly lockTimeoutMs: number;
  readonly receiptRetentionMs: number;
  readonly memoryBudgetBytes: number;
  readonly inMemory: boolean;
  readonly exclusive: boolean;
  readonly readOnly: boolean;
  /** The file that connections open: `path`, or its copy where the medium cannot be written and so not be shared. */
  readonly openPath: string;
  /** What `path` was like when it was copied; `undefined` when connections open it itself. */
  readonly copiedStamp: string | undefined;
}

/**
 * A function that runs inside the thread that owns the connection. It is found there by its name, so
 * input and output are plain data. Operations are synchronous: a transaction never waits for anything.
 */
export interface WriteOperation<Input, Output> {
  readonly kind: "write";
  readonly name: string;
  run(unit: WriteUnit, input: Input): Output;
}

export interface ReadOperation<Input, Output> {
  readonly kind: "read";
  readonly name: string;
  run(view: ReadView, input: Input): Output;
}

export type Operation = WriteOperation<never, unknown> | ReadOperation<never, unknown>;

export function writeOperation<Input, Output>(
  name: string,
  run: (unit: WriteUnit, input: Input) => Output,
): WriteOperation<Input, Output> {
  return { kind: "write", name, run };
}

export function readOperation<Input, Output>(
  name: string,
  run: (view: ReadView, input: Input) => Output,
): ReadOperation<Input, Output> {
  return { kind: "read", name, run };
}

/** Everything that a database can do: its schema and its operations, given once by the composition. */
export interface DatabasePlan {
  /** Statements that make the tables of every layer, run once inside the creating transaction. */
  readonly schema: readonly string[];
  readonly operations: ReadonlyMap<string, Operation>;
  /** Which format the tables are of, and how older ones become it. */
  readonly formats: FormatHistory;
}

export function databasePlan(
  schema: readonly string[],
  operations: readonly Operation[],
  formats: FormatHistory = FORMATS,
): DatabasePlan {
  return { schema, operations: new Map(operations.map((operation) => [operation.name, operation])), formats };
}

/** The parts of an input too large for one message, in order; empty for other calls. */
export interface Parted<Part> {
  readonly parts: readonly Part[];
}
