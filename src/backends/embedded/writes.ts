import { type BoundProperties, kindOf } from "../../contract/properties.ts";
import type { BoundValue } from "../../contract/property-values.ts";
import type { Parted, WriteUnit } from "../../database/operation.ts";
import { type WriteOperation, writeOperation } from "../../database/operation.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { BoundFilter } from "../../filter/index.ts";
import type { Life } from "../../registry/lives.ts";
import { reclaimSome } from "./reclaim.ts";
import { PartitionWriter, type RecordPart } from "./records.ts";

/** Dead rows that each write takes along, so that short-lived processes reclaim too (E14). */
const RECLAIMED_WITH_EACH_WRITE = 4;

/** Cancellation is looked at once in this many rows. */
const ROWS_BETWEEN_CHECKS = 1_024;

export interface UpsertInput extends Partial<Parted<RecordPart>> {
  readonly life: Life;
  readonly dimensions: number;
  /** Names of the values in each record, in their order. */
  readonly keys: readonly string[];
}

export interface UpsertOutput {
  readonly position: number;
  readonly inserted: number;
  readonly replaced: number;
}

export const upsertRecords: WriteOperation<UpsertInput, UpsertOutput> = writeOperation(
  "embedded.upsert",
  (unit, input) => {
    const writer = new PartitionWriter(unit, input.life);
    const order = Object.keys(writer.schema).map((key) => input.keys.indexOf(key));
    const inOrder = order.every((from, to) => from === to);
    let replaced = 0;
    let written = 0;
    for (const part of input.parts ?? []) {
      const bytes = new Uint8Array(part.vectors.buffer, part.vectors.byteOffset, part.vectors.byteLength);
      const stride = input.dimensions * 4;
      for (const [index, id] of part.ids.entries()) {
        if (written % ROWS_BETWEEN_CHECKS === 0) unit.cancellation.assertLive();
        const values = part.values[index] ?? [];
        const vector = bytes.subarray(index * stride, (index + 1) * stride);
        if (writer.put({ id, vector, values: inOrder ? values : reorder(values, order) })) replaced += 1;
        written += 1;
      }
    }
    reclaimSome(unit, RECLAIMED_WITH_EACH_WRITE);
    return { position: writer.finish(written > 0), inserted: written - replaced, replaced };
  },
);

/** The handle may have been opened before a key was declared. */
function reorder(values: BoundProperties, order: readonly number[]): BoundProperties {
  return order.map((from) => (from < 0 ? undefined : values[from]));
}

export interface PatchInput {
  readonly life: Life;
  readonly id: string;
  readonly changes: ReadonlyMap<string, BoundValue | null>;
}

/** Answers the new position, or `undefined` when the id is unknown. */
export const patchRecord: WriteOperation<PatchInput, number | undefined> = writeOperation(
  "embedded.patch",
  (unit, input) => {
    const writer = new PartitionWriter(unit, input.life);
    for (const key of input.changes.keys()) {
      if (kindOf(writer.schema, key) === undefined)
        throw new HoldfastError("BUG", `The key ${key} is not in the store.`);
    }
    const found = writer.patch(input.id, input.changes);
    const position = writer.finish(found);
    reclaimSome(unit, RECLAIMED_WITH_EACH_WRITE);
    return found ? position : undefined;
  },
);

export interface DeleteInput extends Partial<Parted<readonly string[]>> {
  readonly life: Life;
  /** Absent when ids are given in the parts. */
  readonly filter?: BoundFilter | undefined;
}

export interface DeleteOutput {
  readonly position: number;
  readonly deleted: number;
}

export const deleteRecords: WriteOperation<DeleteInput, DeleteOutput> = writeOperation(
  "embedded.delete",
  (unit, input) => {
    const writer = new PartitionWriter(unit, input.life);
    const deleted =
      input.filter === undefined ? removeIds(unit, writer, input.parts ?? []) : writer.removeWhere(input.filter);
    const position = writer.finish(deleted > 0);
    reclaimSome(unit, RECLAIMED_WITH_EACH_WRITE);
    return { position, deleted };
  },
);

function removeIds(unit: WriteUnit, writer: PartitionWriter, parts: readonly (readonly string[])[]): number {
  let deleted = 0;
  for (const ids of parts) {
    unit.cancellation.assertLive();
    for (const id of ids) if (writer.remove(id)) deleted += 1;
  }
  return deleted;
}
