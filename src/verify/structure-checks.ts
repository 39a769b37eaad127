import { createTables } from "../backends/embedded/tables.ts";
import type { Connection } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import { isDamageError } from "../database/errors.ts";
// from "../database/drivers/open-connection.ts";
import { META_SCHEMA } from "../database/format.ts";
import type { FindingKind } from "./findings.ts";
import { storesOf } from "./stored-stores.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** Messages that SQLite gives of one table at most; each is a finding. */
const MESSAGES_MAX = 1_000;

/** Every table and index as a new folder would have them, against those that are there. */
export function schemaCheck(schema: readonly string[]): Check {
  return {
    stage: "schema",
    *run(verification) {
      const { connection } = verification;
      const expected = expectedSchema(connection, schema);
      const present = schemaOf(connection);
      for (const [name, { type, sql }] of expected) {
        const found = present.get(name);
        if (found === undefined) verification.report("schema", name, undefined, `The ${type} ${name} is missing.`);
        else if (shapeOf(found.sql) !== shapeOf(sql))
          verification.report("schema", name, undefined, `The ${type} ${name} is not as it was made.`);
        yield;
      }
      for (const [name, { type }] of present)
        if (!expected.has(name)) verification.report("schema", name, undefined, `The ${type} ${name} is nobody's.`);
    },
  };
}

export interface SchemaEntry {
  readonly type: string;
  readonly table: string;
  readonly sql: string;
}

/** The schema of a new folder with the stores that this one has. */
function expectedSchema(connection: Connection, schema: readonly string[]): ReadonlyMap<string, SchemaEntry> {
  const model = openConnection(":memory:", { readOnly: false, mustExist: false });
  try {
    for (const statements of [META_SCHEMA, ...schema]) model.exec(statements);
    for (const { row } of storesOf(connection)) if (row !== undefined) createTables(model, row);
    return schemaOf(model);
  } finally {
    model.close();
  }
}

/** Tables and indexes by name; those that SQLite makes by itself have no statement. */
export function schemaOf(connection: Connection): ReadonlyMap<string, SchemaEntry> {
  const rows = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  return new Map(
    rows.map(({ type, name, tbl_name: table, sql }) => [
      String(name),
      { type: String(type), table: String(table), sql: String(sql) },
    ]),
  );
}

/** Columns that are added later stand in one line, those of a statement of several in many; names may be quoted or not. */
function shapeOf(sql: string): string {
  return sql.replaceAll(/["'\s]+/g, "").toLowerCase();
}

/** SQLite's own check of each table with its indexes: pages, order of keys, types, each row in each index. */
export const treeChecks: Check = {
  stage: "pages",
  *run(verification) {
    const { connection } = verification;
    for (const [name, { type, sql }] of schemaOf(connection)) {
      if (type !== "table" || isView(sql)) continue;
      verification.counts.tables += 1;
      yield;
      checkTree(verification, `PRAGMA integrity_check("${name}")`, name);
      yield;
      countIndexes(verification, name, sql);
    }
    if (!verification.deep) return;
    yield;
    checkTree(verification, "PRAGMA integrity_check", "the file");
  },
};

/** The vocabularies of the text index read it and hold nothing of their own. */
function isView(sql: string): boolean {
  return /USING\s+fts5vocab/i.test(sql);
}

function checkTree(verification: Verification, pragma: string, table: string): void {
  const names = rootNames(verification.connection);
  let told = 0;
  try {
    for (const row of verification.connection.prepare(pragma).iterate()) {
      const message = String(Object.values(row)[0]);
      if (message !== "ok" && told < MESSAGES_MAX) reportMessage(verification, message, { table, names });
      told += 1;
    }
  } catch (error) {
    if (!isDamageError(error)) throw error;
    verification.report(
      "page",
      table,
      undefined,
      `${table}: SQLite's check of its pages ended at one that is damaged.`,
    );
  }
}

/** The forms of SQLite's messages that name a row or an index; what has none of them is about a page. */
const FORMS: readonly { readonly form: RegExp; readonly kind: FindingKind }[] = [
  { form: /^row (?<row>\S+) missing from index (?<place>.+)$/, kind: "index" },
  { form: /^wrong # of entries in index (?<place>.+)$/, kind: "index" },
  { form: /^non-unique entry in index (?<place>.+)$/, kind: "index" },
  { form: /^rowid not at end-of-record for row (?<row>\S+) of index (?<place>.+)$/, kind: "index" },
  { form: /^row (?<row>\S+) values differ from index (?<place>.+)$/, kind: "index" },
];

function reportMessage(
  verification: Verification,
  message: string,
  { table, names }: { readonly table: string; readonly names: ReadonlyMap<number, string> },
): void {
  for (const { form, kind } of FORMS) {
    const found = form.exec(message)?.groups;
    if (found === undefined) continue;
    verification.report(kind, found.place ?? table, found.row, `${table}: ${message}.`);
    return;
  }
  // "Tree 12 page 34 cell 5: …": the tree is known by its root.
  const [, root, page] = /^Tree (\d+)(?: page (\d+))?/.exec(message) ?? [];
  const place = names.get(Number(root)) ?? table;
  verification.report("page", place, page === undefined ? undefined : `page ${page}`, `${place}: ${message}.`);
}

function rootNames(connection: Connection): ReadonlyMap<number, string> {
  const rows = connection.prepare("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0").all();
  return new Map(rows.map(({ name, rootpage }) => [Number(rootpage), String(name)]));
}

/** A lookup by an index with a damaged page can answer "not there": the rows are counted by the table and by each index. */
function countIndexes(verification: Verification, table: string, sql: string): void {
  if (/USING\s+fts5/i.test(sql)) return;
  const { connection } = verification;
  const indexes = connection.prepare(`SELECT name, partial FROM pragma_index_list('${table}')`).all();
  const whole = indexes.filter(({ partial, name }) => Number(partial) === 0 && !isOwnTree(name, sql));
  if (whole.length === 0) return;
  verification.lookAt(() => {
    const count = (by: string): number =>
      Number(connection.prepare(`SELECT count(*) AS count FROM "${table}" ${by}`).get()?.count);
    const rows = count("NOT INDEXED");
    for (const { name } of whole) {
      const entries = count(`INDEXED BY "${String(name)}"`);
      if (entries === rows) continue;
      const message = `The index has ${entries} entries, its table ${table} ${rows} rows.`;
      verification.report("index", String(name), undefined, message);
    }
  });
}

/** The primary key of a table without row ids is the table itself. */
function isOwnTree(name: unknown, sql: string): boolean {
  return /WITHOUT ROWID/i.test(sql) && String(name).startsWith("sqlite_autoindex_");
}

/** A table gives each number once in its life; the counter must not be behind the largest that is there (E3). */
export const sequenceCheck: Check = {
  stage: "numbers",
  *run(verification) {
    const { connection } = verification;
    for (const [name, { type, sql }] of schemaOf(connection)) {
      if (type !== "table" || !/AUTOINCREMENT/i.test(sql)) continue;
      yield;
      verification.attempt(name, "its numbers", () => {
        const last = Number(connection.prepare(`SELECT max(rowid) AS last FROM "${name}"`).get()?.last ?? 0);
        const seq = Number(connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = ?").get(name)?.seq ?? 0);
        if (seq < last)
          verification.report(
            "sequence",
            name,
            last,
            `The counter of ${name} stands at ${seq}, and the row ${last} is there.`,
          );
      });
    }
  },
};

const ROWS_PER_RANGE = 10_000;

/**
 * Steps of a check that asks one statement about ranges of keys, so that none runs for long. A range that meets a damaged
 * page is passed over: where the table of that page is read, it is told.
 */
export function* overRanges(
  verification: Verification,
  { table, key }: { readonly table: string; readonly key: string },
  look: (from: number, to: number) => void,
): Steps {
  const { connection } = verification;
  const select = connection.prepare(`SELECT max(${key}) AS last FROM "${table}"`);
  const bound = verification.lookAt(() => Number(select.get()?.last ?? 0)) ?? 0;
  for (let from = 0; from <= bound; from += ROWS_PER_RANGE) {
    yield;
    verification.lookAt(() => look(from, from + ROWS_PER_RANGE));
  }
}
