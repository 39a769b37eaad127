import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Reader } from "../../../src/database/reader.ts";
import { ThreadedEngine } from "../../../src/database/threaded-engine.ts";
import { systemClock } from "../../../src/io/clock.ts";
import { NOTES_PLAN, openPrepared, settingsFor, temporaryFolder } from "./connections.ts";

/** Threads of which the one for checkpoints ends in a `truncate`, and answers every other call. */
const THREADS = new URL(
  `data:text/javascript,${encodeURIComponent(`
import { workerData } from "node:worker_threads";
const { port } = workerData;
port.on("message", (request) => {
  if (request === null) return port.close();
  if (request.input === "truncate") throw new Error("EMFILE: too many open files");
  port.postMessage({ id: request.id, value: true });
});`)}`,
);

describe("the thread for checkpoints", () => {
  it("[E10] is started anew when it ended: the handle goes on without it", async () => {
    const path = join(temporaryFolder(), "holdfast.db");
    const lookups = new Reader(openPrepared(path), NOTES_PLAN, settingsFor(path), systemClock);
    const gone: Error[] = [];
    const engine = new ThreadedEngine(THREADS, settingsFor(path), lookups, (error) => gone.push(error));
    await engine.started();
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(engine.checkpoint("truncate")).rejects.toMatchObject({ code: "OUT_OF_RESOURCES" });
      expect(await engine.checkpoint("passive")).toBe(true);
      await expect(engine.checkpoint("truncate")).rejects.toMatchObject({ code: "FAILED", outcome: "none" });
    }
    expect(gone).toEqual([]);
    await engine.close(10_000);
  });
});
