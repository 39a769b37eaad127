import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { within } from "../../../src/database/call.ts";
import type { Engine } from "../../../src/database/engine.ts";
import { InlineEngine } from "../../../src/database/inline-engine.ts";
import { Reader } from "../../../src/database/reader.ts";
import { ThreadedEngine } from "../../../src/database/threaded-engine.ts";
import { Writer } from "../../../src/database/writer.ts";
import { systemClock, yieldToEventLoop } from "../../../src/io/clock.ts";
import type { SentPart } from "../../../src/io/sent-part.ts";
import { NOTES_PLAN, openPrepared, putNote, settingsFor, temporaryFolder } from "./connections.ts";

/** Threads that never answer: what is told of a call can come from the caller's side alone. */
const SILENT = new URL(
  `data:text/javascript,${encodeURIComponent(`
import { workerData } from "node:worker_threads";
workerData.port.on("message", (request) => { if (request === null) workerData.port.close(); });`)}`,
);

const ENGINES: readonly (readonly [string, (path: string) => Engine])[] = [
  [
    "inline",
    (path) => {
      const connection = openPrepared(path);
      const settings = settingsFor(path);
      const writer = new Writer(connection, NOTES_PLAN, settings, systemClock);
      return new InlineEngine(
        connection,
        { writer, reader: new Reader(connection, NOTES_PLAN, settings, systemClock) },
        { plan: NOTES_PLAN, settings },
      );
    },
  ],
  [
    "in threads",
    (path) => {
      const settings = settingsFor(path);
      const lookups = new Reader(openPrepared(path), NOTES_PLAN, settings, systemClock);
      return new ThreadedEngine(SILENT, settings, lookups, () => undefined);
    },
  ],
];

describe.each(ENGINES)("a large write %s", (_, start) => {
  it("[Q11] that is aborted while its parts are made was not applied, and no more of them are made", async () => {
    const engine = start(join(temporaryFolder(), "holdfast.db"));
    const controller = new AbortController();
    let made = 0;
    async function* parts(): AsyncGenerator<SentPart> {
      for (; made < 1_000; made += 1) {
        if (made === 3) controller.abort();
        yield { part: [made], transfer: [] };
        await yieldToEventLoop();
      }
    }
    const call = engine.write({ name: putNote.name, input: {}, parts: parts() });
    await expect(within(call, { signal: controller.signal }, "write")).rejects.toMatchObject({
      code: "ABORTED",
      outcome: "not-applied",
    });
    expect(made).toBe(3);
    await engine.close(10_000);
  });
});
