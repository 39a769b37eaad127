import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { type BoundProperties, bindProperties, type PropertySchema } from "../contract/properties.ts";
import type { RecordInput } from "../contract/store.ts";
import { writeVector } from "../contract/vector.ts";
import { HoldfastError } from "../errors/index.ts";
import { systemClock, yieldToEventLoop } from "../io/clock.ts";
import type { IdBatch, RecordBatch, RecordSlice } from "./backend.ts";

/** Records of a slice at most, and bytes of its vectors: a message that is copied in well under a millisecond. */
const SLICE_RECORDS_MAX = 1_000;
const SLICE_BYTES_MAX = 2 * 1024 * 1024;

/** The calling thread is given back after this much validation and copying (E7). */
const HOLD_MS = 5;

/** Bytes of a record beside its vector, for the bound of the queue. */
const RECORD_OVERHEAD_BYTES = 128;

/** Records whose texts are measured; of larger batches every so many-th stands for those between. */
const RECORDS_MEASURED_MAX = 10_000;

export interface RecordShape {
  readonly dimensions: number;
  readonly properties: PropertySchema;
}

/**
 * Checks what can be checked at once and prepares the slices. Each record is checked while its slice
 * is made; nothing is written before the last one has passed, since the commit follows the slices.
 */
export function toBatch(records: readonly RecordInput[], shape: RecordShape): RecordBatch {
  assertArray(records, "records");
  assertCount(records.length, LIMITS.recordsPerBatchMax, "records of one batch");
  const sizeBytes = records.length * (shape.dimensions * 4 + RECORD_OVERHEAD_BYTES) + textBytesOf(records);
  return { records: records.length, sizeBytes, slices: slicesOf(records, shape) };
}

/** What the texts of a batch hold in the queue, before any of it is checked. */
function textBytesOf(records: readonly unknown[]): number {
  const step = Math.ceil(records.length / RECORDS_MEASURED_MAX);
  let bytes = 0;
  for (let index = 0; index < records.length; index += step) {
    const properties = (records[index] as { readonly properties?: unknown } | null | undefined)?.properties;
    if (typeof properties === "object" && properties !== null) bytes += textBytes(Object.values(properties)) * step;
  }
  return bytes;
}

/** Bytes of the texts among some values, two for each UTF-16 unit. */
export function textBytes(values: Iterable<unknown>): number {
  let units = 0;
  for (const value of values) if (typeof value === "string") units += value.length;
  return units * 2;
}

async function* slicesOf(records: readonly RecordInput[], shape: RecordShape): AsyncGenerator<RecordSlice> {
  const sliceRecords = Math.max(1, Math.min(SLICE_RECORDS_MAX, Math.floor(SLICE_BYTES_MAX / (shape.dimensions * 4))));
  const seen = new Set<string>();
  let heldSinceMs = systemClock.monotonicMs();
  for (let start = 0; start < records.length; start += sliceRecords) {
    yield toSlice(records, { start, end: Math.min(start + sliceRecords, records.length) }, shape, seen);
    if (systemClock.monotonicMs() - heldSinceMs > HOLD_MS) {
      await yieldToEventLoop();
      heldSinceMs = systemClock.monotonicMs();
    }
  }
}

function toSlice(
  records: readonly RecordInput[],
  range: { readonly start: number; readonly end: number },
  shape: RecordShape,
  seen: Set<string>,
): RecordSlice {
  const count = range.end - range.start;
  const ids: string[] = [];
  const values: BoundProperties[] = [];
  const vectors = new Float32Array(count * shape.dimensions);
  for (let index = range.start; index < range.end; index += 1) {
    const record: unknown = records[index];
    const where = `record ${index}`;
    if (!isRecordInput(record))
      throw new HoldfastError("INVALID_ARGUMENT", `${where} is not an object with an id and a vector.`);
    assertId(record.id, `id of ${where}`);
    if (seen.has(record.id)) throw duplicate(record.id, index);
    seen.add(record.id);
    values.push(bindProperties(shape.properties, record.properties ?? undefined, where));
    writeVector(record.vector, shape.dimensions, vectors, (index - range.start) * shape.dimensions, where);
    ids.push(record.id);
  }
  return { ids, vectors, values };
}

function isRecordInput(record: unknown): record is RecordInput {
  return typeof record === "object" && record !== null;
}

function duplicate(id: string, index: number): HoldfastError {
  const message = `record ${index} has an id that an earlier record of the batch has; give each record once.`;
  return new HoldfastError("DUPLICATE_RECORD_ID", message, { details: { id, record: index } });
}

/** Ids of a delete, checked and each once, in slices, so that many of them do not hold the calling thread (E7). */
export function toIdBatch(ids: unknown): IdBatch {
  assertArray(ids, "ids");
  assertCount(ids.length, LIMITS.idsPerCallMax, "ids of one call");
  return { ids: ids.length, slices: idSlices(ids) };
}

async function* idSlices(ids: readonly unknown[]): AsyncGenerator<readonly string[]> {
  const seen = new Set<string>();
  let heldSinceMs = systemClock.monotonicMs();
  for (let start = 0; start < ids.length; start += SLICE_RECORDS_MAX) {
    const slice: string[] = [];
    for (const id of ids.slice(start, start + SLICE_RECORDS_MAX)) {
      assertId(id, "record id");
      if (seen.has(id)) continue;
      seen.add(id);
      slice.push(id);
    }
    yield slice;
    if (systemClock.monotonicMs() - heldSinceMs > HOLD_MS) {
      await yieldToEventLoop();
      heldSinceMs = systemClock.monotonicMs();
    }
  }
}

export function assertArray(value: unknown, what: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new HoldfastError("INVALID_ARGUMENT", `${what} must be an array.`);
}

export function assertCount(count: number, max: number, what: string): void {
  if (count <= max) return;
  throw new HoldfastError("LIMIT_EXCEEDED", `At most ${max} ${what}; got ${count}.`, { details: { max, count } });
}
