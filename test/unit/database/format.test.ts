import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import { prepareFormat } from "../../../src/database/format.ts";
import { FORMATS } from "../../../src/database/format-history.ts";
import { openDatabase } from "../../../src/database/open-database.ts";
import { DATABASE_FILE, prepareFolder } from "../../../src/database/open-files.ts";
import { systemClock } from "../../../src/io/clock.ts";
import { NOTES_PLAN, openPrepared, putNote, temporaryFolder, watched } from "./connections.ts";

const WORKER = new URL("file:///nowhere.js");

function openInline(path: string) {
  return openDatabase({ path, threads: "inline" }, NOTES_PLAN, WORKER);
}

function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

describe("format", () => {
  it("[E13] a new folder is its owner's alone, with its file", async () => {
    const path = join(temporaryFolder(), "a", "b.holdfast");
    const { release } = openInline(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, DATABASE_FILE)).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, `${DATABASE_FILE}-wal`)).mode & 0o777).toBe(0o600);
    await release();
  });

  it("[E10] a disk that is full while the tables are made is said to be full", () => {
    const connection = openConnection(join(temporaryFolder(), DATABASE_FILE), { readOnly: false, mustExist: false });
    const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    const filling = watched(connection, (sql) => {
      if (sql !== "COMMIT") return;
      connection.exec("ROLLBACK");
      throw full;
    });
    const bound = { clock: systemClock, lockTimeoutMs: 0 };
    expect(() => prepareFormat(filling, NOTES_PLAN, { path: "a", bound, nowMicros: 1, exclusive: false })).toThrow(
      full,
    );
  });

  it("[E1] the settings that the format fixes are those of the file and of every connection", () => {
    const connection = openPrepared(join(temporaryFolder(), DATABASE_FILE));
    const pragma = (name: string): unknown => Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect({
      page: pragma("page_size"),
      vacuum: pragma("auto_vacuum"),
      journal: pragma("journal_mode"),
      synchronous: pragma("synchronous"),
      secure: pragma("secure_delete"),
      busy: pragma("busy_timeout"),
      version: pragma("user_version"),
      application: pragma("application_id"),
    }).toEqual({
      page: 16_384,
      vacuum: 2,
      journal: "wal",
      synchronous: 2,
      secure: 1,
      busy: 0,
      version: FORMATS.version,
      application: 0x484f4c44,
    });
  });

  it("[E6] a database that is not ours is refused by name and left byte for byte as it is", () => {
    const folder = temporaryFolder();
    const file = join(folder, DATABASE_FILE);
    const other = openConnection(file, { readOnly: false, mustExist: false });
    other.exec("CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ada');");
    other.close();
    const before = digest(file);
    expect(() => openInline(folder)).toThrow(
      expect.objectContaining({ code: "FOREIGN_STORAGE", message: expect.stringContaining(file) }),
    );
    expect(digest(file)).toBe(before);
  });

  it("[E6] a file that is no database is refused and left as it is", () => {
    const folder = temporaryFolder();
    const file = join(folder, DATABASE_FILE);
    writeFileSync(file, "this is no database at all, but somebody's only copy of a long text\n".repeat(1_000));
    const before = digest(file);
    expect(() => openInline(folder)).toThrow(expect.objectContaining({ code: "FOREIGN_STORAGE" }));
    expect(digest(file)).toBe(before);
  });

  it("[E6] a folder that holds other files is refused and left as it is", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "notes.txt"), "mine");
    expect(() => prepareFolder(folder, { exclusive: false, create: true })).toThrow(
      expect.objectContaining({ code: "FOREIGN_STORAGE" }),
    );
    expect(statSync(folder).isDirectory()).toBe(true);
  });

  it("[E6] a path that is a file is refused", () => {
    const file = join(temporaryFolder(), "memory.holdfast");
    writeFileSync(file, "mine");
    expect(() => openInline(file)).toThrow(expect.objectContaining({ code: "FOREIGN_STORAGE" }));
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  it("[E6] a database of a newer format is refused and left as it is", async () => {
    const folder = join(temporaryFolder(), "new.holdfast");
    await openInline(folder).release();
    const connection = openConnection(join(folder, DATABASE_FILE), { readOnly: false, mustExist: true });
    connection.exec(`PRAGMA user_version = ${FORMATS.version + 1}`);
    connection.close();
    const before = digest(join(folder, DATABASE_FILE));
    expect(() => openInline(folder)).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
    expect(digest(join(folder, DATABASE_FILE))).toBe(before);
  });

  it("[P12] what an interrupted creation left is completed", async () => {
    const folder = join(temporaryFolder(), "half.holdfast");
    mkdirSync(folder);
    writeFileSync(join(folder, DATABASE_FILE), "");
    const { database, release } = openInline(folder);
    await database.write(putNote, "a", { sizeBytes: 1 });
    await release();
    const half = join(temporaryFolder(), "wal.holdfast");
    mkdirSync(half);
    const started = openConnection(join(half, DATABASE_FILE), { readOnly: false, mustExist: false });
    started.exec("PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;");
    started.close();
    await openInline(half).release();
  });

  it("[E13] one real path has one engine in a process, however it is spelled", async () => {
    const folder = join(temporaryFolder(), "one.holdfast");
    const first = openInline(folder);
    const second = openInline(`${folder}/../one.holdfast/`);
    expect(second.database).toBe(first.database);
    await first.release();
    expect(await second.database.write(putNote, "still open", { sizeBytes: 1 })).toBe(1);
    await second.release();
    expect(() => second.database.assertOpen()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });
});
