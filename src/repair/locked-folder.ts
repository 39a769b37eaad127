import { join } from "node:path";
import type { Connection } from "../database/connection.ts";
import { openConnection } from "../database/drivers/open-connection.ts";
import { isDamageError, isLockError, toDatabaseError } from "../database/errors.ts";
import { holdAlone } from "../database/sole-database.ts";
import { HoldfastError } from "../errors/index.ts";

/**
 * Holds a database alone until it is let go, so that nothing is written that the repair does not see. `undefined` for a file
 * that SQLite cannot open.
 *
 * @throws BUSY when anybody has it open
 */
export function takeAlone(file: string): Connection | undefined {
  try {
    return holdAlone(file);
  } catch (error) {
    throw isLockError(error) ? inUse(file) : toDatabaseError(error, { path: file, outcome: "not-applied" });
  }
}

/**
 * Lets a database go. One that stays where it is gets its log back; one that was replaced must not: its log would have the
 * name of the other's.
 */
export function letGo(held: Connection, isReplaced: boolean): void {
  try {
    held.exec("ROLLBACK");
    if (!isReplaced) held.prepare("PRAGMA journal_mode = WAL").get();
  } catch (error) {
    if (!isDamageError(error)) throw error;
  } finally {
    held.close();
  }
}

export function inUse(path: string): HoldfastError {
  const message = `${path} is open in a process; stop everything that uses the memory, and repair again.`;
  return new HoldfastError("BUSY", message, { details: { path }, outcome: "not-applied" });
}

/** Holds the folder in which a repair works, so that no second one begins; ends with its process. */
export function holdWork(work: string): Connection {
  const connection = openConnection(join(work, "repair.lock"), { readOnly: false, mustExist: false });
  try {
    connection.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection.close();
    if (!isLockError(error)) throw error;
    const message = `Another repair is at work in ${work}; wait for it.`;
    throw new HoldfastError("BUSY", message, { details: { path: work }, outcome: "not-applied" });
  }
}
