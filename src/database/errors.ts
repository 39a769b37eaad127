import { dirname } from "node:path";
import { type ErrorCode, type ErrorOutcome, HoldfastError, isHoldfastError } from "../errors/index.ts";
import { fileIdentityOf, refusalOfWriting, sizeOf } from "../io/disk.ts";
import { reasonOf, refusalOf } from "../io/system-errors.ts";
import { notInPlace } from "./file-guard.ts";

/** Where a folder's database lies; a store in memory has none. */
export const IN_MEMORY_PATH = ":memory:";

/** SQLite's primary result codes that have a code of ours; https://www.sqlite.org/rescode.html. */
const CODES: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map<number, readonly [ErrorCode, string]>([
  [3, ["READ_ONLY", "The database may not be written: check the permissions of the folder and its files."]],
  [5, ["BUSY", "The database is locked by another process; try again."]],
  [6, ["BUSY", "The database is locked by another connection; try again."]],
  [7, ["OUT_OF_RESOURCES", "SQLite got no memory: free some, or give smaller batches."]],
  [8, ["READ_ONLY", "The database cannot be written: check the permissions of the folder and its files."]],
  [
    10,
    ["IO_FAILED", "The disk or file system failed to read or write: check the medium, its space and the system's log."],
  ],
  [
    11,
    [
      "DAMAGED",
      "The database file is damaged, or its medium cannot be read; it is left as it is. Run `holdfast verify`.",
    ],
  ],
  [13, ["DISK_FULL", "The disk is full: free space and try again. Nothing acknowledged is lost."]],
  [
    14,
    [
      "IO_FAILED",
      "The database file could not be opened: check its folder, its permissions and the limit of file descriptors (`ulimit -n`).",
    ],
  ],
  [15, ["BUSY", "The database's log is locked by other processes; try again."]],
  [26, ["FOREIGN_STORAGE", "The file is not a Holdfast database; it is left as it is."]],
]);

/** Codes behind which the system's own reason is looked for: permission, read-only, I/O error, cannot open. */
const HIDE_A_REASON: ReadonlySet<number> = new Set([3, 8, 10, 14]);

/** Both drivers' errors carry the result code, each in its own way. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ["SQLITE_PERM", 3],
  ["SQLITE_BUSY", 5],
  ["SQLITE_LOCKED", 6],
  ["SQLITE_NOMEM", 7],
  ["SQLITE_READONLY", 8],
  ["SQLITE_IOERR", 10],
  ["SQLITE_CORRUPT", 11],
  ["SQLITE_FULL", 13],
  ["SQLITE_CANTOPEN", 14],
  ["SQLITE_PROTOCOL", 15],
  ["SQLITE_NOTADB", 26],
]);

/** A damaged database. */
const CORRUPT = 11;

/** The primary result code of a native error, or `undefined` when it is none of SQLite's. */
export function resultCodeOf(error: unknown): number | undefined {
  if (isUnknownFormat(error)) return CORRUPT;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  if (typeof code !== "string" || !code.startsWith("SQLITE_")) return undefined;
  const [, primary] = code.split("_");
  return NAMES.get(`SQLITE_${primary}`);
}

/** A number of SQLite's own format that does not exist: SQLite gives it no code of its own. */
function isUnknownFormat(error: unknown): boolean {
  return error instanceof Error && error.message === "unsupported file format";
}

/** True when a lock was not free: the one native error that waiting mends. */
export function isLockError(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === 5 || code === 6;
}

/** True when a row cannot be what it says: a constraint of its table, a type, a size. */
export function isRowError(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return ROW_CODES.has(errcode & 0xff);
  return typeof code === "string" && /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test(code);
}

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH. */
const ROW_CODES: ReadonlySet<number> = new Set([18, 19, 20]);

/** True when SQLite found what it read to be damaged, or to be no database at all. */
export function isDamageError(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === 11 || code === 26;
}

/** Errors of the file system that say something of the path that was given; `errno` names as Node gives them. */
const PATH_CODES: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map<string, readonly [ErrorCode, string]>([
  ["ENOTDIR", ["FOREIGN_STORAGE", "The path, or a part of it, is a file and no folder; it is left as it is."]],
  ["EEXIST", ["FOREIGN_STORAGE", "The path is a file and no folder; it is left as it is."]],
  [
    "ENAMETOOLONG",
    ["INVALID_ARGUMENT", "The path, or a name in it, is too long for the file system: name another folder."],
  ],
  [
    "ELOOP",
    ["INVALID_ARGUMENT", "The path has too many symbolic links, or they run in a circle: name another folder."],
  ],
]);

/** What went wrong while a folder was prepared, with its path. */
export function toFolderError(error: unknown, path: string): HoldfastError {
  if (isHoldfastError(error)) return error;
  const refused = refusalOf(reasonOf(error), { path, cause: error });
  if (refused !== undefined) return refused;
  const reason = (error as { code?: string }).code ?? "unknown";
  const [code, message] = PATH_CODES.get(reason) ?? [
    "IO_FAILED",
    `The folder could not be prepared, the system says ${reason}: check the path, or name another folder.`,
  ];
  return new HoldfastError(code, `${message} (${path})`, { cause: error, details: { path, reason } });
}

/** The one place where the driver's errors become ours; an error of ours passes as it is. */
export function toDatabaseError(
  error: unknown,
  context: { readonly path: string; readonly outcome: ErrorOutcome },
): HoldfastError {
  if (isHoldfastError(error)) return error;
  const { path, outcome } = context;
  const resultCode = resultCodeOf(error);
  const details = { path, ...(resultCode !== undefined && { resultCode }) };
  if (resultCode !== undefined && HIDE_A_REASON.has(resultCode) && path !== IN_MEMORY_PATH) {
    if (fileIdentityOf(path) === undefined) return notInPlace(path, { file: path, outcome, cause: error });
    const refused = refusalOf(reasonOfFailure(path), { path, cause: error, details, outcome });
    if (refused !== undefined) return refused;
  }
  const [code, message] = (resultCode === undefined ? undefined : CODES.get(resultCode)) ??
    (isOutOfMemory(error) ? CODES.get(7) : undefined) ?? ["BUG", "Unexpected database error:"];
  const rest = code === "BUG" ? (error instanceof Error ? error.message : String(error)) : `(${path})`;
  return new HoldfastError(code, `${message} ${rest}`, { cause: error, details, outcome });
}

/** SQLite says that it could not; the system says why, when it is asked to write beside the database. */
function reasonOfFailure(path: string): string | undefined {
  return refusalOfWriting(dirname(path), Math.max(sizeOf(path), sizeOf(`${path}-wal`)));
}

/** V8's errors for memory that it does not get. */
function isOutOfMemory(error: unknown): boolean {
  const { code, message, name } = error as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly name?: unknown;
  };
  if (code === "ERR_MEMORY_ALLOCATION_FAILED") return true;
  return (
    name === "RangeError" && /allocation failed|could not allocate|unable to grow|out of memory/i.test(String(message))
  );
}

/** What a handle that failed answers, and why it failed (E10). */
export function handleFailed(cause: unknown): HoldfastError {
  const message =
    "This handle failed earlier (see `cause`) and takes no more calls; close it and open the folder again.";
  return new HoldfastError("FAILED", message, { outcome: "not-applied", cause });
}
