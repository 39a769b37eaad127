import { assertOptions, type OptionNames } from "./contract/option-names.ts";
import type { DatabaseOptions } from "./database/open-database.ts";
import { HoldfastError } from "./errors/index.ts";

/** Where a store or a memory is kept, and how its threads work. */
export type PlaceOptions = Omit<DatabaseOptions, "path"> & {
  /** A folder; made when missing, with its parents. */
  readonly path?: string;
  /** Keeps everything in memory instead: the same behaviour but durability, for tests. */
  readonly inMemory?: true;
};

export const PLACE_OPTIONS: OptionNames<PlaceOptions> = {
  path: true,
  inMemory: true,
  threads: true,
  exclusive: true,
  readOnly: true,
  lockTimeoutMs: true,
  memoryBudgetBytes: true,
  receiptRetentionMs: true,
};

/** The least budget that holds a few chunks of vectors. */
const MEMORY_BUDGET_BYTES_MIN = 1024 * 1024;

/** A hundred years. */
const RETENTION_MAX_MS = 100 * 366 * 86_400_000;

/** Refuses options that name no place, two places, bounds without meaning, or what `names` does not have. */
export function assertPlace(
  options: unknown,
  names: Readonly<Record<string, true>>,
  call: string,
): asserts options is PlaceOptions {
  if (typeof options !== "object" || options === null)
    throw invalid('Give options such as { path: "./memory.holdfast" }.');
  assertOptions(options, names, call);
  const { path, inMemory, threads, exclusive, readOnly, lockTimeoutMs, memoryBudgetBytes, receiptRetentionMs } =
    options as PlaceOptions;
  if (path !== undefined && inMemory === true) throw invalid("Give a path or inMemory: true, not both.");
  if (path === undefined && inMemory !== true) throw invalid("Give the path of a folder, or inMemory: true.");
  if (path !== undefined && (typeof path !== "string" || path.length === 0 || path.includes("\0")))
    throw invalid("path is the name of a folder.");
  if (threads !== undefined && threads !== "workers" && threads !== "inline")
    throw invalid('threads is "workers" or "inline".');
  if (inMemory !== undefined && typeof inMemory !== "boolean") throw invalid("inMemory is true, or left out.");
  if (exclusive !== undefined && typeof exclusive !== "boolean") throw invalid("exclusive is true or false.");
  if (readOnly !== undefined && typeof readOnly !== "boolean") throw invalid("readOnly is true or false.");
  if (readOnly === true && (exclusive === true || inMemory === true))
    throw invalid("readOnly goes with a path, and not with exclusive: what only reads shares the folder.");
  if (lockTimeoutMs !== undefined && !(typeof lockTimeoutMs === "number" && lockTimeoutMs >= 0))
    throw invalid("lockTimeoutMs is a number of milliseconds, 0 or more.");
  if (receiptRetentionMs !== undefined && !isRetention(receiptRetentionMs))
    throw invalid("receiptRetentionMs is a number of milliseconds, above 0 and at most 100 years.");
  if (
    memoryBudgetBytes !== undefined &&
    !(typeof memoryBudgetBytes === "number" && memoryBudgetBytes >= MEMORY_BUDGET_BYTES_MIN)
  ) {
    throw invalid(`memoryBudgetBytes is at least ${MEMORY_BUDGET_BYTES_MIN}.`);
  }
}

function isRetention(value: unknown): boolean {
  return typeof value === "number" && value > 0 && value <= RETENTION_MAX_MS;
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
