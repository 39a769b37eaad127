import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import type { FormatStep } from "../../../src/database/format-history.ts";
import { type DatabaseOptions, openDatabase } from "../../../src/database/open-database.ts";
import { type DatabasePlan, databasePlan, type Operation, readOperation } from "../../../src/database/operation.ts";
import { NOTES_PLAN, putNote, temporaryFolder } from "./connections.ts";

const WORKER = new URL("file:///nowhere.js");
const CALL = { sizeBytes: 1 };

const readNotes = readOperation("test.notes", ({ connection }, _input: null) =>
  connection
    .prepare("SELECT text FROM notes ORDER BY note")
    .all()
    .map(({ text }) => String(text)),
);

const OPERATIONS = [putNote, readNotes] as readonly Operation[];

/** The same notes in a later version. */
function planOf(version: number, steps: readonly FormatStep[] = []): DatabasePlan {
  return databasePlan(NOTES_PLAN.schema, OPERATIONS, { version, steps });
}

function open(path: string, plan: DatabasePlan, options: Partial<DatabaseOptions> = {}) {
  return openDatabase({ path, threads: "inline", ...options }, plan, WORKER);
}

const shout: FormatStep = { from: 1, run: (connection) => connection.exec("UPDATE notes SET text = upper(text)") };
const ask: FormatStep = { from: 2, run: (connection) => connection.exec("UPDATE notes SET text = text || '?'") };

/** A folder of version 1 with two notes, one of them still in its log. */
async function oldFolder() {
  const path = join(temporaryFolder(), "old.holdfast");
  const { database, release } = open(path, planOf(1));
  await database.write(putNote, "one", CALL);
  await database.truncateLog();
  await database.write(putNote, "two", CALL);
  return { path, database, release };
}

function notesOf(file: string): { readonly version: unknown; readonly notes: readonly unknown[] } {
  const connection = openConnection(file, { readOnly: true, mustExist: true });
  const version = connection.prepare("PRAGMA user_version").get()?.user_version;
  const notes = connection.prepare("SELECT text FROM notes ORDER BY note").all();
  connection.close();
  return { version, notes: notes.map(({ text }) => text) };
}

describe("an older format", () => {
  it("[E6] is upgraded step by step when it is opened, and kept as it was in a copy", async () => {
    const { path, release } = await oldFolder();
    await release();
    const upgraded = open(path, planOf(3, [shout, ask]));
    expect(await upgraded.database.read(readNotes, null)).toEqual(["ONE?", "TWO?"]);
    await upgraded.database.write(putNote, "three", CALL);
    expect(notesOf(join(path, "holdfast.db.format-1"))).toEqual({ version: 1, notes: ["one", "two"] });
    await upgraded.release();
    expect(notesOf(join(path, "holdfast.db"))).toEqual({ version: 3, notes: ["ONE?", "TWO?", "three"] });
    expect(readdirSync(path).filter((name) => name.includes("part"))).toEqual([]);
  });

  it("[E6] is left by every handle that was open while it was upgraded: they read and write nothing more", async () => {
    const { path, database, release } = await oldFolder();
    const connection = openConnection(join(path, "holdfast.db"), { readOnly: false, mustExist: true });
    connection.exec("PRAGMA user_version = 2");
    await expect(database.write(putNote, "late", CALL)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
    await expect(database.read(readNotes, null)).rejects.toMatchObject({ code: "FORMAT_TOO_NEW" });
    expect(() => database.lookup(readNotes, null)).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
    expect(connection.prepare("SELECT count(*) AS count FROM notes").get()).toEqual({ count: 2 });
    connection.close();
    await release();
  });

  it("[E6] stays what it was when a step fails, and the next open tries again", async () => {
    const { path, release } = await oldFolder();
    await release();
    const failing: FormatStep = {
      from: 2,
      run(connection) {
        connection.exec("DELETE FROM notes");
        throw new Error("a step that fails");
      },
    };
    expect(() => open(path, planOf(3, [shout, failing]))).toThrow("a step that fails");
    expect(notesOf(join(path, "holdfast.db"))).toEqual({ version: 1, notes: ["one", "two"] });
    const again = open(path, planOf(3, [shout, ask]));
    expect(await again.database.read(readNotes, null)).toEqual(["ONE?", "TWO?"]);
    await again.release();
  });

  it("[E6] is copied with what was written last: a copy that an earlier try kept is made anew", async () => {
    const { path, release } = await oldFolder();
    await release();
    const refuse: FormatStep = {
      from: 1,
      run() {
        throw new Error("not yet");
      },
    };
    expect(() => open(path, planOf(2, [refuse]))).toThrow("not yet");
    const old = open(path, planOf(1));
    await old.database.write(putNote, "between", CALL);
    await old.release();
    await open(path, planOf(2, [shout])).release();
    expect(notesOf(join(path, "holdfast.db.format-1")).notes).toEqual(["one", "two", "between"]);
  });

  it("[E6] is upgraded by a process that has the folder alone", async () => {
    const { path, release } = await oldFolder();
    await release();
    const alone = open(path, planOf(2, [shout]), { exclusive: true });
    expect(await alone.database.read(readNotes, null)).toEqual(["ONE", "TWO"]);
    await alone.release();
    expect(notesOf(join(path, "holdfast.db.format-1")).notes).toEqual(["one", "two"]);
  });

  it("[E6] without a way to this one is refused, and nothing is written", async () => {
    const { path, release } = await oldFolder();
    await release();
    for (const steps of [[], [ask]])
      expect(() => open(path, planOf(3, steps))).toThrow(expect.objectContaining({ code: "DAMAGED" }));
    expect(existsSync(join(path, "holdfast.db.format-1"))).toBe(false);
    expect(notesOf(join(path, "holdfast.db"))).toEqual({ version: 1, notes: ["one", "two"] });
  });

  it("[E6] is not upgraded by whoever only reads", async () => {
    const { path, release } = await oldFolder();
    await release();
    expect(() => open(path, planOf(2, [shout]), { readOnly: true })).toThrow(
      expect.objectContaining({ code: "READ_ONLY", message: expect.stringContaining("older format 1") }),
    );
    expect(notesOf(join(path, "holdfast.db"))).toEqual({ version: 1, notes: ["one", "two"] });
    expect(existsSync(join(path, "holdfast.db.format-1"))).toBe(false);
  });
});
