import type { BoundProperties, PropertySchema } from "../../contract/properties.ts";
import type { BoundValue } from "../../contract/property-values.ts";
import type { Connection, Statement } from "../../database/connection.ts";
import type { WriteUnit } from "../../database/operation.ts";
import { HoldfastError } from "../../errors/index.ts";
import { type BoundFilter, compileSqlite } from "../../filter/index.ts";
import { advanceLife, type Life, type LifeState, requireLife } from "../../registry/lives.ts";
import { type StoreRow, storeById } from "../../registry/stores.ts";
import { checksumOf, readRow, toSql } from "./codec.ts";
import { trimRemovals } from "./removals.ts";
import { columnTarget, recordSql } from "./tables.ts";

/** Records of one message: ids, vectors one behind the other, and the properties in the order of `keys`. */
export interface RecordPart {
  readonly ids: readonly string[];
  /** Shape [ids.length × dimensions]. */
  readonly vectors: Float32Array;
  readonly values: readonly BoundProperties[];
}

/** One record to be written. */
export interface NewRecord {
  readonly id: string;
  readonly vector: Uint8Array;
  readonly values: BoundProperties;
}

/**
 * Stages writes to one partition inside a unit of the caller's: begin by checking the life, write any
 * number of rows, end by storing what was counted. Other layers use it to commit vectors with texts (B7).
 */
export class PartitionWriter {
  readonly schema: PropertySchema;
  readonly #unit: WriteUnit;
  readonly #life: Life;
  readonly #store: StoreRow;
  readonly #statements: Statements;
  readonly #state: LifeState;
  #records: number;
  #checksum: number;
  #removed = 0;

  constructor(unit: WriteUnit, life: Life) {
    this.#unit = unit;
    this.#life = life;
    this.#state = requireLife(unit.connection, life);
    this.#records = this.#state.records;
    this.#checksum = this.#state.checksum;
    this.#store = requireStore(unit.connection, life);
    this.schema = this.#store.properties;
    this.#statements = statementsOf(unit.connection, this.#store);
  }

  /** Writes a record anew; an older version under its id goes (V11). Answers whether there was one. */
  put(record: NewRecord): boolean {
    const { schema } = this;
    const checksum = checksumOf(this.#life.partition, record.id, {
      schema,
      values: record.values,
      vector: record.vector,
    });
    let row = this.#insert(record, checksum);
    const replaced = row === undefined;
    if (replaced) {
      this.remove(record.id);
      row = this.#insert(record, checksum);
    }
    if (row === undefined) throw new HoldfastError("BUG", "A record could not be replaced inside its own transaction.");
    this.#statements.insertVector.run(row, record.vector);
    this.#count(1, checksum);
    return replaced;
  }

  /** Removes the record of an id, its bytes with it; answers whether there was one (V16). */
  remove(id: string): boolean {
    const row = this.#statements.deleteById.get(this.#life.partition, id);
    if (row === undefined) return false;
    this.#forget(Number(row.row), Number(row.checksum));
    return true;
  }

  /** Removes every record that a filter admits; answers how many. */
  removeWhere(filter: BoundFilter): number {
    const rows = this.#matching(filter);
    for (const row of rows) {
      this.#unit.cancellation.assertLive();
      this.#statements.deleteByRow.run(row.row);
      this.#forget(row.row, row.checksum);
    }
    return rows.length;
  }

  /** Changes properties alone: a new version with the same vector (V11). Answers whether the id is there. */
  patch(id: string, changes: ReadonlyMap<string, BoundValue | null>): boolean {
    const row = this.#statements.byId.get(this.#life.partition, id);
    if (row === undefined) return false;
    const old = readRow(row, this.#life.partition, this.schema);
    if (old === undefined) throw damaged(id);
    const values = Object.keys(this.schema).map((key, index) => {
      const change = changes.get(key);
      return change === undefined ? old.values[index] : (change ?? undefined);
    });
    this.put({ id, vector: old.vector, values });
    return true;
  }

  /** Stores the counts and answers the new position; a unit that changed nothing leaves the position. */
  finish(changed: boolean): number {
    if (!changed) return this.#state.position;
    if (this.#removed > 0) trimRemovals(this.#unit.connection, this.#store.store, this.#removed);
    const counted = { ...this.#state, records: this.#records, checksum: this.#checksum };
    return advanceLife(this.#unit.connection, this.#life, counted);
  }

  #matching(filter: BoundFilter): readonly { readonly row: number; readonly checksum: number }[] {
    const { sql, parameters } = compileSqlite(filter, columnTarget);
    const text = recordSql(this.#store.store, this.schema).rowsWhere(sql);
    const rows = this.#unit.connection.prepare(text).all(this.#life.partition, ...parameters);
    return rows.map(({ row, checksum }) => ({ row: Number(row), checksum: Number(checksum) }));
  }

  #insert(record: NewRecord, checksum: number): number | undefined {
    const { insert } = this.#statements;
    const { changes, lastInsertRowid } = insert.run(
      this.#life.partition,
      record.id,
      checksum,
      ...this.#columns(record.values),
    );
    return changes === 0 ? undefined : lastInsertRowid;
  }

  /** A handle opened before a key was declared gives no value for it. */
  #columns(values: BoundProperties): ReturnType<typeof toSql>[] {
    const columns = [];
    for (let index = 0; index < this.#statements.columns; index += 1) columns.push(toSql(values[index]));
    return columns;
  }

  #forget(row: number, checksum: number): void {
    this.#statements.deleteVector.run(row);
    this.#statements.insertRemoval.run(this.#life.partition, row);
    this.#removed += 1;
    this.#count(-1, checksum);
  }

  #count(records: number, checksum: number): void {
    this.#records += records;
    this.#checksum = (this.#checksum ^ checksum) >>> 0;
  }
}

interface Statements {
  readonly columns: number;
  readonly insert: Statement;
  readonly insertVector: Statement;
  readonly deleteById: Statement;
  readonly deleteByRow: Statement;
  readonly deleteVector: Statement;
  readonly insertRemoval: Statement;
  readonly byId: Statement;
}

function statementsOf(connection: Connection, store: StoreRow): Statements {
  const sql = recordSql(store.store, store.properties);
  return {
    columns: Object.keys(store.properties).length,
    insert: connection.prepare(sql.insert),
    insertVector: connection.prepare(sql.insertVector),
    deleteById: connection.prepare(sql.deleteById),
    deleteByRow: connection.prepare(sql.deleteByRow),
    deleteVector: connection.prepare(sql.deleteVector),
    insertRemoval: connection.prepare(sql.insertRemoval),
    byId: connection.prepare(sql.byId, { bigints: true }),
  };
}

export function requireStore(connection: Connection, life: Life): StoreRow {
  const store = storeById(connection, life.store);
  if (store !== undefined) return store;
  throw new HoldfastError("STORAGE_MISSING", "The store of this partition is not in the database.", {
    details: { key: life.key },
  });
}

export function damaged(id: string): HoldfastError {
  const message = "The stored record is damaged and is not answered; write it anew, or restore it from a backup.";
  return new HoldfastError("DAMAGED", message, { details: { id } });
}
