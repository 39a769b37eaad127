import type { RestoreOptions, RestoreReceipt } from "./contract/backup.ts";
import { assertOptions, CALL_OPTIONS, type OptionNames } from "./contract/option-names.ts";
import { restoreBackup } from "./database/restore.ts";
import { HoldfastError } from "./errors/index.ts";
import { WORKER_URL } from "./plan.ts";

const RESTORE_OPTIONS: OptionNames<RestoreOptions> = {
  ...CALL_OPTIONS,
  onProgress: true,
  replace: true,
  threads: true,
};

/**
 * Makes a folder what a backup says. Everything is checked first: the manifest, the file's length and checksum, the rows
 * of each table in the copy, opened. Until the last step, one rename, the folder is what it was. The backup is not changed.
 *
 * A folder that is open, here or in another process, is refused. With `replace` what it held is kept beside it. The
 * restored folder has a new epoch: cursors of `changes` from before raise CURSOR_EXPIRED.
 *
 * @param backup - the folder that `backup` made
 * @param folder - a folder that does not exist, is empty, or with `replace` holds a memory
 * @throws NOT_FOUND, FOREIGN_STORAGE, DAMAGED, FORMAT_TOO_NEW, ALREADY_EXISTS, BUSY, DISK_FULL, READ_ONLY, INVALID_ARGUMENT,
 *   ABORTED, TIMEOUT
 */
export async function restore(backup: string, folder: string, options: RestoreOptions = {}): Promise<RestoreReceipt> {
  assertOptions(options, RESTORE_OPTIONS, "restore");
  const { replace, threads } = options;
  if (replace !== undefined && typeof replace !== "boolean") throw invalid("replace is true or false.");
  if (threads !== undefined && threads !== "workers" && threads !== "inline")
    throw invalid('threads is "workers" or "inline".');
  for (const path of [backup, folder])
    if (typeof path !== "string" || path === "" || path.includes("\0")) throw invalid("Give the names of two folders.");
  return restoreBackup(backup, folder, options, WORKER_URL);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
