import { HoldfastError } from "../errors/index.ts";
import { neverCancelled } from "../io/cancellation.ts";
import { mintId } from "../io/ids.ts";
import { WAL_BYTES_MAX } from "./checkpointer.ts";
import { type Connection, rollback } from "./connection.ts";
import { type FormatHistory, stepsFrom } from "./format-history.ts";
import { type LockBound, retryWhileLocked } from "./lock-wait.ts";
import type { DatabasePlan } from "./operation.ts";
import { upgradeFormat } from "./upgrade.ts";

/** "HOLD": tells our files from other people's. */
export const APPLICATION_ID = 0x484f4c44;

/** 1,643 bytes a 384-dimensional record against 2,056 at SQLite's default of 4096, and batches 1.8 times as fast. */
export const PAGE_SIZE_BYTES = 16_384;

export const META_SCHEMA = `
CREATE TABLE holdfast (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;`;

export interface PragmaSettings {
  readonly exclusive: boolean;
  /** SQLite checkpoints inside commits; otherwise the maintenance thread does. */
  readonly autoCheckpoint: boolean;
}

/** What every connection needs before its first statement. None of it writes. */
export function configure(connection: Connection, settings: PragmaSettings): void {
  if (settings.exclusive) connection.exec("PRAGMA locking_mode = EXCLUSIVE");
  connection.exec(`
    PRAGMA busy_timeout = 0;
    PRAGMA synchronous = FULL;
    PRAGMA secure_delete = ON;
    PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
    PRAGMA journal_size_limit = ${WAL_BYTES_MAX};
    PRAGMA wal_autocheckpoint = ${settings.autoCheckpoint ? 1000 : 0};`);
  if (process.platform === "darwin") connection.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;");
}

export interface Creation {
  readonly path: string;
  readonly bound: LockBound;
  readonly nowMicros: number;
  readonly exclusive: boolean;
}

/**
 * Makes the tables where there are none, from several processes at once (P12), and what an older format has into this
 * one's. Refuses what is foreign, damaged or of a newer format, by name and without writing (E6).
 */
export function prepareFormat(connection: Connection, plan: DatabasePlan, creation: Creation): void {
  retryWhileLocked(creation.bound, neverCancelled, () => {
    const version = formatOf(connection, creation.path, plan.formats);
    if (version === undefined) create(connection, plan, creation);
    else if (version < plan.formats.version) upgradeFormat(connection, plan.formats, { ...creation, from: version });
    useLog(connection);
  });
}

/** For a database that is only read: raises unless it is of this format. */
export function assertReadableFormat(connection: Connection, path: string, formats: FormatHistory): void {
  const version = formatOf(connection, path, formats);
  if (version === formats.version) return;
  const what = version === undefined ? "holds nothing yet" : `has the older format ${version}`;
  const message = `${path} ${what}, and is opened for reading only; open it once without readOnly.`;
  throw new HoldfastError("READ_ONLY", message, { details: { path, ...(version !== undefined && { version }) } });
}

function create(connection: Connection, plan: DatabasePlan, { path, nowMicros }: Creation): void {
  connection.exec(
    `PRAGMA page_size = ${PAGE_SIZE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;`,
  );
  connection.exec("BEGIN IMMEDIATE");
  try {
    if (formatOf(connection, path, plan.formats) === undefined) createTables(connection, plan, nowMicros);
    connection.exec("COMMIT");
  } catch (error) {
    rollback(connection);
    throw error;
  }
}

/** A backup, and so what is restored from one, is a file without a log. */
function useLog(connection: Connection): void {
  if (connection.prepare("PRAGMA journal_mode").get()?.journal_mode === "delete")
    connection.prepare("PRAGMA journal_mode = WAL").get();
}

function createTables(connection: Connection, plan: DatabasePlan, nowMicros: number): void {
  connection.exec(META_SCHEMA);
  for (const statements of plan.schema) connection.exec(statements);
  connection.prepare("INSERT INTO holdfast (one, epoch, created_at) VALUES (1, ?, ?)").run(mintId(), nowMicros);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${plan.formats.version};`);
}

/** The format version of a database of ours, or `undefined` for one that holds nothing yet. */
export function formatOf(connection: Connection, path: string, formats: FormatHistory): number | undefined {
  const applicationId = pragma(connection, "application_id");
  const version = pragma(connection, "user_version");
  if (applicationId === APPLICATION_ID) {
    if (stepsFrom(formats, version) === undefined) assertFormat(connection, path, formats);
    return version;
  }
  const tables = connection.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count;
  if (applicationId === 0 && version === 0 && tables === 0) return undefined;
  throw foreign(path);
}

export function foreign(path: string): HoldfastError {
  const message = `${path} is not Holdfast's and is left as it is; give the path of a new or empty folder.`;
  return new HoldfastError("FOREIGN_STORAGE", message, { details: { path } });
}

/** Writes the first page as it is: a commit that changes nothing. */
export function rewriteHeader(connection: Connection): void {
  connection.exec(`PRAGMA user_version = ${pragma(connection, "user_version")}`);
}

/** Checked inside every transaction, so that a handle that was open during an upgrade stops (E6). */
export function assertFormat(connection: Connection, path: string, { version: supported }: FormatHistory): void {
  const version = pragma(connection, "user_version");
  if (version === supported) return;
  const details = { path, version, supported };
  if (version > supported) {
    const message = `${path} has format ${version}; this version of Holdfast reads up to ${supported}: update the package.`;
    throw new HoldfastError("FORMAT_TOO_NEW", message, { details, outcome: "not-applied" });
  }
  throw new HoldfastError("DAMAGED", `${path} names format ${version}, which never existed.`, { details });
}

function pragma(connection: Connection, name: "application_id" | "user_version"): number {
  return Number(connection.prepare(`PRAGMA ${name}`).get()?.[name]);
}
