import { bindProperties, type PropertyInput, type PropertySchema } from "../../../src/contract/properties.ts";
import {
  type BoundValue,
  bindUserValue,
  type UserInputValue,
  type UserValue,
} from "../../../src/contract/property-values.ts";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { type BoundFilter, compileSqlite, type RecordLookup, type SqliteTarget } from "../../../src/filter/index.ts";

type Cell = string | number | bigint | null;
/** A record of the tests: declared properties, and users' own. */
export interface TestRecord {
  readonly declared?: PropertyInput;
  readonly user?: Readonly<Record<string, UserInputValue>>;
}

/** The lookup that the evaluator reads a test's record by. */
export function lookupOf(schema: PropertySchema, record: TestRecord): RecordLookup {
  const names = Object.keys(schema);
  const bound = bindProperties(schema, record.declared);
  const users = new Map(Object.entries(record.user ?? {}).map(([key, value]) => [key, bindUserValue(value, key)]));
  return { value: (name) => bound[names.indexOf(name)], userValue: (name) => users.get(name) };
}

/** Records in SQLite as a backend would keep them: STRICT columns, and a table of users' own keys. */
export class SqliteRecords {
  readonly #database: Connection;
  readonly #schema: PropertySchema;
  /** Columns as they are, or as expressions that have lost their affinity. */
  readonly target: SqliteTarget = {
    column: (name) => `"record"."p_${name}"`,
    userKeys: { table: '"own"', owner: '"record".id' },
  };
  readonly bareTarget: SqliteTarget = { ...this.target, column: (name) => `(+"record"."p_${name}")` };

  constructor(schema: PropertySchema) {
    this.#database = openConnection(":memory:", { readOnly: false, mustExist: false });
    this.#schema = schema;
    const types = { string: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER", datetime: "INTEGER" };
    const columns = Object.entries(schema).map(([name, kind]) => `"p_${name}" ${types[kind]}`);
    this.#database.exec(`CREATE TABLE record (${["id INTEGER PRIMARY KEY", ...columns].join(", ")}) STRICT`);
    this.#database.exec(
      "CREATE TABLE own (event INTEGER, name TEXT, kind TEXT, value ANY, PRIMARY KEY (event, name)) STRICT",
    );
  }

  /** Replaces what is there; ids are places in `records`. */
  fill(records: readonly TestRecord[]): void {
    this.#database.exec("BEGIN; DELETE FROM record; DELETE FROM own");
    const marks = ["?", ...Object.keys(this.#schema).map(() => "?")].join(", ");
    const insert = this.#database.prepare(`INSERT INTO record VALUES (${marks})`);
    const insertOwn = this.#database.prepare("INSERT INTO own VALUES (?, ?, ?, ?)");
    for (const [id, record] of records.entries()) {
      insert.run(BigInt(id), ...bindProperties(this.#schema, record.declared).map(toCell));
      for (const [key, value] of Object.entries(record.user ?? {})) {
        const user = bindUserValue(value, key);
        insertOwn.run(BigInt(id), key, user.kind, toUserCell(user));
      }
    }
    this.#database.exec("COMMIT");
  }

  /** Which records a filter admits; fails when its condition is NULL anywhere. */
  admitted(filter: BoundFilter, target: SqliteTarget = this.target): readonly boolean[] {
    const { sql, parameters } = compileSqlite(filter, target);
    const rows = this.#database.prepare(`SELECT (${sql}) AS admitted FROM record ORDER BY id`).all(...parameters);
    return rows.map(({ admitted }) => {
      if (admitted !== 0 && admitted !== 1) throw new Error(`neither 0 nor 1: ${admitted}`);
      return admitted === 1;
    });
  }

  count(filter: BoundFilter): number {
    const { sql, parameters } = compileSqlite(filter, this.target);
    return Number(this.#database.prepare(`SELECT count(*) AS n FROM record WHERE ${sql}`).all(...parameters)[0]?.n);
  }
}

function toCell(value: BoundValue | undefined): Cell {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return value ?? null;
}

function toUserCell(user: UserValue): Cell {
  if (user.kind === "bool") return user.value ? 1n : 0n;
  return typeof user.value === "number" && Number.isSafeInteger(user.value) ? BigInt(user.value) : user.value;
}
