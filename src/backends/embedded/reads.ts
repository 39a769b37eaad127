import type { BoundProperties, PropertySchema } from "../../contract/properties.ts";
import { type ReadOperation, type ReadView, readOperation } from "../../database/operation.ts";
import { type BoundFilter, compileSqlite } from "../../filter/index.ts";
import { type Life, requireLife } from "../../registry/lives.ts";
import { needsBigints, type RecordRow, readRow, toFloat32 } from "./codec.ts";
import { damaged, requireStore } from "./records.ts";
import { columnTarget, recordSql } from "./tables.ts";

/** A record with the values of every key that its store declares now, in that order. */
export interface FoundRecord {
  readonly id: string;
  readonly values: BoundProperties;
  readonly vector: Float32Array | undefined;
}

/** Records as an operation answers them, with the schema that their values follow. */
export interface FoundRecords<Item> {
  readonly schema: PropertySchema;
  readonly records: readonly Item[];
}

export interface GetInput {
  readonly life: Life;
  readonly ids: readonly string[];
  readonly includeVectors: boolean;
}

/** In input order; a damaged row is never answered, nor taken for a missing one (E11). */
export const getRecords: ReadOperation<GetInput, FoundRecords<FoundRecord | undefined>> = readOperation(
  "embedded.get",
  (view, input) => {
    requireLife(view.connection, input.life);
    const { schema, find } = rowsById(view, input.life);
    const records = input.ids.map((id) => {
      const row = find(id);
      return row && { id, values: row.values, vector: input.includeVectors ? toFloat32(row.vector) : undefined };
    });
    return { schema, records };
  },
);

/** Finds whole rows by id; one whose checksum does not hold raises DAMAGED, or is taken for missing where that is asked for. */
export function rowsById(
  view: ReadView,
  life: Life,
  skipDamaged = false,
): { readonly schema: PropertySchema; find(id: string): RecordRow | undefined } {
  const store = requireStore(view.connection, life);
  const schema = store.properties;
  const select = view.connection.prepare(recordSql(store.store, schema).byId, { bigints: needsBigints(schema) });
  return {
    schema,
    find(id) {
      const row = select.get(life.partition, id);
      if (row === undefined) return undefined;
      const record = readRow(row, life.partition, schema);
      if (record === undefined && !skipDamaged) throw damaged(id);
      return record;
    },
  };
}

export interface CountInput {
  readonly life: Life;
  readonly filter: BoundFilter | undefined;
}

export const countRecords: ReadOperation<CountInput, number> = readOperation(
  "embedded.count",
  (view, { life, filter }) => {
    const state = requireLife(view.connection, life);
    if (filter === undefined) return state.records;
    const store = requireStore(view.connection, life);
    const { sql, parameters } = compileSqlite(filter, columnTarget);
    const text = recordSql(store.store, store.properties).countWhere(sql);
    return Number(view.connection.prepare(text).get(life.partition, ...parameters)?.count);
  },
);

export interface ScanInput {
  readonly life: Life;
  readonly filter: BoundFilter | undefined;
  readonly after: string;
  readonly limit: number;
  readonly includeVectors: boolean;
}

export interface ScanOutput extends FoundRecords<FoundRecord> {
  /** Rows that are there and whose checksum does not hold. */
  readonly damaged: number;
  /** Where the next page begins, or `undefined` behind the last one. */
  readonly next: string | undefined;
}

/** One page by id; a page is one transaction, never one long cursor. */
export const scanRecords: ReadOperation<ScanInput, ScanOutput> = readOperation("embedded.scan", (view, input) => {
  const { life, filter, after, limit, includeVectors } = input;
  requireLife(view.connection, life);
  const store = requireStore(view.connection, life);
  const schema = store.properties;
  const { sql, parameters } = filter === undefined ? { sql: "1", parameters: [] } : compileSqlite(filter, columnTarget);
  const select = view.connection.prepare(recordSql(store.store, schema).scan(sql), { bigints: needsBigints(schema) });
  const rows = select.all(life.partition, after, ...parameters, limit);
  const records: FoundRecord[] = [];
  for (const row of rows) {
    const record = readRow(row, life.partition, schema);
    if (record === undefined) continue;
    records.push({
      id: record.id,
      values: record.values,
      vector: includeVectors ? toFloat32(record.vector) : undefined,
    });
  }
  const last = rows.at(-1);
  return {
    schema,
    records,
    damaged: rows.length - records.length,
    next: rows.length < limit ? undefined : String(last?.id),
  };
});
