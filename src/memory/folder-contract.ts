import type { BackupOptions, BackupReceipt } from "../contract/backup.ts";

/** What a memory does with its folder as a whole, all tenants with it. */
export interface FolderCalls {
  /**
   * Backs up the folder into a new one while reads and writes go on: a copy of one moment, opened and checked, with a
   * manifest of counts and a checksum. The folder appears under its name when all of it is on the disk.
   * It holds every tenant's data, so that what is forgotten later stays in it (E14).
   *
   * @param target - a folder that does not exist, outside the memory's own; its parents are made
   * @throws ALREADY_EXISTS, INVALID_ARGUMENT, DISK_FULL, READ_ONLY (the target's folder), DAMAGED, ABORTED, TIMEOUT
   */
  backup(target: string, options?: BackupOptions): Promise<BackupReceipt>;
}
