import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { META_SCHEMA } from "../../../src/database/format.ts";
import { FORMATS } from "../../../src/database/format-history.ts";
import { DATABASE_PLAN } from "../../../src/plan.ts";

const DOCUMENT = readFileSync(fileURLToPath(new URL("../../../docs/format.md", import.meta.url)), "utf8");

/** Sections of the document by the tables that their headings name. */
function sections(): ReadonlyMap<string, string> {
  const found = DOCUMENT.split(/^(?=##+ )/m).map((section) => {
    const [heading = ""] = section.split("\n", 1);
    return [...heading.matchAll(/`([^`]+)`/g)].map(([, table]) => [table, section] as const);
  });
  return new Map(found.flat() as (readonly [string, string])[]);
}

it("[E6] docs/format.md names every table of a new folder, and every column in the table's section", () => {
  const connection = openConnection(":memory:", { readOnly: false, mustExist: false });
  for (const statements of [META_SCHEMA, ...DATABASE_PLAN.schema]) connection.exec(statements);
  const tables = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  const missing = tables.flatMap(({ name }) => {
    const table = String(name);
    // FTS5's own tables are named together.
    if (/^segment_words_(config|data|idx|content|docsize)$/.test(table))
      return DOCUMENT.includes(`\`${table}\``) ? [] : [table];
    const section = sections().get(table);
    if (section === undefined) return [`${table} has no section`];
    const columns = connection.prepare(`SELECT name FROM pragma_table_info(?)`).all(table);
    const own = /^segment_word/.test(table) ? [] : columns.map((column) => String(column.name));
    return own.filter((column) => !section.includes(`\`${column}\``)).map((column) => `${table}.${column}`);
  });
  connection.close();
  expect(missing).toEqual([]);
});

it("[E6] docs/format.md says which versions there are", () => {
  for (let version = 1; version <= FORMATS.version; version += 1)
    expect(DOCUMENT).toMatch(new RegExp(`^\\| ${version} \\| `, "m"));
  expect(DOCUMENT).toContain(`of format ${FORMATS.version};`);
});
