import { basename, dirname, join, resolve, sep } from "node:path";
import type { BackupOptions, BackupProgress, BackupReceipt } from "../contract/backup.ts";
import { assertOptions, CALL_OPTIONS, type OptionNames } from "../contract/option-names.ts";
import { HoldfastError } from "../errors/index.ts";
import { schedule, systemClock } from "../io/clock.ts";
import { createPrivateFile, exists, makeFolder, realPathOf, sizeOf, syncFolder } from "../io/disk.ts";
import { mintId } from "../io/ids.ts";
import { type StepJob, type StepProgress, type Steps, type StepWatch, stepJob } from "../io/step-job.ts";
import { digestFile, freeBytesAt, removePath, renamePath, syncFile, writeNewFile } from "../io/whole-files.ts";
import { type CallBounds, withDeadline, within } from "./call.ts";
import type { Database } from "./database.ts";
import { toFolderError } from "./errors.ts";
import { DATABASE_FILE, MANIFEST_FILE } from "./folder-files.ts";
import { readPageCounts } from "./folder-operations.ts";
import { manifestText } from "./manifest.ts";
import { assertSound, contentOf, withStillDatabase } from "./whole-database.ts";

/** How often the growth of a copy is told. */
const REPORT_MS = 100;

const BACKUP_OPTIONS: OptionNames<BackupOptions> = { ...CALL_OPTIONS, onProgress: true };

/**
 * Backs up an open database into a new folder: a copy of one moment, checked by opening it, with a manifest of counts
 * and a checksum. The folder appears under its name when all of it is on the disk.
 */
export async function backupDatabase(
  database: Database,
  target: string,
  options: BackupOptions,
): Promise<BackupReceipt> {
  assertOptions(options, BACKUP_OPTIONS, "backup");
  const { onProgress, ...call } = options;
  if (typeof target !== "string" || target === "" || target.includes("\0"))
    throw new HoldfastError("INVALID_ARGUMENT", "Give the name of a new folder for the backup.");
  const bounds = withDeadline(call, "read");
  const part = preparePart(database, target);
  let copying: Promise<void> = Promise.resolve();
  try {
    const file = join(part.folder, DATABASE_FILE);
    copying = database.copyInto(file);
    await watched(copying, { file, total: part.neededBytes, bounds, onProgress });
    const { signal } = bounds;
    return await database.runSteps(sealBackup, part, { ...(signal && { signal }), ...toSteps(onProgress) });
  } catch (error) {
    // A copy whose caller has gone still comes to its end; what it wrote goes then.
    const remove = (): void => removePath(part.folder);
    if (bounds.signal?.aborted === true) void copying.then(remove, remove);
    else remove();
    throw error;
  }
}

/** Phases of the jobs here are those of {@link BackupProgress}. */
export function toSteps(onProgress: BackupOptions["onProgress"]): Pick<StepWatch, "onProgress"> {
  return onProgress === undefined ? {} : { onProgress: onProgress as (progress: StepProgress) => void };
}

/** Waits for a copy within the caller's bounds; the size of the file says how far it has come. */
async function watched(copying: Promise<void>, { file, total, bounds, onProgress }: Watched): Promise<void> {
  let stop: (() => void) | undefined;
  const report = (): void => {
    onProgress?.({ phase: "copying", done: Math.min(sizeOf(file), total), total });
    stop = schedule(REPORT_MS, report);
  };
  report();
  try {
    await within({ answer: copying, cancel: () => undefined }, bounds, "read");
  } finally {
    stop?.();
  }
}

interface Watched {
  readonly file: string;
  readonly total: number;
  readonly bounds: CallBounds;
  readonly onProgress: BackupOptions["onProgress"];
}

interface Part {
  /** Where the backup is made. */
  readonly folder: string;
  /** What it is called when it is whole. */
  readonly target: string;
  readonly neededBytes: number;
}

/** Refuses before anything is copied: a target that is there, or that lies in the memory's own folder, or has no room. */
function preparePart(database: Database, path: string): Part {
  const target = resolve(path);
  const { pages, freePages, pageBytes } = database.lookup(readPageCounts, null);
  const neededBytes = (pages - freePages) * pageBytes;
  try {
    if (exists(target)) {
      const message = `${path} exists already; name a folder that does not, so that no backup is written over.`;
      throw new HoldfastError("ALREADY_EXISTS", message, { details: { path } });
    }
    assertOutside(database, target, path);
    const parent = makeFolder(dirname(target));
    assertRoom(parent, neededBytes);
    const folder = makeFolder(join(parent, `.${basename(target)}.${mintId().slice(0, 8)}.part`));
    createPrivateFile(join(folder, DATABASE_FILE));
    return { folder, target: join(parent, basename(target)), neededBytes };
  } catch (error) {
    throw toFolderError(error, path);
  }
}

function assertOutside({ settings }: Database, target: string, path: string): void {
  if (settings.inMemory) return;
  const own = dirname(settings.path);
  let above = dirname(target);
  while (!exists(above)) above = dirname(above);
  if (!`${realPathOf(above)}${sep}`.startsWith(`${own}${sep}`)) return;
  throw new HoldfastError("INVALID_ARGUMENT", `${path} lies in the memory's own folder; name a folder elsewhere.`);
}

/** Asked before the work: a disk that is too small is no surprise at its end. */
export function assertRoom(folder: string, neededBytes: number): void {
  const freeBytes = freeBytesAt(folder);
  if (freeBytes >= neededBytes) return;
  const message = `${folder} has room for ${freeBytes} bytes and ${neededBytes} are needed; free space or name another disk.`;
  throw new HoldfastError("DISK_FULL", message, { details: { path: folder, freeBytes, neededBytes } });
}

/** Checks a copy by opening it, describes it, and gives the whole folder its name as the last step. */
export const sealBackup: StepJob<Part, BackupReceipt> = stepJob("database.seal-backup", function* (part) {
  try {
    return yield* seal(part);
  } catch (error) {
    throw toFolderError(error, part.target);
  }
});

function* seal({ folder, target }: Part): Steps<BackupReceipt> {
  const file = join(folder, DATABASE_FILE);
  const total = sizeOf(file);
  syncFile(file);
  yield { phase: "checking", done: 0, total };
  const content = withStillDatabase(file, true, (connection) => {
    assertSound(connection, file);
    return contentOf(connection);
  });
  const { bytes: sizeBytes, sha256 } = yield* inSteps(digestFile(file), "checking", total);
  const createdAt = new Date(systemClock.nowMicros() / 1_000).toISOString();
  const manifest = { ...content, createdAt, sizeBytes, sha256 };
  writeNewFile(join(folder, MANIFEST_FILE), manifestText(manifest));
  syncFolder(folder);
  yield { phase: "checking", done: total, total };
  if (exists(target)) {
    const message = `${target} appeared while the backup was made; name a folder that does not exist.`;
    throw new HoldfastError("ALREADY_EXISTS", message, { details: { path: target } });
  }
  renamePath(folder, target);
  syncFolder(dirname(target));
  return { path: target, ...manifest };
}

/** Bytes of a file that is read, as steps of a phase. */
export function* inSteps<Output>(
  bytes: Generator<number, Output, void>,
  phase: BackupProgress["phase"],
  total: number,
): Steps<Output> {
  try {
    for (let step = bytes.next(); ; step = bytes.next()) {
      if (step.done === true) return step.value;
      yield { phase, done: step.value, total };
    }
  } finally {
    bytes.return(undefined as Output);
  }
}
