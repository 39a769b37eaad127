import { systemClock } from "../io/clock.ts";
import { fileIdentityOf } from "../io/disk.ts";
import { assertOurs } from "./assert-ours.ts";
import { Database } from "./database.ts";
import { IN_MEMORY_PATH, toDatabaseError } from "./errors.ts";
import { prepareFormat } from "./format.ts";
import { InlineEngine } from "./inline-engine.ts";
import { openEngineConnection, prepareFolder } from "./open-files.ts";
import type { DatabasePlan, EngineSettings } from "./operation.ts";
import { startReadOnly } from "./read-only.ts";
import { Reader } from "./reader.ts";
import { ThreadedEngine } from "./threaded-engine.ts";
import { Writer } from "./writer.ts";

export interface DatabaseOptions {
  /** A folder; made when missing. Absent for a database in memory. */
  readonly path?: string;
  /** `workers` (default) keeps the calling thread free; `inline` runs all of it there. */
  readonly threads?: "workers" | "inline";
  /** One process alone, one connection. Default false. */
  readonly exclusive?: boolean;
  /**
   * Only reads, and changes nothing in the folder: calls that would are refused with READ_ONLY. The folder has to be there.
   * Default false.
   */
  readonly readOnly?: boolean;
  /** How long a write waits for other processes, in milliseconds; default 10,000 (E4). */
  readonly lockTimeoutMs?: number;
  /** How long the answer of a call that names an idempotency key is kept, in milliseconds; default 7 days (V17). */
  readonly receiptRetentionMs?: number;
  /** Bytes of vectors and columns kept in memory; default 512 MiB (E9). */
  readonly memoryBudgetBytes?: number;
}

export interface OpenDatabase {
  readonly database: Database;
  /** Gives this holder's claim back; the last one closes, as {@link Database.close} does. */
  release(withinMs?: number): Promise<void>;
}

/** A week: whoever retries for longer has lost the thread. */
const RECEIPT_RETENTION_MS = 7 * 86_400_000;

interface Shared {
  readonly database: Database;
  /** Removes what is left behind a closed handle. */
  readonly remove?: () => void;
  holders: number;
}

/**
 * Open folders of this process by real path: one engine a folder, since closing any other descriptor
 * of the file would drop SQLite's locks (E13). Those that only read stand apart, with a NUL behind their path.
 */
const openFolders = new Map<string, Shared>();

/** Whether this process has the database open: then its files are touched through SQLite alone (E13). */
export function isOpenHere(file: string): boolean {
  return databasesOpenHere().includes(file);
}

/** Opens a folder, or joins the engine that this process has on it already. */
export function openDatabase(options: DatabaseOptions, plan: DatabasePlan, workerUrl: URL): OpenDatabase {
  if (options.path === undefined) {
    const database = startInline(settingsOf(options, IN_MEMORY_PATH), plan);
    return { database, release: (withinMs) => database.close(withinMs) };
  }
  const { path, exclusive = false, readOnly = false } = options;
  const file = prepareFolder(path, { exclusive, create: !readOnly });
  const key = readOnly ? `${file}\0` : file;
  const open = openFolders.get(key);
  const shared =
    open !== undefined && isUsable(open, file) ? open : startShared(key, file, { options, plan, workerUrl });
  shared.holders += 1;
  let released: Promise<void> | undefined;
  return { database: shared.database, release: (withinMs) => (released ??= release(key, shared, withinMs)) };
}

/** Real paths of the databases that this process has open. */
export function databasesOpenHere(): readonly string[] {
  return [...openFolders.keys()].map((key) => key.replace("\0", ""));
}

/** An engine that failed, or whose files were replaced, is left to the handles that it has. */
function isUsable({ database }: Shared, file: string): boolean {
  return database.isOpen && database.settings.fileIdentity === fileIdentityOf(file);
}

interface Opening {
  readonly options: DatabaseOptions;
  readonly plan: DatabasePlan;
  readonly workerUrl: URL;
}

function startShared(key: string, file: string, { options, plan, workerUrl }: Opening): Shared {
  const settings = settingsOf(options, file);
  const inline = options.threads === "inline" || settings.exclusive;
  const start = (): Pick<Shared, "database" | "remove"> => {
    if (settings.readOnly) {
      const mayCopy = !databasesOpenHere().includes(file);
      return startReadOnly(settings, { plan, workerUrl: inline ? undefined : workerUrl, mayCopy });
    }
    return { database: inline ? startInline(settings, plan) : startThreaded(settings, plan, workerUrl) };
  };
  const shared = { ...start(), holders: 0 };
  openFolders.set(key, shared);
  return shared;
}

async function release(key: string, shared: Shared, withinMs?: number): Promise<void> {
  shared.holders -= 1;
  if (shared.holders > 0) return shared.database.settled(withinMs);
  if (openFolders.get(key) === shared) openFolders.delete(key);
  await shared.database.close(withinMs);
  shared.remove?.();
}

function settingsOf(options: DatabaseOptions, path: string): EngineSettings {
  return {
    path,
    fileIdentity: path === IN_MEMORY_PATH ? undefined : fileIdentityOf(path),
    lockTimeoutMs: options.lockTimeoutMs ?? 10_000,
    receiptRetentionMs: options.receiptRetentionMs ?? RECEIPT_RETENTION_MS,
    memoryBudgetBytes: options.memoryBudgetBytes ?? 512 * 1024 * 1024,
    inMemory: path === IN_MEMORY_PATH,
    exclusive: options.exclusive ?? false,
    readOnly: options.readOnly ?? false,
    openPath: path,
    copiedStamp: undefined,
  };
}

function startInline(settings: EngineSettings, plan: DatabasePlan): Database {
  const connection = openPrepared(settings, plan, true);
  const writer = new Writer(connection, plan, settings, systemClock);
  const reader = new Reader(connection, plan, settings, systemClock);
  return new Database(settings, () => new InlineEngine(connection, { writer, reader }, { plan, settings }));
}

function startThreaded(settings: EngineSettings, plan: DatabasePlan, workerUrl: URL): Database {
  const connection = openPrepared(settings, plan, false);
  const lookups = new Reader(connection, plan, settings, systemClock);
  try {
    return new Database(settings, (onGone) => new ThreadedEngine(workerUrl, settings, lookups, onGone));
  } catch (error) {
    lookups.close();
    throw error;
  }
}

function openPrepared(
  settings: EngineSettings,
  plan: DatabasePlan,
  autoCheckpoint: boolean,
): ReturnType<typeof openEngineConnection> {
  assertOurs(settings, plan);
  const connection = openEngineConnection(settings, { autoCheckpoint });
  try {
    const bound = { clock: systemClock, lockTimeoutMs: settings.lockTimeoutMs };
    const { path, exclusive } = settings;
    prepareFormat(connection, plan, { path, exclusive, bound, nowMicros: systemClock.nowMicros() });
    return connection;
  } catch (error) {
    connection.close();
    throw toDatabaseError(error, { path: settings.path, outcome: "none" });
  }
}
