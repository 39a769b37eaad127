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

/** The part of node:sqlite that we call. */
interface NativeStatement {
  setReadBigInts(on: boolean): void;
  run(...parameters: readonly SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...parameters: readonly SqlValue[]): SqlRow | undefined;
  all(...parameters: readonly SqlValue[]): readonly SqlRow[];
  iterate(...parameters: readonly SqlValue[]): IterableIterator<SqlRow>;
}
interface NativeDatabase {
  readonly isOpen: boolean;
  exec(sql: string): void;
  prepare(sql: string): NativeStatement;
  close(): void;
}
type NativeConstructor = new (path: string, options: object) => NativeDatabase;

/**
 * From Node 24: nothing to compile. Not used on Node 22, whose `node:sqlite` cuts a text at NUL when
 * it reads it.
 */
export function openNodeSqlite(path: string, options: DriverOptions): Connection {
  const { DatabaseSync } = createRequire(import.meta.url)("node:sqlite") as { DatabaseSync: NativeConstructor };
  const native = new DatabaseSync(path, {
    timeout: 0,
    readOnly: options.readOnly,
    enableForeignKeyConstraints: false,
  });
  return new NodeSqliteConnection(native);
}

class NodeSqliteConnection implements Connection {
  readonly #native: NativeDatabase;
  readonly #statements: StatementCache;

  constructor(native: NativeDatabase) {
    this.#native = native;
    this.#statements = new StatementCache((sql, bigints) => {
      const statement = native.prepare(sql);
      if (bigints) statement.setReadBigInts(true);
      return new NodeSqliteStatement(statement);
    });
  }

  /** Asked when it is wanted: a statement may find the file locked. */
  get driver(): Connection["driver"] {
    const version = this.#native.prepare("SELECT sqlite_version() AS version").get();
    return { name: "node:sqlite", sqliteVersion: String(version?.version) };
  }

  exec(sql: string): void {
    this.#native.exec(sql);
  }

  prepare(sql: string, options?: PrepareOptions): Statement {
    return this.#statements.get(sql, options);
  }

  close(): void {
    this.#statements.clear();
    if (this.#native.isOpen) this.#native.close();
  }
}

class NodeSqliteStatement implements Statement {
  readonly #native: NativeStatement;

  constructor(native: NativeStatement) {
    this.#native = native;
  }

  run(...parameters: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number } {
    const { changes, lastInsertRowid } = this.#native.run(...parameters);
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
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
