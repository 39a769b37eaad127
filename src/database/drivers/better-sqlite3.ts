import { createRequire } from "node:module";
import {
  type Connection,
  type PrepareOptions,
  type SqlRow,
  type SqlValue,
  type Statement,
  StatementCache,
} from "../connection.ts";
import type { DriverOptions } from "./open-connection.ts";

/** The part of better-sqlite3 that we call. */
interface NativeStatement {
  readonly reader: boolean;
  safeIntegers(on: boolean): NativeStatement;
  run(...parameters: readonly SqlValue[]): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: readonly SqlValue[]): SqlRow | undefined;
  all(...parameters: readonly SqlValue[]): readonly SqlRow[];
  iterate(...parameters: readonly SqlValue[]): IterableIterator<SqlRow>;
}
interface NativeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NativeStatement;
  close(): void;
}
type NativeConstructor = new (path: string, options: object) => NativeDatabase;

/** Raises the loader's own error when the package is missing or was not compiled. */
export function openBetterSqlite3(path: string, options: DriverOptions): Connection {
  const Database = createRequire(import.meta.url)("better-sqlite3") as NativeConstructor;
  const native = new Database(path, { timeout: 0, readonly: options.readOnly, fileMustExist: options.mustExist });
  return new BetterSqlite3Connection(native);
}

class BetterSqlite3Connection implements Connection {
  readonly #native: NativeDatabase;
  readonly #statements: StatementCache;

  constructor(native: NativeDatabase) {
    this.#native = native;
    this.#statements = new StatementCache((sql, bigints) => {
      const statement = native.prepare(sql);
      if (bigints && statement.reader) statement.safeIntegers(true);
      return new BetterSqlite3Statement(statement);
    });
  }

  /** Asked when it is wanted: a statement may find the file locked. */
  get driver(): Connection["driver"] {
    const version = this.#native.prepare("SELECT sqlite_version() AS version").get();
    return { name: "better-sqlite3", sqliteVersion: String(version?.version) };
  }

  exec(sql: string): void {
    this.#native.exec(sql);
  }

  prepare(sql: string, options?: PrepareOptions): Statement {
    return this.#statements.get(sql, options);
  }

  close(): void {
    this.#statements.clear();
    this.#native.close();
  }
}

class BetterSqlite3Statement implements Statement {
  readonly #native: NativeStatement;

  constructor(native: NativeStatement) {
    this.#native = native;
  }

  run(...parameters: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number } {
    const { changes, lastInsertRowid } = this.#native.run(...parameters);
    return { changes, lastInsertRowid: Number(lastInsertRowid) };
  }

  get(...parameters: readonly SqlValue[]): SqlRow | undefined {
    return this.#native.get(...parameters);
  }

  all(...parameters: readonly SqlValue[]): readonly SqlRow[] {
    return this.#native.all(...parameters);
  }

  iterate(...parameters: readonly SqlValue[]): IterableIterator<SqlRow> {
    return this.#native.iterate(...parameters);
  }
}
