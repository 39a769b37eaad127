import { join } from "node:path";
import { DATABASE_FILE, isKept, MANIFEST_FILE, makerOf } from "../database/folder-files.ts";
import { listFolder, sizeOf } from "../io/disk.ts";
import { type LogState, readHeader, readLog, readSharedIndex } from "../io/raw-database.ts";
import type { Finding } from "./findings.ts";

/** Where a repair builds, and what it keeps; names of its own in a memory's folder. */
export const REPAIR_FOLDER = "holdfast.repairing";
export const SET_ASIDE_PREFIX = "holdfast.damaged-";

const OWN_FILES: ReadonlySet<string> = new Set([
  MANIFEST_FILE,
  ...["", "-wal", "-shm", "-journal"].map((suffix) => `${DATABASE_FILE}${suffix}`),
]);

/** What the names and sizes of a folder's files say; opens none of them. */
export function folderFindings(folder: string): readonly Finding[] {
  return (listFolder(folder) ?? []).flatMap((name): readonly Finding[] => {
    if (OWN_FILES.has(name) || name === MANIFEST_FILE) return [];
    if (makerOf(name) !== undefined)
      return [
        {
          kind: "leftover",
          place: name,
          message: "A restore or an upgrade was interrupted here; the next one begins anew.",
        },
      ];
    if (isKept(name))
      return [
        {
          kind: "set-aside",
          place: name,
          message: "A restore or an upgrade kept this; remove it when nobody needs it.",
        },
      ];
    if (name === REPAIR_FOLDER)
      return [{ kind: "leftover", place: name, message: "A repair was interrupted here; the next one begins anew." }];
    if (name.startsWith(SET_ASIDE_PREFIX) || isKept(name))
      return [{ kind: "set-aside", place: name, message: "What was there before; remove it when nobody needs it." }];
    if (makerOf(name) !== undefined)
      return [{ kind: "leftover", place: name, message: "A copy that is being made, or was not finished." }];
    return [{ kind: "foreign-file", place: name, message: "This file is not Holdfast's; it is left as it is." }];
  });
}

/**
 * What the bytes of the files say that SQLite does not: a part cut off, a log that is gone or damaged. Reads them beside
 * SQLite, and so only where this process has not opened the folder: closing a descriptor would drop its locks.
 */
export function byteFindings(folder: string): readonly Finding[] {
  const file = join(folder, DATABASE_FILE);
  const log = readLog(`${file}-wal`);
  return [...sizeFindings(file, log), ...logFindings(file, log)];
}

function sizeFindings(file: string, log: LogState): readonly Finding[] {
  const size = sizeOf(file);
  if (size === 0) {
    const left = log.validFrames > 0 ? "; its log is still there, and must not be opened beside it" : "";
    const message = `The database file is empty: it was cut off, or the folder was never finished${left}.`;
    return [{ kind: "empty-database", place: DATABASE_FILE, message }];
  }
  if (log.validFrames > 0) return [];
  const header = readHeader(file);
  if (header === undefined) return [];
  const expected = header.pages * header.pageBytes;
  if (header.pages === 0 || size >= expected) return [];
  const message = `The file has ${size} bytes, and its first page says ${expected}: the end is cut off.`;
  return [
    { kind: "short-file", place: DATABASE_FILE, row: `from page ${Math.floor(size / header.pageBytes) + 1}`, message },
  ];
}

function logFindings(file: string, log: LogState): readonly Finding[] {
  const place = `${DATABASE_FILE}-wal`;
  const index = readSharedIndex(`${file}-shm`);
  if (index !== undefined && index.frames > index.movedFrames && log.frames < index.frames) {
    const message = `The log held ${index.frames} pages of commits, ${index.movedFrames} of them in the file; ${log.frames} are there. What was committed last is lost.`;
    return [{ kind: "log-missing", place, message }];
  }
  if (log.commitBehindDamage === undefined) return [];
  const message = `The log is damaged at frame ${log.validFrames + 1}; commits up to frame ${log.commitBehindDamage} stand behind it and are not read.`;
  return [{ kind: "log-damaged", place, row: `frame ${log.validFrames + 1}`, message }];
}
