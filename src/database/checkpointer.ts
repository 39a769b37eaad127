import type { Connection } from "./connection.ts";
import { isLockError } from "./errors.ts";

/** Above this size the log is made to start over, which waits for readers, never for long. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;

export type CheckpointMode = "passive" | "truncate";

/**
 * Moves committed pages from the log into the database file, off the threads that read and write.
 * Answers whether everything was moved (`truncate`: and the log emptied).
 */
export function checkpoint(connection: Connection, mode: CheckpointMode): boolean {
  if (mode === "truncate") return run(connection, "TRUNCATE").complete;
  const { complete, pages } = run(connection, "PASSIVE");
  if (pages * pageSizeOf(connection) > WAL_BYTES_MAX) return run(connection, "RESTART").complete;
  return complete;
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
