import { neverCancelled } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";
import { sizeOf } from "../io/disk.ts";
import type { Connection } from "./connection.ts";
import { openConnection } from "./drivers/open-connection.ts";
import { isDamageError } from "./errors.ts";
import { retryWhileLocked } from "./lock-wait.ts";

/** How long a folder is asked for: a process that closes it just now is through by then. */
const LOCK_WAIT_MS = 2_000;

/**
 * Holds a database alone and without a log, until the connection is closed: every open handle contradicts that. `undefined`
 * for one that SQLite cannot open, which nobody can be kept from. Raises the native error when anybody has it open.
 */
export function holdAlone(file: string): Connection | undefined {
  if (isUnreadable(file)) return undefined;
  const connection = openConnection(file, { readOnly: false, mustExist: true });
  try {
    connection.exec("PRAGMA busy_timeout = 0");
    retryWhileLocked({ clock: systemClock, lockTimeoutMs: LOCK_WAIT_MS }, neverCancelled, () => lockAlone(connection));
    return connection;
  } catch (error) {
    connection.close();
    if (isDamageError(error)) return undefined;
    throw error;
  }
}

/** Asked by a connection that cannot write: closing any other would remove a log that cannot be read either. */
function isUnreadable(file: string): boolean {
  // SQLite removes the log of an empty file, whoever opens it.
  if (sizeOf(file) === 0) return true;
  let connection: Connection | undefined;
  try {
    connection = openConnection(file, { readOnly: true, mustExist: true });
    connection.prepare("SELECT count(*) AS count FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isDamageError(error)) return true;
    throw error;
  } finally {
    connection?.close();
  }
}

/** Leaving the log needs a database that nobody else has open; behind that the lock is an ordinary one. */
function lockAlone(connection: Connection): void {
  connection.prepare("PRAGMA journal_mode = DELETE").get();
  connection.exec("BEGIN EXCLUSIVE");
  if (connection.prepare("PRAGMA journal_mode").get()?.journal_mode === "delete") return;
  connection.exec("ROLLBACK");
  throw Object.assign(new Error("The database was opened between."), { code: "SQLITE_BUSY" });
}
