import { HoldfastError } from "../errors/index.ts";
import { neverCancelled } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";
import type { Connection } from "./connection.ts";
import { openConnection } from "./drivers/open-connection.ts";
import { resultCodeOf, toDatabaseError } from "./errors.ts";
import { retryWhileLocked } from "./lock-wait.ts";

/** How long a copy waits for a lock that is held for a moment, such as while another process closes. */
const LOCK_WAIT_MS = 10_000;

/**
 * Writes all of a database as of one moment into an empty file, beside any traffic: one snapshot, without what was
 * deleted. The copy is a plain file, without a log, and can be read from a medium that cannot be written.
 */
export function copyDatabase(connection: Connection, file: string): void {
  try {
    retryWhileLocked({ clock: systemClock, lockTimeoutMs: LOCK_WAIT_MS }, neverCancelled, () => {
      connection.prepare("VACUUM INTO ?").run(file);
    });
  } catch (error) {
    const damaged = resultCodeOf(error) === CORRUPT;
    throw toDatabaseError(error, { path: damaged ? fileOf(connection) : file, outcome: "none" });
  }
}

const CORRUPT = 11;

function fileOf(connection: Connection): string {
  return String(connection.prepare("PRAGMA database_list").get()?.file);
}

/** What a database says of itself. */
export interface DatabaseContent {
  readonly format: number;
  readonly epoch: string;
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Runs `read` on a database that lies still and is closed again; its errors name the file. */
export function withStillDatabase<T>(path: string, readOnly: boolean, read: (connection: Connection) => T): T {
  let connection: Connection | undefined;
  try {
    connection = openConnection(path, { readOnly, mustExist: true });
    return read(connection);
  } catch (error) {
    throw toDatabaseError(error, { path, outcome: "none" });
  } finally {
    connection?.close();
  }
}

/** SQLite's own check of every page and index. */
export function assertSound(connection: Connection, path: string): void {
  const [finding] = connection.prepare("PRAGMA integrity_check(1)").all();
  if (finding?.integrity_check === "ok") return;
  const message = `${path} is damaged (${String(finding?.integrity_check)}).`;
  throw new HoldfastError("DAMAGED", message, { details: { path } });
}

export function contentOf(connection: Connection): DatabaseContent {
  const tables = connection
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
    .all()
    .map(({ name }) => String(name));
  const count = (table: string): number =>
    Number(connection.prepare(`SELECT count(*) AS count FROM "${table.replaceAll('"', '""')}"`).get()?.count);
  return {
    format: Number(connection.prepare("PRAGMA user_version").get()?.user_version),
    epoch: String(connection.prepare("SELECT epoch FROM holdfast").get()?.epoch),
    rows: Object.fromEntries(tables.map((table) => [table, count(table)])),
  };
}
