import { describe, expect, it } from "vitest";
import { FORGOTTEN_PER_COMMIT } from "../../../src/memory/forget.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

describe("what a call that failed says of its writes", () => {
  it("[E10, S7] an update that is committed answers, also when what is pending cannot be looked at behind it", async () => {
    let isDown = true;
    const before = () => {
      if (isDown) throw new Error("down");
    };
    const { memory, raw } = await openMemoryBed({ embedder: createHashEmbedder({ before }) });
    const session = await memory.createSession("s");
    await session.remember({ id: "pending", text: "waits for its vector" });
    isDown = false;
    await session.remember({ id: "a", text: "before" });
    raw.exec("ALTER TABLE embedding_lease RENAME TO away");
    expect(await memory.updateEvent("a", { text: "after" })).toMatchObject({ revision: 2 });
    raw.exec("ALTER TABLE away RENAME TO embedding_lease");
    expect(await memory.getEvent("a")).toMatchObject({ text: "after" });
  });

  it("[E10, G1] a forget that fails between two of its commits is of unknown outcome, and its repetition ends it", async () => {
    const { memory, raw, count } = await openMemoryBed({ lockTimeoutMs: 0 });
    const session = await memory.createSession("s");
    const events = FORGOTTEN_PER_COMMIT * 2 + 1;
    await session.rememberMany(Array.from({ length: events }, (_, n) => ({ id: `e${n}`, text: `event ${n}` })));
    const refused = memory.forget({ session: "s" }).catch((error: unknown) => error);
    while (count("events") === events) await new Promise((resolve) => setImmediate(resolve));
    raw.exec("BEGIN IMMEDIATE");
    expect(await refused).toMatchObject({ code: "BUSY", outcome: "unknown" });
    raw.exec("COMMIT");
    expect(count("events")).toBe(events - FORGOTTEN_PER_COMMIT);
    expect(await memory.forget({ session: "s" })).toEqual({ forgotten: events - FORGOTTEN_PER_COMMIT });
    const untouched = memory.forget({ events: ["none"] });
    expect(await untouched).toEqual({ forgotten: 0 });
  });

  it("[E10] a forget that fails before its first commit was not applied", async () => {
    const { memory, raw } = await openMemoryBed({ lockTimeoutMs: 0 });
    const session = await memory.createSession("s");
    await session.remember({ id: "a", text: "kept" });
    raw.exec("BEGIN IMMEDIATE");
    for (const selection of [{ session: "s" }, { events: ["a"] }])
      await expect(memory.forget(selection)).rejects.toMatchObject({ code: "BUSY", outcome: "not-applied" });
    raw.exec("COMMIT");
    expect(await memory.getEvent("a")).toMatchObject({ text: "kept" });
  });
});
