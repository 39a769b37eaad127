import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Connection } from "../../../src/database/connection.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import type { Engine } from "../../../src/database/engine.ts";
import { configure, prepareFormat } from "../../../src/database/format.ts";
import {
  type DatabasePlan,
  databasePlan,
  type EngineSettings,
  type Operation,
  readOperation,
  writeOperation,
} from "../../../src/database/operation.ts";
import type { WriteJob } from "../../../src/database/writer.ts";
import { neverCancelled } from "../../../src/io/cancellation.ts";
import { systemClock } from "../../../src/io/clock.ts";
import { fileIdentityOf } from "../../../src/io/disk.ts";

/** A folder that goes when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const putNote = writeOperation("test.put", (unit, text: string): number => {
  return unit.connection.prepare("INSERT INTO notes (text) VALUES (?)").run(text).lastInsertRowid;
});

export const putThenFail = writeOperation("test.fail", (unit, text: string): number => {
  unit.connection.prepare("INSERT INTO notes (text) VALUES (?)").run(text);
  throw new Error("refused");
});

export const countNotes = readOperation("test.count", ({ connection }): number =>
  Number(connection.prepare("SELECT count(*) AS count FROM notes").get()?.count),
);

export const NOTES_PLAN: DatabasePlan = databasePlan(
  ["CREATE TABLE notes (note INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL) STRICT;"],
  [putNote, putThenFail, countNotes] as readonly Operation[],
);

export function settingsFor(path: string, lockTimeoutMs = 10_000): EngineSettings {
  return {
    path,
    fileIdentity: fileIdentityOf(path),
    lockTimeoutMs,
    receiptRetentionMs: 60_000,
    memoryBudgetBytes: 1 << 20,
    inMemory: false,
    exclusive: false,
    readOnly: false,
    openPath: path,
    copiedStamp: undefined,
  };
}

/** An engine that answers every call at once and does nothing. */
export const QUIET_ENGINE: Engine = {
  threads: "workers",
  started: async () => undefined,
  write: () => ({ answer: Promise.resolve(), cancel: () => undefined }),
  read: () => ({ answer: Promise.resolve(), cancel: () => undefined }),
  readAside: () => ({ answer: Promise.resolve(), cancel: () => undefined }),
  lookup: () => undefined,
  checkpoint: async () => true,
  copyInto: async () => undefined,
  runSteps: () => new Promise(() => undefined),
  openSnapshot: () => new Promise(() => undefined),
  close: async () => undefined,
};

/** A connection as the engine opens it, on a prepared database. */
export function openPrepared(path: string): Connection {
  const connection = openConnection(path, { readOnly: false, mustExist: false });
  configure(connection, { exclusive: false, autoCheckpoint: true });
  prepareFormat(connection, NOTES_PLAN, {
    path,
    exclusive: false,
    bound: { clock: systemClock, lockTimeoutMs: 1_000 },
    nowMicros: 1,
  });
  return connection;
}

export function job(name: string, input: unknown, cancellation: WriteJob["cancellation"] = neverCancelled): WriteJob {
  return { name, input, cancellation };
}

export function notesIn(connection: Connection): readonly unknown[] {
  return connection
    .prepare("SELECT text FROM notes ORDER BY note")
    .all()
    .map((row) => row.text);
}

/** The same connection, with every `exec` seen first; `onExec` may throw in its place. */
export function watched(connection: Connection, onExec: (sql: string) => void): Connection {
  return {
    driver: connection.driver,
    exec(sql) {
      onExec(sql);
      connection.exec(sql);
    },
    prepare: (sql, options) => connection.prepare(sql, options),
    close: () => connection.close(),
  };
}
