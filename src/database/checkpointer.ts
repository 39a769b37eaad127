import { pauseThread } from "../io/clock.ts";
import type { Connection } from "./connection.ts";
import { isLockError, toDatabaseError } from "./errors.ts";
import { jitterMs } from "./lock-wait.ts";

/** Above this size the log is made to start over. */
export const WAL_BYTES_MAX: number = 64 * 1024 * 1024;

/**
 * How often it is tried, and how long each try waits for a writer to commit and for readers to leave the log.
 * Writers wait meanwhile, readers never; without a wait a busy folder's log starts over by luck alone and was seen
 * at 450 MiB beside a database of 6.
 */
const RESTARTS_MAX = 8;
const RESTART_WAIT_MS = 10;

export type CheckpointMode = "passive" | "truncate";

/**
 * Moves committed pages from the log into the database file, off the threads that read and write.
 * Answers whether everything was moved (`truncate`: and the log emptied). One that fails loses nothing: the log keeps
 * what was not moved, and the next one moves and syncs all of it again.
 */
export function checkpoint(connection: Connection, mode: CheckpointMode, path: string): boolean {
  try {
    return move(connection, mode);
  } catch (error) {
    throw toDatabaseError(error, { path, outcome: "none" });
  }
}

function move(connection: Connection, mode: CheckpointMode): boolean {
  if (mode === "truncate") return run(connection, "TRUNCATE").complete;
  const { complete, pages } = run(connection, "PASSIVE");
  return pages * pageSizeOf(connection) > WAL_BYTES_MAX ? restart(connection) : complete;
}

function restart(connection: Connection): boolean {
  connection.exec(`PRAGMA busy_timeout = ${RESTART_WAIT_MS}`);
  try {
    for (let left = RESTARTS_MAX; left > 0; left -= 1) {
      if (run(connection, "RESTART").complete) return true;
      pauseThread(jitterMs());
    }
    return false;
  } finally {
    connection.exec("PRAGMA busy_timeout = 0");
  }
}

function run(
  connection: Connection,
  mode: "PASSIVE" | "RESTART" | "TRUNCATE",
): { readonly complete: boolean; readonly pages: number } {
  try {
    const row = connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
    const pages = Number(row?.log ?? -1);
    return { complete: row?.busy === 0 && pages === Number(row?.checkpointed), pages };
  } catch (error) {
    if (isLockError(error)) return { complete: false, pages: 0 };
    throw error;
  }
}

function pageSizeOf(connection: Connection): number {
  return Number(connection.prepare("PRAGMA page_size").get()?.page_size);
}
