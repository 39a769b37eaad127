import { type BoundProperties, kindOf } from "../../contract/properties.ts";
import type { BoundValue } from "../../contract/property-values.ts";
import type { Parted, WriteUnit } from "../../database/operation.ts";
import { type WriteOperation, writeOperation } from "../../database/operation.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { BoundFilter } from "../../filter/index.ts";
import { InputDigest } from "../../registry/input-digest.ts";
import { type Life, requireLife } from "../../registry/lives.ts";
import { type NamedKey, once } from "../../registry/receipts.ts";
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
  readonly named: NamedKey | undefined;
}

export interface UpsertOutput {
  readonly position: number;
  readonly inserted: number;
  readonly replaced: number;
}

export const upsertRecords: WriteOperation<UpsertInput, UpsertOutput> = writeOperation(
  "embedded.upsert",
  (unit, input) =>
    onceInLife(
      unit,
      input,
      () => digestOfRecords(input),
      () => upsert(unit, input),
    ),
);

function upsert(unit: WriteUnit, input: UpsertInput): UpsertOutput {
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
}

/** By the names of the values: keys that were declared between two tries change nothing. */
function digestOfRecords({ keys, dimensions, parts = [] }: UpsertInput): string {
  const digest = new InputDigest("upsert");
  for (const { ids, vectors, values } of parts)
    for (const [index, id] of ids.entries()) {
      const own = values[index] ?? [];
      digest.add(id).add(vectors.subarray(index * dimensions, (index + 1) * dimensions));
      digest.add(new Map(keys.map((key, place) => [key, own[place]])));
    }
  return digest.end();
}

/** A call of one life: what its key answered before, or `run` with its receipt in the same commit (V17). */
function onceInLife<T>(
  unit: WriteUnit,
  { life, named }: { readonly life: Life; readonly named: NamedKey | undefined },
  digest: () => string,
  run: () => T,
): T {
  if (named === undefined) return run();
  requireLife(unit.connection, life);
  return once(unit, { kind: "partition", number: life.partition }, { ...named, digest: digest() }, run);
}

/** The handle may have been opened before a key was declared. */
function reorder(values: BoundProperties, order: readonly number[]): BoundProperties {
  return order.map((from) => (from < 0 ? undefined : values[from]));
}

export interface PatchInput {
  readonly life: Life;
  readonly id: string;
  readonly changes: ReadonlyMap<string, BoundValue | null>;
  readonly named: NamedKey | undefined;
}

/** Answers the new position, or `undefined` when the id is unknown. */
export const patchRecord: WriteOperation<PatchInput, number | undefined> = writeOperation(
  "embedded.patch",
  (unit, input) =>
    onceInLife(
      unit,
      input,
      () => digestOfPatch(input),
      () => patch(unit, input),
    ),
);

/** A value that is removed differs from one that is left alone. */
function digestOfPatch({ id, changes }: PatchInput): string {
  const entries = [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
  return new InputDigest("patch").add(id).add(entries).end();
}

function patch(unit: WriteUnit, input: PatchInput): number | undefined {
  const writer = new PartitionWriter(unit, input.life);
  for (const key of input.changes.keys()) {
    if (kindOf(writer.schema, key) === undefined) throw new HoldfastError("BUG", `The key ${key} is not in the store.`);
  }
  const found = writer.patch(input.id, input.changes);
  const position = writer.finish(found);
  reclaimSome(unit, RECLAIMED_WITH_EACH_WRITE);
  return found ? position : undefined;
}

export interface DeleteInput extends Partial<Parted<readonly string[]>> {
  readonly life: Life;
  /** Absent when ids are given in the parts. */
  readonly filter?: BoundFilter | undefined;
  readonly named: NamedKey | undefined;
}

export interface DeleteOutput {
  readonly position: number;
  readonly deleted: number;
}

export const deleteRecords: WriteOperation<DeleteInput, DeleteOutput> = writeOperation(
  "embedded.delete",
  (unit, input) =>
    onceInLife(
      unit,
      input,
      () =>
        new InputDigest("delete")
          .add(input.filter)
          .add((input.parts ?? []).flat())
          .end(),
      () => remove(unit, input),
    ),
);

function remove(unit: WriteUnit, input: DeleteInput): DeleteOutput {
  const writer = new PartitionWriter(unit, input.life);
  const deleted =
    input.filter === undefined ? removeIds(unit, writer, input.parts ?? []) : writer.removeWhere(input.filter);
  const position = writer.finish(deleted > 0);
  reclaimSome(unit, RECLAIMED_WITH_EACH_WRITE);
  return { position, deleted };
}

function removeIds(unit: WriteUnit, writer: PartitionWriter, parts: readonly (readonly string[])[]): number {
  let deleted = 0;
  for (const ids of parts) {
    unit.cancellation.assertLive();
    for (const id of ids) if (writer.remove(id)) deleted += 1;
  }
  return deleted;
}
