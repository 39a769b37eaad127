import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { systemClock } from "../io/clock.ts";
import { exists, makeFolder } from "../io/disk.ts";
import { mintId } from "../io/ids.ts";
import { cloneFile, removePath } from "../io/whole-files.ts";
import type { Connection } from "./connection.ts";
import { Database } from "./database.ts";
import { toDatabaseError, toFolderError } from "./errors.ts";
import { databaseStamp } from "./file-guard.ts";
import { assertReadableFormat } from "./format.ts";
import { InlineEngine } from "./inline-engine.ts";
import { openEngineConnection } from "./open-files.ts";
import type { DatabasePlan, EngineSettings } from "./operation.ts";
import { Reader } from "./reader.ts";
import { ThreadedEngine } from "./threaded-engine.ts";

/** How often a database that others change while it is copied is copied anew. */
const COPY_ATTEMPTS = 3;

export interface ReadOnlyDatabase {
  readonly database: Database;
  /** Removes what stands behind an open handle, once it is closed. */
  readonly remove: () => void;
}

/**
 * Opens a database to read it. Where nothing can be written, SQLite cannot make the two files by which a log is shared:
 * a database with a log is then read from a copy in the system's temporary folder, which goes with the handle. One without
 * a log, such as a backup, is read where it is.
 *
 * @param mayCopy - nobody of this process has the database open: reading its bytes would drop their locks
 */
export function startReadOnly(
  settings: EngineSettings,
  { plan, workerUrl, mayCopy }: { plan: DatabasePlan; workerUrl: URL | undefined; mayCopy: boolean },
): ReadOnlyDatabase {
  const { connection, settings: opened } = openToRead(settings, plan, mayCopy);
  const reader = new Reader(connection, plan, opened, systemClock);
  const database = new Database(opened, (onGone) =>
    workerUrl === undefined
      ? new InlineEngine(connection, { writer: undefined, reader }, { plan, settings: opened })
      : new ThreadedEngine(workerUrl, opened, reader, onGone),
  );
  const remove = (): void => {
    if (opened.copiedStamp !== undefined) removePath(dirname(opened.openPath));
  };
  return { database, remove };
}

interface Opened {
  readonly connection: Connection;
  readonly settings: EngineSettings;
}

function openToRead(settings: EngineSettings, plan: DatabasePlan, mayCopy: boolean): Opened {
  try {
    return { connection: openReadable(settings, plan), settings };
  } catch (error) {
    if (!mayCopy || !needsCopy(error)) throw error;
  }
  const copied = copyOf(settings);
  try {
    return { connection: openReadable(copied, plan), settings: copied };
  } catch (error) {
    removePath(dirname(copied.openPath));
    throw error;
  }
}

function openReadable(settings: EngineSettings, plan: DatabasePlan): Connection {
  const connection = openEngineConnection(settings, { autoCheckpoint: false });
  try {
    assertReadableFormat(connection, settings.path, plan.formats);
    return connection;
  } catch (error) {
    connection.close();
    throw toDatabaseError(error, { path: settings.path, outcome: "none" });
  }
}

const READONLY = 8;
const CANTOPEN = 14;

/** What SQLite says when it can neither make nor find the files by which a log is shared. */
function needsCopy(error: unknown): boolean {
  const { resultCode } = isHoldfastError(error) ? error.details : { resultCode: undefined };
  return resultCode === READONLY || resultCode === CANTOPEN;
}

/** The database and its log as they lie there. */
function copyOf(settings: EngineSettings): EngineSettings {
  const { path } = settings;
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt += 1) {
    const folder = join(tmpdir(), `holdfast-read-${mintId()}`);
    try {
      makeFolder(folder);
      const openPath = join(folder, basename(path));
      const before = databaseStamp(path);
      cloneFile(path, openPath);
      if (exists(`${path}-wal`)) cloneFile(`${path}-wal`, `${openPath}-wal`);
      if (databaseStamp(path) === before) return { ...settings, openPath, copiedStamp: before };
      removePath(folder);
    } catch (error) {
      removePath(folder);
      throw toFolderError(error, folder);
    }
  }
  const message = `${path} is being written by another process, and cannot be shared with it; try again later.`;
  throw new HoldfastError("BUSY", message, { details: { path } });
}
