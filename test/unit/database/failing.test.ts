import { afterEach, describe, expect, it, vi } from "vitest";
import { behindPart } from "../../../src/database/call.ts";
import { CLOSE_WAIT_MS, Database } from "../../../src/database/database.ts";
import type { Engine } from "../../../src/database/engine.ts";
import { type ErrorCode, HoldfastError } from "../../../src/errors/index.ts";
import { countNotes, putNote, settingsFor } from "./connections.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** A database whose engine answers with what the test gives; an answer that is missing never comes. */
function open(answers: Partial<Record<"write" | "read" | "checkpoint", Promise<unknown>>>) {
  const never = new Promise<never>(() => undefined);
  const closes: number[] = [];
  const engine: Engine = {
    threads: "workers",
    started: async () => undefined,
    write: () => ({ answer: answers.write ?? never, cancel: () => undefined }),
    read: () => ({ answer: answers.read ?? never, cancel: () => undefined }),
    lookup: () => undefined,
    readAside: () => ({ answer: never, cancel: () => undefined }),
    copyInto: async () => undefined,
    runSteps: () => never,
    openSnapshot: () => never,
    checkpoint: () => (answers.checkpoint ?? never) as Promise<boolean>,
    close: async (withinMs) => {
      closes.push(withinMs);
    },
  };
  const database = new Database(settingsFor("/nowhere", 30), () => engine);
  const put = () => database.write(putNote, "a", { sizeBytes: 1 });
  return { database, put, closes };
}

function failure(code: ErrorCode): Promise<never> {
  const failed = Promise.reject(new HoldfastError(code, "as the test says"));
  failed.catch(() => undefined);
  return failed;
}

describe("a handle", () => {
  it.each(["write", "read"] as const)(
    "[E10] whose %s failed for good takes no more calls and says why",
    async (kind) => {
      const { database, put } = open({ [kind]: failure("FAILED") });
      const first = await (kind === "write" ? put() : database.read(countNotes, null)).catch((error) => error);
      expect(first).toMatchObject({ code: "FAILED" });
      expect(database.isOpen).toBe(false);
      for (const call of [put(), database.read(countNotes, null), database.truncateLog()])
        await expect(call).rejects.toMatchObject({ code: "FAILED", outcome: "not-applied", cause: first });
      await database.close();
      await expect(put()).rejects.toMatchObject({ code: "CLOSED" });
    },
  );

  it.each(["DISK_FULL", "IO_FAILED", "OUT_OF_RESOURCES", "DAMAGED", "BUSY"] as const)(
    "[E10] goes on behind a read or write that %s ended before its commit",
    async (code) => {
      const { database, put } = open({ write: failure(code), read: failure(code) });
      await expect(put()).rejects.toMatchObject({ code });
      await expect(database.read(countNotes, null)).rejects.toMatchObject({ code });
      expect(database.isOpen).toBe(true);
    },
  );

  it.each([
    ["IO_FAILED", false],
    ["DISK_FULL", true],
    ["OUT_OF_RESOURCES", true],
  ] as const)("[E10] behind a checkpoint that raised %s is open: %s", async (code, isOpen) => {
    const { database } = open({ checkpoint: failure(code) });
    await expect(database.truncateLog()).rejects.toMatchObject({ code });
    expect(database.isOpen).toBe(isOpen);
  });

  it("[E12] is closed within its bound though a call does not answer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { database, put, closes } = open({});
    put().catch(() => undefined);
    let closed = false;
    const closing = database.close().then(() => {
      closed = true;
    });
    await vi.advanceTimersByTimeAsync(CLOSE_WAIT_MS - 1);
    expect(closed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closing;
    // The threads get a moment of their own.
    expect(closes).toEqual([1_000]);
  });
});

describe("a call of several commits", () => {
  it("[E10] that fails behind the first was applied in part: its outcome is unknown", async () => {
    const refused = new HoldfastError("DISK_FULL", "full", { outcome: "not-applied", details: { path: "a" } });
    await expect(behindPart(Promise.reject(refused))).rejects.toMatchObject({
      code: "DISK_FULL",
      outcome: "unknown",
      retry: "later",
      details: { path: "a" },
    });
  });
});
