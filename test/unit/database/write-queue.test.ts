import { describe, expect, it } from "vitest";
import { Database } from "../../../src/database/database.ts";
import type { Engine } from "../../../src/database/engine.ts";
import { putNote, QUIET_ENGINE, settingsFor } from "./connections.ts";

const MIB = 1024 * 1024;

/** A database whose engine answers each write when the test says so. */
function open() {
  const waiting: (() => void)[] = [];
  const engine: Engine = {
    ...QUIET_ENGINE,
    threads: "inline",
    write: () => ({
      answer: new Promise<void>((resolve) => waiting.push(() => resolve())),
      cancel: () => undefined,
    }),
  };
  const database = new Database(settingsFor("/nowhere", 30), () => engine);
  return {
    write: (sizeBytes: number) => database.write(putNote, "a", { sizeBytes }),
    /** Lets every write that waits answer. */
    settle: () => {
      for (const answer of waiting.splice(0)) answer();
    },
  };
}

describe("write queue", () => {
  it("[E7] beyond its bytes the queue refuses with BUSY and nothing applied, and takes writes again when they settle", async () => {
    const { write, settle } = open();
    const first = write(60 * MIB);
    await expect(write(5 * MIB)).rejects.toMatchObject({ code: "BUSY", retry: "later", outcome: "not-applied" });
    settle();
    await first;
    const second = write(5 * MIB);
    settle();
    await second;
  });

  it("[E7] a batch larger than the queue gets in beside small writes and does not shut them out", async () => {
    const { write, settle } = open();
    const small = write(1);
    const large = write(200 * MIB);
    const beside = write(1);
    settle();
    await Promise.all([small, large, beside]);
  });

  it("[E7] of batches larger than the queue one waits at a time", async () => {
    const { write, settle } = open();
    const large = write(200 * MIB);
    await expect(write(65 * MIB)).rejects.toMatchObject({ code: "BUSY" });
    settle();
    await large;
    const next = write(65 * MIB);
    settle();
    await next;
  });
});
