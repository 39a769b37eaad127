/** What a column holds. Integers come back as `number`, or as `bigint` where the statement was prepared with `bigints`. */
export type SqlValue = string | number | bigint | Uint8Array | null;

export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A compiled statement of one connection. Not re-entrant: never start it again while its iterator is open. */
export interface Statement {
  /** Runs it; answers how many rows it changed and the last row id that the connection inserted. */
  run(...parameters: readonly SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  get(...parameters: readonly SqlValue[]): SqlRow | undefined;
  all(...parameters: readonly SqlValue[]): readonly SqlRow[];
  iterate(...parameters: readonly SqlValue[]): IterableIterator<SqlRow>;
}

export interface PrepareOptions {
  /** Reads every integer column as `bigint`: for columns that may hold more than 2^53. */
  readonly bigints?: boolean;
}

/**
 * One SQLite connection, bound to the thread that opened it. All calls are synchronous and
 * never wait for a lock (`busy_timeout` is 0): a lock that is not free raises the native error.
 */
export interface Connection {
  /** The driver's name and SQLite's version, for `stats`. */
  readonly driver: { readonly name: "better-sqlite3" | "node:sqlite"; readonly sqliteVersion: string };
  exec(sql: string): void;
  /** Compiles `sql`; the statements used last are kept ({@link STATEMENTS_KEPT_MAX}). */
  prepare(sql: string, options?: PrepareOptions): Statement;
  /** Idempotent. */
  close(): void;
}

/** Ends a transaction that failed. Where SQLite has done so by itself, as on a full disk, there is none left to end. */
export function rollback(connection: Connection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // What matters is the error that came before.
  }
}

/** Compiled statements that a connection keeps; filters make texts without end. */
const STATEMENTS_KEPT_MAX = 512;

/** Statements by their text, the one used longest ago dropped first. */
export class StatementCache {
  readonly #statements = new Map<string, Statement>();
  readonly #compile: (sql: string, bigints: boolean) => Statement;

  constructor(compile: (sql: string, bigints: boolean) => Statement) {
    this.#compile = compile;
  }

  get(sql: string, options?: PrepareOptions): Statement {
    const bigints = options?.bigints === true;
    const key = bigints ? `bigints ${sql}` : sql;
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      statement = this.#compile(sql, bigints);
      const oldest = this.#statements.keys().next();
      if (this.#statements.size >= STATEMENTS_KEPT_MAX && oldest.done !== true) this.#statements.delete(oldest.value);
    } else {
      this.#statements.delete(key);
    }
    this.#statements.set(key, statement);
    return statement;
  }

  clear(): void {
    this.#statements.clear();
  }
}
