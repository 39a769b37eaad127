import { join } from "node:path";
import { HoldfastError } from "../errors/index.ts";
import { neverCancelled } from "../io/cancellation.ts";
import { systemClock } from "../io/clock.ts";
import {
  createPrivateFile,
  exists,
  listFolder,
  makeFolder,
  realPathOf,
  sharedFileSystemOf,
  sizeOf,
  syncFolder,
} from "../io/disk.ts";
import type { Connection } from "./connection.ts";
import { openConnection } from "./drivers/open-connection.ts";
import { IN_MEMORY_PATH, toDatabaseError, toFolderError } from "./errors.ts";
import { DATABASE_FILE, isKept, MANIFEST_FILE, makerOf, removeAbandoned } from "./folder-files.ts";
import { configure, foreign } from "./format.ts";
import { retryWhileLocked } from "./lock-wait.ts";
import type { EngineSettings } from "./operation.ts";

export { DATABASE_FILE } from "./folder-files.ts";

export interface FolderOptions {
  /** One process alone, one connection: for file systems that several cannot share. */
  readonly exclusive: boolean;
  /** Makes the folder and the file where there are none. */
  readonly create: boolean;
}

/** Makes or finds the folder and answers the real path of its database (E5, E6, E13, P12). */
export function prepareFolder(path: string, options: FolderOptions): string {
  try {
    return findOrMakeFolder(path, options);
  } catch (error) {
    throw toFolderError(error, path);
  }
}

/** The real path of the database of a folder that is there, whatever is in it; NOT_FOUND and FOREIGN_STORAGE where there is none. */
export function findFolder(path: string): string {
  try {
    const names = listFolder(path);
    if (names === undefined || names.length === 0) throw missing(path);
    if (!names.includes(DATABASE_FILE)) throw names.some(isKept) ? interrupted(path) : foreign(path);
    return realPathOf(join(path, DATABASE_FILE));
  } catch (error) {
    throw toFolderError(error, path);
  }
}

function findOrMakeFolder(path: string, options: FolderOptions): string {
  const names = listFolder(path)?.filter((name) => makerOf(name) === undefined);
  if (names === undefined && !options.create) throw missing(path);
  if (names?.includes(MANIFEST_FILE) && options.create) throw isBackup(path);
  if (names !== undefined && names.length > 0 && !names.includes(DATABASE_FILE))
    throw names.some(isKept) ? interrupted(path) : foreign(path);
  const folder = options.create ? makeFolder(path) : realPathOf(path);
  if (options.create) removeAbandoned(folder);
  const shared = sharedFileSystemOf(folder);
  if (shared !== undefined && !options.exclusive) throw unsupported(folder, shared);
  const file = join(folder, DATABASE_FILE);
  if (!exists(file)) {
    if (!options.create) throw missing(path);
    createPrivateFile(file);
    syncFolder(folder);
  }
  assertNotEmptied(file);
  return realPathOf(file);
}

/**
 * The log is made behind the first page of its database: beside an empty one it is what is left of it, and SQLite would
 * remove it. It is looked at first, so that a database that is being made is not taken for one.
 */
function assertNotEmptied(file: string): void {
  if (sizeOf(`${file}-wal`) === 0 || sizeOf(file) > 0) return;
  const message = `${file} was emptied, and its log is still there; both are left as they are: restore a backup.`;
  throw new HoldfastError("DAMAGED", message, { details: { path: file } });
}

/** A connection of this thread, set up and ready; raises typed errors that name the file. */
export function openEngineConnection(
  settings: EngineSettings,
  pragmas: { readonly autoCheckpoint: boolean },
): Connection {
  const { path, lockTimeoutMs } = settings;
  let connection: Connection | undefined;
  try {
    // Another process may hold the file for a moment: while it makes the tables, or closes as the last one.
    retryWhileLocked({ clock: systemClock, lockTimeoutMs }, neverCancelled, () => {
      connection = openConfigured(settings, pragmas.autoCheckpoint);
    });
  } catch (error) {
    throw toDatabaseError(error, { path, outcome: "none" });
  }
  if (connection === undefined) throw new HoldfastError("BUG", "A connection was opened and is not there.");
  return connection;
}

function openConfigured(settings: EngineSettings, autoCheckpoint: boolean): Connection {
  const { openPath, inMemory, exclusive, readOnly } = settings;
  const connection = openConnection(inMemory ? IN_MEMORY_PATH : openPath, { readOnly, mustExist: !inMemory });
  try {
    configure(connection, { exclusive, autoCheckpoint });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function isBackup(path: string): HoldfastError {
  const message = `${path} is a backup, and stays one: restore it into another folder, or open it with readOnly: true.`;
  return new HoldfastError("READ_ONLY", message, { details: { path } });
}

function interrupted(path: string): HoldfastError {
  const message = `${path} was being restored, and that was interrupted; restore the backup again (replace: true, --replace).`;
  return new HoldfastError("DAMAGED", message, { details: { path } });
}

function missing(path: string): HoldfastError {
  return new HoldfastError("NOT_FOUND", `There is no Holdfast folder at ${path}.`, { details: { path } });
}

function unsupported(folder: string, fileSystem: string): HoldfastError {
  const message =
    `${folder} lies on ${fileSystem}, whose locks do not hold between machines: ` +
    "use a local disk, or open it from one process alone with `exclusive: true`.";
  return new HoldfastError("UNSUPPORTED_FILESYSTEM", message, { details: { path: folder, fileSystem } });
}
