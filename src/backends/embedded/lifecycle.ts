import type { PropertySchema } from "../../contract/properties.ts";
import type { WriteUnit } from "../../database/operation.ts";
import { type ReadOperation, readOperation, type WriteOperation, writeOperation } from "../../database/operation.ts";
import { InputDigest } from "../../registry/input-digest.ts";
import { createLife, endLife, findLife, type Life, requireLife } from "../../registry/lives.ts";
import { type KeyedCall, type NamedKey, once } from "../../registry/receipts.ts";
import { extendStore, findStore, insertStore, type StoreRow, undeclaredKeys } from "../../registry/stores.ts";
import type { Tombstone } from "../../registry/tombstones.ts";
import { addColumns, createTables } from "./tables.ts";

export interface OpenStoreInput {
  readonly name: string;
  readonly dimensions: number;
  readonly properties: PropertySchema;
}

/** Makes the store, or opens it and declares the keys that it lacks; racing openers agree (P1, P12). */
export const openStoreRow: WriteOperation<OpenStoreInput, StoreRow> = writeOperation(
  "embedded.open-store",
  (unit, input) => ensureStore(unit, input),
);

/** The same inside a unit of the caller's. */
export function ensureStore(unit: WriteUnit, input: OpenStoreInput): StoreRow {
  const found = findStore(unit.connection, input.name);
  if (found === undefined) {
    const created = insertStore(unit.connection, input.name, input.dimensions, input.properties);
    createTables(unit.connection, created);
    return created;
  }
  const missing = undeclaredKeys(found, input.dimensions, input.properties);
  if (missing.length === 0) return found;
  addColumns(unit.connection, found.store, missing);
  return extendStore(unit.connection, found, { ...found.properties, ...Object.fromEntries(missing) });
}

/** The store as it stands, so that opening one that needs no change writes nothing. */
export const readStoreRow: ReadOperation<string, StoreRow | undefined> = readOperation(
  "embedded.read-store",
  (view, name) => findStore(view.connection, name),
);

export interface PartitionInput {
  readonly store: number;
  readonly key: string;
}

export interface NamedPartitionInput extends PartitionInput {
  readonly named: NamedKey | undefined;
}

/** A repeated creation answers the life that the first one made, also when that has ended meanwhile. */
export const createPartitionRow: WriteOperation<NamedPartitionInput, Life> = writeOperation(
  "embedded.create-partition",
  (unit, { store, key, named }) =>
    once(unit, { kind: "store", number: store }, keyed(named, "create-partition", key), () =>
      createLife(unit.connection, store, key, unit.nowMicros),
    ),
);

export const findPartitionRow: ReadOperation<PartitionInput, Life | undefined> = readOperation(
  "embedded.find-partition",
  (view, { store, key }) => findLife(view.connection, store, key),
);

/** Answers what is left to reclaim, or `undefined` when there was no such partition (P7). */
export const deletePartitionRow: WriteOperation<NamedPartitionInput, Tombstone | undefined> = writeOperation(
  "embedded.delete-partition",
  (unit, { store, key, named }) =>
    once(unit, { kind: "store", number: store }, keyed(named, "delete-partition", key), () => {
      const partition = endLife(unit.connection, store, key, unit.nowMicros);
      return partition === undefined ? undefined : { store, partition };
    }),
);

function keyed(named: NamedKey | undefined, call: string, key: string): KeyedCall | undefined {
  return named && { ...named, digest: new InputDigest(call).add(key).end() };
}

export const assertLife: ReadOperation<Life, number> = readOperation(
  "embedded.assert-life",
  (view, life) => requireLife(view.connection, life).position,
);

export interface PartitionRow {
  readonly key: string;
  readonly incarnation: string;
  readonly records: number;
  readonly position: number;
}

export const listPartitionRows: ReadOperation<number, readonly PartitionRow[]> = readOperation(
  "embedded.list-partitions",
  (view, store) => {
    const rows = view.connection
      .prepare("SELECT key, incarnation, records, position FROM partitions WHERE store = ? ORDER BY key")
      .all(store);
    return rows.map(({ key, incarnation, records, position }) => ({
      key: String(key),
      incarnation: String(incarnation),
      records: Number(records),
      position: Number(position),
    }));
  },
);
