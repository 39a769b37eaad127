import { mkdirSync, renameSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type OpenDatabase, openDatabase } from "../../../src/database/open-database.ts";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { countNotes, NOTES_PLAN, putNote, temporaryFolder } from "./connections.ts";

const WORKER_URL = new URL("file:///unused");

function open(path: string): OpenDatabase {
  const opened = openDatabase({ path, threads: "inline" }, NOTES_PLAN, WORKER_URL);
  onTestFinished(() => opened.release());
  return opened;
}

function put({ database }: OpenDatabase, text: string): Promise<number> {
  return database.write(putNote, text, { sizeBytes: 1 });
}

describe("folders that are open in a process", () => {
  it("[E13] have one engine each, also when an earlier one ends after the next has begun", async () => {
    const path = join(temporaryFolder(), "a.holdfast");
    const first = open(path);
    const ending = first.release();
    const second = open(path);
    await ending;
    expect(open(path).database).toBe(second.database);
    expect(second.database).not.toBe(first.database);
  });

  const removals: readonly (readonly [string, (path: string) => void])[] = [
    ["the folder was removed", (path) => rmSync(path, { recursive: true })],
    [
      "the folder was replaced",
      (path) => {
        renameSync(path, `${path}-old`);
        mkdirSync(path);
      },
    ],
    ["the database was removed", (path) => unlinkSync(join(path, DATABASE_FILE))],
    ["the log was removed", (path) => unlinkSync(join(path, `${DATABASE_FILE}-wal`))],
  ];

  it.each(removals)("[V13, E10] acknowledge nothing after %s, and say so", async (_, remove) => {
    const path = join(temporaryFolder(), "a.holdfast");
    const opened = open(path);
    await put(opened, "kept");
    remove(path);
    await expect(put(opened, "lost")).rejects.toMatchObject({ code: "FAILED", outcome: "not-applied" });
    await expect(put(opened, "lost too")).rejects.toMatchObject({ code: "FAILED", outcome: "not-applied" });
  });

  it.each(removals.slice(0, 3))("[E10] answer nothing from the old file after %s", async (_, remove) => {
    const path = join(temporaryFolder(), "a.holdfast");
    const opened = open(path);
    await put(opened, "kept");
    expect(await opened.database.read(countNotes, null)).toBe(1);
    remove(path);
    await expect(opened.database.read(countNotes, null)).rejects.toMatchObject({ code: "FAILED", outcome: "none" });
    expect(() => opened.database.lookup(countNotes, null)).toThrow(/takes no more calls/);
  });

  it("[V13, E10] acknowledge nothing when the folder was removed before the first write", async () => {
    const path = join(temporaryFolder(), "a.holdfast");
    const opened = open(path);
    rmSync(path, { recursive: true });
    await expect(put(opened, "lost")).rejects.toMatchObject({ code: "FAILED", outcome: "not-applied" });
  });

  it("[V13, E13] a new folder in the place of a removed one is opened by itself", async () => {
    const path = join(temporaryFolder(), "a.holdfast");
    const old = open(path);
    await put(old, "old");
    rmSync(path, { recursive: true });
    const renewed = open(path);
    expect(await put(renewed, "new")).toBe(1);
    await old.release();
    expect(await put(renewed, "newer")).toBe(2);
    expect(open(path).database).toBe(renewed.database);
  });

  it("[E10] a handle that failed is not joined: the folder opens again beside it", async () => {
    const path = join(temporaryFolder(), "a.holdfast");
    const failed = open(path);
    await put(failed, "one");
    const moved = `${path}-away`;
    renameSync(path, moved);
    await expect(put(failed, "two")).rejects.toMatchObject({ code: "FAILED" });
    renameSync(moved, path);
    await expect(put(failed, "three")).rejects.toMatchObject({ code: "FAILED" });
    expect(await put(open(path), "four")).toBe(2);
  });
});
