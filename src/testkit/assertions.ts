import assert from "node:assert/strict";
import type { Partition, RecordInput, ScanOptions, StoredRecord } from "../contract/store.ts";
import type { Where } from "../contract/where.ts";
import { type ErrorCode, type HoldfastError, isHoldfastError } from "../errors/index.ts";

/** Asserts that a call is refused with `code`, and answers the error. */
export async function refuses(
  call: Promise<unknown> | (() => Promise<unknown>),
  code: ErrorCode,
  what = "",
): Promise<HoldfastError> {
  const outcome = await settle(call);
  const label = what === "" ? "" : ` (${what})`;
  if (!("error" in outcome)) assert.fail(`Expected ${code}, and the call answered${label}.`);
  const { error } = outcome;
  if (!isHoldfastError(error)) assert.fail(`Expected ${code}, got ${String(error)}${label}.`);
  assert.equal(error.code, code, `${error.code} instead of ${code}${label}: ${error.message}`);
  assert.ok(error.message.length > 0, "an error says what to do");
  return error;
}

async function settle(
  call: Promise<unknown> | (() => Promise<unknown>),
): Promise<{ readonly error: unknown } | { readonly value: unknown }> {
  try {
    return { value: await (typeof call === "function" ? call() : call) };
  } catch (error) {
    return { error };
  }
}

/** The ids of records or matches, in their order. */
export function idsOf(records: readonly { readonly id: string }[]): readonly string[] {
  return records.map(({ id }) => id);
}

/** Every record of a scan, in its order. */
export async function scanned(partition: Partition, options: ScanOptions = {}): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = [];
  for await (const page of partition.scan(options)) records.push(...page.records);
  return records;
}

/** The ids that a filter admits, asked of every read path that takes a filter; they must agree. */
export async function admittedIds(
  partition: Partition,
  where: Where,
  vector: readonly number[],
): Promise<readonly string[]> {
  const byScan = [...idsOf(await scanned(partition, { where }))].sort();
  const { matches } = await partition.query({ vector, where, limit: 10_000 });
  assert.deepEqual([...idsOf(matches)].sort(), byScan, "query and scan admit the same records");
  assert.equal(await partition.count({ where }), byScan.length, "count agrees with scan");
  return byScan;
}

/** `count` records `r0`, `r1`, … whose vectors point in different directions of a plane. */
export function fan(count: number, dimensions = 3, prefix = "r"): readonly RecordInput[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${prefix}${index}`,
    vector: direction(index, count, dimensions),
  }));
}

/** Direction `index` of `count` in the plane of the first two axes. */
export function direction(index: number, count: number, dimensions = 3): Float32Array {
  const vector = new Float32Array(dimensions);
  const angle = (2 * Math.PI * index) / count;
  vector[0] = Math.cos(angle);
  vector[1] = Math.sin(angle);
  return vector;
}

/** Each record is the nearest to its own vector: none answers for another. */
export async function assertOwnNearest(partition: Partition, records: readonly RecordInput[]): Promise<void> {
  const answers = await partition.queryMany({ vectors: records.map(({ vector }) => vector), limit: 1 });
  assert.deepEqual(
    answers.map(({ matches }) => matches[0]?.id),
    idsOf(records),
  );
}

/** The only element, asserted. */
export function only<T>(values: readonly T[]): T {
  const [first] = values;
  assert.equal(values.length, 1);
  return first as T;
}
