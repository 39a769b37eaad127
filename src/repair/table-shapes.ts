import { createTables } from "../backends/embedded/tables.ts";
import type { Connection, SqlValue } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import { META_SCHEMA } from "../database/format.ts";
import type { StoreRow } from "../registry/stores.ts";

export interface Column {
  readonly name: string;
  /** What a row has that was written before the column was. */
  readonly byDefault: SqlValue;
}

/** How the rows of a table stand in its tree. */
export interface TableShape {
  readonly table: string;
  /** The tree's root in a new folder: pages of roots are given in the order of creation, and so are the same everywhere. */
  readonly root: number;
  /** In the order in which records hold them. */
  readonly columns: readonly Column[];
  /** The column that is the row's number; records hold NULL there. */
  readonly rowidColumn: string | undefined;
  readonly hasRowid: boolean;
  readonly indexes: readonly IndexShape[];
}

export interface IndexShape {
  readonly name: string;
  readonly root: number;
  readonly columns: readonly string[];
  /** Whether it names some rows alone. */
  readonly isPartial: boolean;
}

/** A new folder's tables with some stores, in memory: what a damaged schema is read by. */
export class SchemaModel {
  readonly #model: Connection;

  constructor(schema: readonly string[], stores: readonly StoreRow[]) {
    this.#model = openConnection(":memory:", { readOnly: false, mustExist: false });
    // Other settings would give other roots.
    this.#model.exec("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL;");
    for (const statements of [META_SCHEMA, ...schema]) this.#model.exec(statements);
    for (const store of stores) createTables(this.#model, store);
  }

  close(): void {
    this.#model.close();
  }

  /** Tables whose rows are kept: not those of the text index, which are made anew. */
  tables(): readonly string[] {
    const rows = this.#model.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").all();
    return rows.flatMap(({ name, sql }) => {
      const isIndexed = String(name).startsWith("segment_word") || /^CREATE VIRTUAL/i.test(String(sql));
      return isIndexed ? [] : [String(name)];
    });
  }

  shapeOf(table: string): TableShape {
    const info = this.#model.prepare(`SELECT name, type, pk, dflt_value FROM pragma_table_info('${table}')`).all();
    const root = this.#model.prepare("SELECT rootpage, sql FROM sqlite_schema WHERE name = ?").get(table);
    const hasRowid = !/WITHOUT ROWID/i.test(String(root?.sql));
    const keys = info.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
    const [key] = keys;
    const isRowid = hasRowid && keys.length === 1 && String(key?.type).toUpperCase() === "INTEGER";
    const ordered = hasRowid ? info : [...keys, ...info.filter(({ pk }) => Number(pk) === 0)];
    return {
      table,
      root: Number(root?.rootpage ?? 0),
      columns: ordered.map(({ name, dflt_value: value }) => ({ name: String(name), byDefault: this.#evaluate(value) })),
      rowidColumn: isRowid ? String(key?.name) : undefined,
      hasRowid,
      indexes: hasRowid ? this.#indexesOf(table) : [],
    };
  }

  #indexesOf(table: string): readonly IndexShape[] {
    const rows = this.#model
      .prepare(`SELECT name, partial FROM pragma_index_list('${table}') ORDER BY partial, seq`)
      .all();
    return rows.map(({ name, partial }) => ({
      name: String(name),
      isPartial: Number(partial) === 1,
      root: Number(
        this.#model.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(String(name))?.rootpage,
      ),
      columns: this.#model
        .prepare(`SELECT name FROM pragma_index_info('${String(name)}') ORDER BY seqno`)
        .all()
        .map((column) => String(column.name)),
    }));
  }

  #evaluate(expression: SqlValue | undefined): SqlValue {
    if (expression === null || expression === undefined) return null;
    return this.#model.prepare(`SELECT (${String(expression)}) AS value`, { bigints: true }).get()?.value ?? null;
  }
}
