import type { PropertyKind, PropertySchema } from "../../contract/properties.ts";
import type { Connection } from "../../database/connection.ts";
import type { StoreRow } from "../../registry/stores.ts";

/** SQLite's type of a column: bool is 0 or 1, datetime is microseconds since 1970. */
const COLUMN_TYPES: Readonly<Record<PropertyKind, string>> = {
  string: "TEXT",
  int: "INTEGER",
  float: "REAL",
  bool: "INTEGER",
  datetime: "INTEGER",
};

/** A declared key as a column: prefixed, so that keys named `row` or `id` are free, and quoted (V12). */
export function columnName(key: string): string {
  return `"p_${key}"`;
}

/** How a compiled filter names this backend's columns. */
export const columnTarget = { column: (name: string): string => `r.${columnName(name)}` } as const;

/**
 * Rows of a store: one row a record version, found by id and, in order of writing, by partition. The
 * vectors lie apart, so that reading properties does not read them. `removals` tells followers which
 * rows are gone.
 */
export function createTables(connection: Connection, row: StoreRow): void {
  const { store, properties } = row;
  const columns = Object.entries(properties).map(([key, kind]) => `, ${columnDefinition(key, kind)}`);
  connection.exec(`
CREATE TABLE records_${store} (
  row INTEGER PRIMARY KEY AUTOINCREMENT,
  partition INTEGER NOT NULL,
  id TEXT NOT NULL,
  checksum INTEGER NOT NULL${columns.join("")}
) STRICT;
CREATE UNIQUE INDEX records_${store}_by_id ON records_${store} (partition, id);
CREATE INDEX records_${store}_by_row ON records_${store} (partition, row);
CREATE TABLE vectors_${store} (row INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
CREATE TABLE removals_${store} (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  partition INTEGER NOT NULL,
  row INTEGER NOT NULL
) STRICT;
CREATE INDEX removals_${store}_by_partition ON removals_${store} (partition, sequence);`);
}

export function addColumns(
  connection: Connection,
  store: number,
  keys: readonly (readonly [string, PropertyKind])[],
): void {
  for (const [key, kind] of keys)
    connection.exec(`ALTER TABLE records_${store} ADD COLUMN ${columnDefinition(key, kind)}`);
}

function columnDefinition(key: string, kind: PropertyKind): string {
  return `${columnName(key)} ${COLUMN_TYPES[kind]}`;
}

/** The constant statements of one store, so that each is compiled once a connection. */
export interface RecordSql {
  readonly insert: string;
  readonly insertVector: string;
  readonly deleteById: string;
  readonly deleteByRow: string;
  readonly deleteVector: string;
  readonly insertRemoval: string;
  readonly byId: string;
  readonly byRow: string;
  /** Rows behind a row, oldest first: (partition, row, limit). */
  readonly behind: string;
  /** Rows behind an id, by id: (partition, id, limit) with a filter put in. */
  readonly scan: (filter: string) => string;
  readonly rowsWhere: (filter: string) => string;
  readonly countWhere: (filter: string) => string;
}

const texts = new Map<string, RecordSql>();

export function recordSql(store: number, properties: PropertySchema): RecordSql {
  const keys = Object.keys(properties);
  const cached = texts.get(`${store}:${keys.join()}`);
  if (cached !== undefined) return cached;
  const columns = keys.map((key) => `, ${columnName(key)}`).join("");
  const fields = `r.row AS row, r.id AS id, r.checksum AS checksum${keys.map((key) => `, r.${columnName(key)}`).join("")}, v.vector AS vector`;
  const from = `FROM records_${store} AS r LEFT JOIN vectors_${store} AS v ON v.row = r.row`;
  const sql: RecordSql = {
    insert: `INSERT INTO records_${store} (partition, id, checksum${columns}) VALUES (?, ?, ?${", ?".repeat(keys.length)})
      ON CONFLICT (partition, id) DO NOTHING`,
    insertVector: `INSERT INTO vectors_${store} (row, vector) VALUES (?, ?)`,
    deleteById: `DELETE FROM records_${store} WHERE partition = ? AND id = ? RETURNING row, checksum`,
    deleteByRow: `DELETE FROM records_${store} WHERE row = ?`,
    deleteVector: `DELETE FROM vectors_${store} WHERE row = ?`,
    insertRemoval: `INSERT INTO removals_${store} (partition, row) VALUES (?, ?)`,
    byId: `SELECT ${fields} ${from} WHERE r.partition = ? AND r.id = ?`,
    byRow: `SELECT ${fields} ${from} WHERE r.row = ?`,
    behind: `SELECT ${fields} ${from} WHERE r.partition = ? AND r.row > ? ORDER BY r.row LIMIT ?`,
    scan: (filter) =>
      `SELECT ${fields} ${from} WHERE r.partition = ? AND r.id > ? AND (${filter}) ORDER BY r.id LIMIT ?`,
    rowsWhere: (filter) =>
      `SELECT r.row AS row, r.checksum AS checksum FROM records_${store} AS r WHERE r.partition = ? AND (${filter})`,
    countWhere: (filter) => `SELECT count(*) AS count FROM records_${store} AS r WHERE r.partition = ? AND (${filter})`,
  };
  texts.set(`${store}:${keys.join()}`, sql);
  return sql;
}
