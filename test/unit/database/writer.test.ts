import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FORMATS } from "../../../src/database/format-history.ts";
import { databasePlan, writeOperation } from "../../../src/database/operation.ts";
import { type JobResult, Writer } from "../../../src/database/writer.ts";
import { cancelError } from "../../../src/io/cancellation.ts";
import type { Clock } from "../../../src/io/clock.ts";
import { systemClock } from "../../../src/io/clock.ts";
import {
  job,
  NOTES_PLAN,
  notesIn,
  openPrepared,
  putNote,
  putThenFail,
  settingsFor,
  temporaryFolder,
  watched,
} from "./connections.ts";

function open(onExec: (sql: string) => void = () => undefined) {
  const path = join(temporaryFolder(), "holdfast.db");
  const connection = openPrepared(path);
  const other = openPrepared(path);
  const writer = new Writer(watched(connection, onExec), NOTES_PLAN, settingsFor(path, 30), systemClock);
  return { path, writer, other };
}

function errorOf(result: JobResult | undefined) {
  return result !== undefined && "error" in result ? result.error : undefined;
}

describe("writer", () => {
  it("[E7] jobs that wait at the same time share one commit", () => {
    const executed: string[] = [];
    const { writer, other } = open((sql) => executed.push(sql));
    const results = writer.commit([job(putNote.name, "a"), job(putNote.name, "b"), job(putNote.name, "c")]);
    expect(results.map((result) => "value" in result)).toEqual([true, true, true]);
    expect(executed.filter((sql) => sql === "COMMIT")).toHaveLength(1);
    expect(notesIn(other)).toEqual(["a", "b", "c"]);
  });

  it("[V14] a job that fails leaves nothing, and the others of its commit stay", () => {
    const { writer, other } = open();
    const results = writer.commit([job(putNote.name, "a"), job(putThenFail.name, "b"), job(putNote.name, "c")]);
    expect(errorOf(results[1])).toMatchObject({ code: "BUG", outcome: "not-applied" });
    expect(notesIn(other)).toEqual(["a", "c"]);
  });

  it("[V14, E10] a job in which SQLite ends the whole transaction fails its commit with its own error", () => {
    const fill = writeOperation("test.fill", (unit) => {
      unit.connection.exec("ROLLBACK");
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    });
    const path = join(temporaryFolder(), "holdfast.db");
    const plan = databasePlan(NOTES_PLAN.schema, [...NOTES_PLAN.operations.values(), fill]);
    const writer = new Writer(openPrepared(path), plan, settingsFor(path), systemClock);
    const results = writer.commit([job(putNote.name, "a"), job(fill.name, null), job(putNote.name, "b")]);
    for (const result of results)
      expect(errorOf(result)).toMatchObject({ code: "DISK_FULL", outcome: "not-applied", retry: "later" });
    expect("value" in (writer.commit([job(putNote.name, "c")])[0] ?? {})).toBe(true);
    expect(notesIn(openPrepared(path))).toEqual(["c"]);
  });

  it("[V14] a job that fails alone leaves nothing", () => {
    const { writer, other } = open();
    expect(errorOf(writer.commit([job(putThenFail.name, "a")])[0])).toMatchObject({ outcome: "not-applied" });
    expect("value" in (writer.commit([job(putNote.name, "b")])[0] ?? {})).toBe(true);
    expect(notesIn(other)).toEqual(["b"]);
  });

  it("[E4] the write lock is taken at BEGIN, waited for within the bound, and then BUSY with nothing written", () => {
    const { writer, other } = open();
    other.exec("BEGIN IMMEDIATE");
    const [result] = writer.commit([job(putNote.name, "a")]);
    expect(errorOf(result)).toMatchObject({ code: "BUSY", retry: "later", outcome: "not-applied" });
    other.exec("COMMIT");
    expect(notesIn(other)).toEqual([]);
    expect("value" in (writer.commit([job(putNote.name, "b")])[0] ?? {})).toBe(true);
  });

  it("[E4] waiting for the lock leaves stack traces as they were", () => {
    const { writer, other } = open();
    const limit = Error.stackTraceLimit;
    other.exec("BEGIN IMMEDIATE");
    writer.commit([job(putNote.name, "a")]);
    other.exec("COMMIT");
    expect(Error.stackTraceLimit).toBe(limit);
    expect(new Error("a").stack).toContain("writer.test");
  });

  it("[E4] a lock that is freed while it is waited for lets the write through", () => {
    const path = join(temporaryFolder(), "holdfast.db");
    const other = openPrepared(path);
    let looks = 0;
    const clock: Clock = {
      ...systemClock,
      monotonicMs() {
        looks += 1;
        if (looks === 5) other.exec("COMMIT");
        return 0;
      },
    };
    const writer = new Writer(openPrepared(path), NOTES_PLAN, settingsFor(path), clock);
    other.exec("BEGIN IMMEDIATE");
    expect("value" in (writer.commit([job(putNote.name, "a")])[0] ?? {})).toBe(true);
    expect(notesIn(other)).toEqual(["a"]);
  });

  it("[E10] a commit that fails is of unknown outcome and fails the handle", () => {
    const { writer } = open((sql) => {
      if (sql === "COMMIT") throw Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_FSYNC" });
    });
    const [result] = writer.commit([job(putNote.name, "a")]);
    expect(errorOf(result)).toMatchObject({ code: "FAILED", outcome: "unknown", details: { reason: "IO_FAILED" } });
    expect(errorOf(result)?.cause).toBeInstanceOf(Error);
    expect(errorOf(result)?.message).toMatch(/open the folder again.*check the medium/);
  });

  it("[E10] what waits behind a commit that failed is not written", () => {
    let fails = true;
    const { writer, other } = open((sql) => {
      if (sql === "COMMIT" && fails)
        throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    });
    const [first] = writer.commit([job(putNote.name, "a")]);
    expect(errorOf(first)).toMatchObject({ code: "FAILED", outcome: "unknown", details: { reason: "DISK_FULL" } });
    fails = false;
    const [next] = writer.commit([job(putNote.name, "b")]);
    expect(errorOf(next)).toMatchObject({ code: "FAILED", outcome: "not-applied", cause: errorOf(first) });
    expect(notesIn(other)).toEqual([]);
  });

  it("[E10] a disk that is full before the commit fails the call alone: nothing is applied, and the handle goes on", () => {
    let fails = true;
    const { writer, other } = open((sql) => {
      // As SQLite does it: the whole transaction is rolled back at once.
      if (sql !== "SAVEPOINT job" || !fails) return;
      fails = false;
      throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    });
    const results = writer.commit([job(putNote.name, "a"), job(putNote.name, "b")]);
    for (const result of results)
      expect(errorOf(result)).toMatchObject({ code: "DISK_FULL", retry: "later", outcome: "not-applied" });
    expect(notesIn(other)).toEqual([]);
    writer.commit([job(putNote.name, "c")]);
    expect(notesIn(other)).toEqual(["c"]);
  });

  it("[E6] a handle that was open when the database was upgraded writes nothing more", () => {
    const { writer, other } = open();
    other.exec(`PRAGMA user_version = ${FORMATS.version + 1}`);
    const [result] = writer.commit([job(putNote.name, "a")]);
    expect(errorOf(result)).toMatchObject({ code: "FORMAT_TOO_NEW", outcome: "not-applied" });
    expect(notesIn(other)).toEqual([]);
  });

  it("[Q11] a job that was cancelled before its turn is not applied, and the others of its commit are", () => {
    const { writer, other } = open();
    const cancelled = {
      assertLive() {
        throw cancelError("aborted", "not-applied");
      },
    };
    const results = writer.commit([job(putNote.name, "a", cancelled), job(putNote.name, "b")]);
    expect(errorOf(results[0])).toMatchObject({ code: "ABORTED", outcome: "not-applied" });
    expect(notesIn(other)).toEqual(["b"]);
  });

  it("[Q11] the wait for a lock ends when nobody wants the write any more", () => {
    const { writer, other } = open();
    other.exec("BEGIN IMMEDIATE");
    const cancelled = {
      assertLive() {
        throw cancelError("timeout", "not-applied");
      },
    };
    const [result] = writer.commit([job(putNote.name, "a", cancelled)]);
    expect(errorOf(result)).toMatchObject({ code: "TIMEOUT", outcome: "not-applied" });
    other.exec("COMMIT");
  });
});
