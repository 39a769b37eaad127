import { type ErrorCode, type ErrorOutcome, HoldfastError, isHoldfastError } from "../errors/index.ts";

/** SQLite's primary result codes that have a code of ours; https://www.sqlite.org/rescode.html. */
const CODES: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map<number, readonly [ErrorCode, string]>([
  [5, ["BUSY", "The database is locked by another process; try again."]],
  [6, ["BUSY", "The database is locked by another connection; try again."]],
  [8, ["READ_ONLY", "The database cannot be written: check the permissions of the folder and its files."]],
  [10, ["FAILED", "The disk answered with an I/O error; close, check the medium and open again."]],
  [11, ["DAMAGED", "The database file is damaged; it is left as it is."]],
  [13, ["DISK_FULL", "The disk or the quota is full; free space and try again. Nothing acknowledged is lost."]],
  [
    14,
    [
      "FAILED",
      "The database file could not be opened: check that the folder exists, its permissions and the limit of open files.",
    ],
  ],
  [26, ["FOREIGN_STORAGE", "The file is not a Holdfast database; it is left as it is."]],
]);

/** Both drivers' errors carry the result code, each in its own way. */
const NAMES: ReadonlyMap<string, number> = new Map([
  ["SQLITE_BUSY", 5],
  ["SQLITE_LOCKED", 6],
  ["SQLITE_READONLY", 8],
  ["SQLITE_IOERR", 10],
  ["SQLITE_CORRUPT", 11],
  ["SQLITE_FULL", 13],
  ["SQLITE_CANTOPEN", 14],
  ["SQLITE_NOTADB", 26],
]);

/** The primary result code of a native error, or `undefined` when it is none of SQLite's. */
export function resultCodeOf(error: unknown): number | undefined {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  if (typeof code !== "string" || !code.startsWith("SQLITE_")) return undefined;
  const [, primary] = code.split("_");
  return NAMES.get(`SQLITE_${primary}`);
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

/** Errors of the file system that have a code of ours; `errno` names as Node gives them. */
const FOLDER_CODES: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map<string, readonly [ErrorCode, string]>([
  ["ENOTDIR", ["FOREIGN_STORAGE", "The path, or a part of it, is a file and no folder; it is left as it is."]],
  ["EEXIST", ["FOREIGN_STORAGE", "The path is a file and no folder; it is left as it is."]],
  ["EACCES", ["READ_ONLY", "The folder cannot be read or written: check its permissions."]],
  ["EPERM", ["READ_ONLY", "The folder cannot be written: check its permissions."]],
  ["EROFS", ["READ_ONLY", "The file system is read-only."]],
  ["ENOSPC", ["DISK_FULL", "The disk is full; free space and try again."]],
  ["EDQUOT", ["DISK_FULL", "The quota is full; free space and try again."]],
]);

/** What went wrong while a folder was prepared, with its path. */
export function toFolderError(error: unknown, path: string): HoldfastError {
  if (isHoldfastError(error)) return error;
  const reason = (error as { code?: string }).code ?? "unknown";
  const [code, message] = FOLDER_CODES.get(reason) ?? [
    "FAILED",
    `The folder could not be prepared: the system says ${reason}; name another folder.`,
  ];
  return new HoldfastError(code, `${message} (${path})`, { cause: error, details: { path, reason } });
}

/** The one place where the driver's errors become ours; an error of ours passes as it is. */
export function toDatabaseError(
  error: unknown,
  context: { readonly path: string; readonly outcome: ErrorOutcome },
): HoldfastError {
  if (isHoldfastError(error)) return error;
  const resultCode = resultCodeOf(error);
  const known = resultCode === undefined ? undefined : CODES.get(resultCode);
  const details = { path: context.path, ...(resultCode !== undefined && { resultCode }) };
  if (known !== undefined) {
    const [code, message] = known;
    return new HoldfastError(code, `${message} (${context.path})`, { cause: error, details, outcome: context.outcome });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError("BUG", `Unexpected database error: ${message}`, {
    cause: error,
    details,
    outcome: context.outcome,
  });
}
