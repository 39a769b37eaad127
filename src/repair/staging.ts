import type { Connection, SqlRow, SqlValue } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import type { TableShape } from "./table-shapes.ts";

/** Columns by which rows are looked up while the new database is made. */
const LOOKUPS: readonly (readonly [table: RegExp, columns: string])[] = [
  [/^event_(properties|revisions)$/, "event"],
  [/^segments$/, "event"],
  [/^(sessions|tenants|partitions|pending_vectors|changes)$/, "rowid_"],
  [/^changes$/, "session"],
  [/^records_\d+$/, "id"],
  [/^vectors_\d+$/, "rowid_"],
];

/**
 * Rows as they were found, in a database beside the one that is made: without constraints, so that every row has a place.
 * `rowid_` is the row's number.
 */
export class Staging {
  readonly connection: Connection;

  constructor(path: string) {
    this.connection = openConnection(path, { readOnly: false, mustExist: false });
    this.connection.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY");
    this.connection.exec(
      "CREATE TABLE indexed_ (table_ TEXT, rowid_ INTEGER, column_ TEXT, value_, PRIMARY KEY (table_, rowid_, column_))",
    );
  }

  /** Takes rows of a table up to `end`. */
  begin({ table, columns }: TableShape): (rowid: bigint | null, values: readonly SqlValue[]) => void {
    const names = columns.map(({ name }) => `"${name}"`);
    this.connection.exec(`CREATE TABLE "${nameOf(table)}" (rowid_ INTEGER, ${names.join(", ")})`);
    const insert = this.connection.prepare(`INSERT INTO "${nameOf(table)}" VALUES (?${", ?".repeat(names.length)})`);
    this.connection.exec("BEGIN");
    return (rowid, values) => void insert.run(rowid, ...values);
  }

  end(table: string): void {
    this.connection.exec("COMMIT");
    for (const [form, columns] of LOOKUPS)
      if (form.test(table))
        this.connection.exec(`CREATE INDEX "${table}_by_${columns}" ON "${nameOf(table)}" (${columns})`);
    // The order of a damaged tree is not that of its keys.
    if (/^(events|segments|records_\d+)$/.test(table))
      this.connection.exec(`CREATE INDEX "${table}_by_number" ON "${nameOf(table)}" (rowid_)`);
  }

  /** Notes what an index says of a row. */
  noteIndexed(table: string, rowid: bigint, column: string, value: SqlValue): void {
    this.connection.prepare("INSERT OR IGNORE INTO indexed_ VALUES (?, ?, ?, ?)").run(table, rowid, column, value);
  }

  has(table: string): boolean {
    return (
      this.connection.prepare("SELECT 1 AS found FROM sqlite_schema WHERE name = ?").get(nameOf(table)) !== undefined
    );
  }

  /** Rows in the order of their numbers, read in pages so that others can be looked up meanwhile. */
  *rows(table: string): Generator<SqlRow> {
    if (!this.has(table)) return;
    const select = this.connection.prepare(`SELECT rowid AS place_, * FROM "${nameOf(table)}" ORDER BY rowid_, rowid`, {
      bigints: true,
    });
    yield* select.iterate();
  }

  find(table: string, column: string, value: SqlValue): readonly SqlRow[] {
    if (!this.has(table)) return [];
    return this.connection
      .prepare(`SELECT * FROM "${nameOf(table)}" WHERE "${column}" = ?`, { bigints: true })
      .all(value);
  }

  /** Numbers of rows that an index names and whose own row could not be read. */
  lost(table: string): readonly bigint[] {
    const rows = this.connection
      .prepare(
        `SELECT DISTINCT rowid_ FROM indexed_ WHERE table_ = ? AND rowid_ NOT IN (SELECT rowid_ FROM "${nameOf(table)}")`,
        { bigints: true },
      )
      .all(table);
    return rows.map(({ rowid_ }) => BigInt(rowid_ as bigint));
  }

  /** What indexes say of a row, by column. */
  indexed(table: string, rowid: bigint): Readonly<Record<string, SqlValue>> {
    const rows = this.connection
      .prepare("SELECT column_, value_ FROM indexed_ WHERE table_ = ? AND rowid_ = ?", { bigints: true })
      .all(table, rowid);
    return Object.fromEntries(rows.map(({ column_, value_ }) => [String(column_), value_ ?? null]));
  }

  close(): void {
    this.connection.close();
  }
}

/** Names that begin like SQLite's own are its own. */
export function nameOf(table: string): string {
  return table.replace(/^sqlite_/, "internal_");
}
