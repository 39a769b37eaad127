import { join } from "node:path";
import { listFolder } from "../io/disk.ts";
import { isProcessGone } from "../io/processes.ts";
import { removePath } from "../io/whole-files.ts";

/** What lies in a folder of ours, by name. SQLite puts `-wal` and `-shm` beside the database while it is open. */
export const DATABASE_FILE = "holdfast.db";

/** A backup's own description; a folder that holds one is a backup. */
export const MANIFEST_FILE = "backup.json";

/** A database that is being copied here; behind the prefix stands whose it is. */
const UNFINISHED = `${DATABASE_FILE}.part-`;

/** What the folder held before a restore, by time. */
export const REPLACED_PREFIX: string = `${DATABASE_FILE}.before-restore-`;

/** What the database was before it was upgraded, by format version. */
export const OLD_FORMAT_PREFIX: string = `${DATABASE_FILE}.format-`;

/** A name for an unfinished copy that says which process makes it. */
export function unfinishedName(process: string, id: string): string {
  return `${UNFINISHED}${encodeURIComponent(process)}-${id.slice(0, 8)}`;
}

/** The process that makes, or made, the unfinished copy of this name; `undefined` for any other file. */
export function makerOf(name: string): string | undefined {
  if (!name.startsWith(UNFINISHED)) return undefined;
  return decodeURIComponent(name.slice(UNFINISHED.length).replace(/-[^-]*$/, ""));
}

/** Whether the file is one that was set aside and is nobody's to open. */
export function isKept(name: string): boolean {
  return name.startsWith(REPLACED_PREFIX) || name.startsWith(OLD_FORMAT_PREFIX);
}

/** Removes copies whose makers ended before them. */
export function removeAbandoned(folder: string): void {
  for (const name of listFolder(folder) ?? []) {
    const maker = makerOf(name);
    if (maker !== undefined && isProcessGone(maker)) removePath(join(folder, name));
  }
}
