import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { IN_MEMORY_PATH, toDatabaseError, toFolderError } from "../../../src/database/errors.ts";
import { refusalOfWriting } from "../../../src/io/disk.ts";
import { reasonOf } from "../../../src/io/system-errors.ts";
import { temporaryFolder } from "./connections.ts";

function nativeError(code: string): Error {
  return Object.assign(new Error("as SQLite says it"), { code });
}

describe("errors of the driver", () => {
  const path = IN_MEMORY_PATH;

  it.each([
    ["SQLITE_FULL", "DISK_FULL", "later"],
    ["SQLITE_IOERR_WRITE", "IO_FAILED", "later"],
    ["SQLITE_CANTOPEN", "IO_FAILED", "later"],
    ["SQLITE_READONLY_DIRECTORY", "READ_ONLY", "never"],
    ["SQLITE_PERM", "READ_ONLY", "never"],
    ["SQLITE_NOMEM", "OUT_OF_RESOURCES", "later"],
    ["SQLITE_PROTOCOL", "BUSY", "later"],
    ["SQLITE_CORRUPT_INDEX", "DAMAGED", "never"],
  ])("[E10] %s is %s, with its cause", (native, code, retry) => {
    const cause = nativeError(native);
    expect(toDatabaseError(cause, { path, outcome: "not-applied" })).toMatchObject({
      code,
      retry,
      outcome: "not-applied",
      cause,
    });
  });

  it("[E10] memory that V8 does not get is no bug of ours", () => {
    const error = new RangeError("Array buffer allocation failed");
    expect(toDatabaseError(error, { path, outcome: "none" })).toMatchObject({ code: "OUT_OF_RESOURCES", cause: error });
    const other = new RangeError("Invalid array length");
    expect(toDatabaseError(other, { path, outcome: "none" })).toMatchObject({ code: "BUG" });
  });

  it("[E10] a file that is gone is named as the reason", () => {
    const file = join(temporaryFolder(), "holdfast.db");
    expect(toDatabaseError(nativeError("SQLITE_IOERR_FSTAT"), { path: file, outcome: "none" })).toMatchObject({
      code: "FAILED",
      details: { file },
    });
  });
});

describe("errors of the system", () => {
  it.each([
    ["ENOSPC", "DISK_FULL", /free space/],
    ["EFBIG", "DISK_FULL", /ulimit -f/],
    ["EROFS", "READ_ONLY", /read-only/],
    ["EACCES", "READ_ONLY", /permissions/],
    ["EMFILE", "OUT_OF_RESOURCES", /ulimit -n/],
    ["EIO", "IO_FAILED", /medium/],
    ["ELOOP", "INVALID_ARGUMENT", /name another folder/],
    ["EBUSY", "IO_FAILED", /EBUSY/],
  ])("[E10] %s is %s and says what to do", (code, ours, advice) => {
    const error = toFolderError(nativeError(code), "/data/memory");
    expect(error).toMatchObject({ code: ours, details: { path: "/data/memory", reason: code } });
    expect(error.message).toMatch(advice);
  });

  it("[E10] a quota, for which Node has no name, is known by its number", () => {
    const error = Object.assign(new Error("Unknown system error -122: write"), {
      code: "Unknown system error -122",
      errno: -constants.errno.EDQUOT,
    });
    expect(reasonOf(error)).toBe("EDQUOT");
  });

  it("[E10] asking a folder why it cannot be written leaves nothing in it", () => {
    const folder = join(temporaryFolder(), "sound");
    mkdirSync(folder);
    writeFileSync(join(folder, "other"), "a");
    expect(refusalOfWriting(folder, 5_000_000)).toBeUndefined();
    expect(readdirSync(folder)).toEqual(["other"]);
    chmodSync(folder, 0o500);
    // The superuser may write everywhere.
    expect(refusalOfWriting(folder, 0)).toBe(process.getuid?.() === 0 ? undefined : "EACCES");
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
    expect(refusalOfWriting(folder, 0)).toBeUndefined();
  });
});
