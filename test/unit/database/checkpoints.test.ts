import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Database } from "../../../src/database/database.ts";
import type { Engine } from "../../../src/database/engine.ts";
import { putNote, QUIET_ENGINE, settingsFor } from "./connections.ts";

function open() {
  const checkpoints: string[] = [];
  const engine: Engine = {
    ...QUIET_ENGINE,
    checkpoint: async (mode) => {
      checkpoints.push(mode);
      return true;
    },
  };
  const database = new Database(settingsFor("/nowhere", 30), () => engine);
  return { checkpoints, database, write: (sizeBytes = 1) => database.write(putNote, "a", { sizeBytes }) };
}

describe("checkpoints", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("[E7] begin a second after the last write, and not while writes go on", async () => {
    const { checkpoints, write } = open();
    for (let step = 0; step < 6; step += 1) {
      await write();
      await vi.advanceTimersByTimeAsync(400);
    }
    expect(checkpoints).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(checkpoints).toEqual(["passive"]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(checkpoints).toEqual(["passive"]);
  });

  it("[E7] begin at once after at most 200 writes or 8 MiB", async () => {
    const { checkpoints, write } = open();
    for (let count = 0; count < 60; count += 1) await write();
    expect(checkpoints).toHaveLength(0);
    for (let count = 60; count < 200; count += 1) await write();
    const begun = checkpoints.length;
    expect(begun).toBeGreaterThan(0);
    await write(8 * 1024 * 1024);
    expect(checkpoints).toHaveLength(begun + 1);
  });

  it("[E5] of processes that write in step do not begin at once", async () => {
    const firsts = new Set<number>();
    for (let process = 0; process < 8; process += 1) {
      const { checkpoints, write } = open();
      let writes = 0;
      while (checkpoints.length === 0) {
        await write();
        writes += 1;
      }
      firsts.add(writes);
    }
    // Eight draws out of 140 that are one number: never, in as many runs as there will be.
    expect(firsts.size).toBeGreaterThan(1);
  });

  it("[E12] never begin after close", async () => {
    const { checkpoints, database, write } = open();
    await write();
    await database.close();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(checkpoints).toEqual([]);
  });
});
