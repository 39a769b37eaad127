import { join } from "node:path";
import { DATABASE_FILE } from "../database/open-files.ts";
import { systemClock } from "../io/clock.ts";
import { exists, fileIdentityOf, listFolder, syncFolder } from "../io/disk.ts";
import { makeOwnFolder } from "../io/repair-files.ts";
import { cloneFile, linkFile, removePath, renamePath, syncFile } from "../io/whole-files.ts";
import { SET_ASIDE_PREFIX } from "../verify/file-checks.ts";

const LOG = `${DATABASE_FILE}-wal`;

/**
 * Gives the repaired database its place in one rename, and keeps the damaged one beside it. Ended at any step either of
 * them is there, whole; {@link undoInterrupted} takes back what came before the rename.
 *
 * Each `yield` is a place where a process may end; it is never left at one.
 *
 * @param isHeld - whether the damaged one is held alone, without a log
 * @returns where the damaged one is kept
 */
export function* placing(folder: string, work: string, isHeld: boolean): Generator<void, string> {
  const file = join(folder, DATABASE_FILE);
  const kept = keptFolder(folder);
  makeOwnFolder(kept);
  yield;
  keepUnder(file, join(kept, DATABASE_FILE));
  yield;
  renamePath(join(work, "rows.jsonl"), join(kept, "rows.jsonl"));
  yield;
  // The log of one database beside another would be played into it.
  if (!isHeld && exists(join(folder, LOG))) renamePath(join(folder, LOG), join(kept, LOG));
  removePath(join(folder, `${DATABASE_FILE}-shm`));
  syncFolder(kept);
  syncFolder(folder);
  yield;
  renamePath(join(work, DATABASE_FILE), file);
  syncFolder(folder);
  return kept;
}

/** A repair that was ended just before its rename has given the damaged database a second name, and put its log there. */
export function undoInterrupted(folder: string): void {
  const identity = fileIdentityOf(join(folder, DATABASE_FILE));
  for (const name of listFolder(folder) ?? []) {
    if (!name.startsWith(SET_ASIDE_PREFIX)) continue;
    const kept = join(folder, name);
    const database = join(kept, DATABASE_FILE);
    const isUnfinished = exists(database) ? fileIdentityOf(database) === identity : listFolder(kept)?.length === 0;
    if (!isUnfinished) continue;
    if (exists(join(kept, LOG)) && !exists(join(folder, LOG))) renamePath(join(kept, LOG), join(folder, LOG));
    removePath(kept);
  }
}

/** Gives a file a second name; where the file system has none, a copy. */
function keepUnder(from: string, to: string): void {
  try {
    linkFile(from, to);
  } catch {
    cloneFile(from, to);
    syncFile(to);
  }
}

function keptFolder(folder: string): string {
  const stamp = new Date(systemClock.nowMicros() / 1_000).toISOString().replace(/[-:]|\.\d+/g, "");
  for (let count = 1; ; count += 1) {
    const path = join(folder, `${SET_ASIDE_PREFIX}${stamp}${count === 1 ? "" : `-${count}`}`);
    if (!exists(path)) return path;
  }
}
