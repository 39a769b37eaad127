import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { holdRetries, type MemoryBed, openMemoryBed } from "./memories.ts";

/** Long enough that no retry in the background comes between. */
function quieten({ raw }: MemoryBed): void {
  holdRetries(raw);
}

describe("an embedder that is down", () => {
  it("[S7, E2] loses nothing: events, segments and words are kept in one commit, and no vector is made up", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    const events = [
      { id: "one", text: "I moved to Lisbon." },
      { id: "two", text: "I like tea." },
    ];
    const receipts = await session.rememberMany(events);
    expect(receipts).toEqual(events.map(({ id }) => ({ id, created: true, embedded: "pending" })));
    expect([bed.count("events"), bed.count("segments"), bed.count("pending_vectors"), bed.count("spaces")]).toEqual([
      2, 2, 2, 0,
    ]);
    expect((await bed.memory.recall("Lisbon")).hits).toMatchObject([{ event: "one", channels: ["text"] }]);
    expect(await bed.memory.stats()).toMatchObject({ vectors: 0, pending: { waiting: 2, parked: 0 } });
    // Sent again it is still the same event, and still pending.
    expect(await session.remember(events[0] ?? { text: "" })).toEqual({
      id: "one",
      created: false,
      embedded: "pending",
    });
    expect(bed.count("events")).toBe(2);
  });

  it("[S7] and hangs is one that failed: the event is kept, and a slow one gets less at once until it keeps up", async () => {
    for (const hanging of [
      { embed: () => new Promise<never>(() => undefined) },
      { open: () => new Promise<never>(() => undefined) },
    ]) {
      const embedder = { ...createHashEmbedder(), ...hanging };
      const memory = await openMemory({ inMemory: true, embedder, embedTimeoutMs: 20 });
      const session = await memory.createSession("a");
      expect(await session.remember({ id: "e", text: "tea" })).toMatchObject({ embedded: "pending" });
      expect((await memory.recall("tea", { channels: ["text"] })).hits).toMatchObject([{ event: "e" }]);
      expect(await memory.embedPending()).toMatchObject({ waiting: 1, reason: "EMBEDDING_FAILED, ETIMEDOUT" });
      await memory.close();
    }
    const never = new Promise<never>(() => undefined);
    const slow = createHashEmbedder({ before: (texts) => (texts.length > 3 ? never : undefined) });
    const memory = await openMemory({ inMemory: true, embedder: slow, embedTimeoutMs: 20 });
    const session = await memory.createSession("a");
    await session.rememberMany(Array.from({ length: 9 }, (_, index) => ({ text: `note ${index}` })));
    let embedded = 0;
    for (let attempt = 0; attempt < 12; attempt += 1) embedded += (await memory.embedPending()).embedded;
    expect([embedded, (await memory.stats()).pending.waiting]).toEqual([9, 0]);
    await memory.close();
    for (const wrong of [0, -1, Number.NaN, 2 ** 31, "5" as unknown as number])
      await expect(openMemory({ inMemory: true, embedder: slow, embedTimeoutMs: wrong })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });

  it("[S7] costs a batch one call, whatever its size", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(Array.from({ length: 300 }, (_, index) => ({ text: `event ${index}` })));
    expect(embedder.calls).toHaveLength(1);
  });

  it("[S7] that fails with errors of no known kind costs a few calls, and not two a text", async () => {
    const embedder = createHashEmbedder({
      before: () => {
        throw new Error("out of memory");
      },
    });
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(Array.from({ length: 300 }, (_, index) => ({ text: `event ${index}` })));
    expect(bed.count("pending_vectors")).toBe(300);
    expect(embedder.calls.length).toBeLessThan(20);
  });

  it("[S7] lists what is pending in pages, with reasons that hold no text and no secret", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(["b", "c", "d"].map((id) => ({ id, text: `text of ${id}` })));
    const first = await bed.memory.pendingEmbeddings({ limit: 2 });
    const second = await bed.memory.pendingEmbeddings({ limit: 2, after: first.next ?? "" });
    expect([first.segments.map(({ event }) => event), second.segments.map(({ event }) => event)]).toEqual([
      ["b", "c"],
      ["d"],
    ]);
    expect(second.next).toBeUndefined();
    expect(first.segments[0]).toEqual({
      event: "b",
      session: "a",
      range: { start: 0, end: 9 },
      state: "waiting",
      attempts: 0,
      reason: "EMBEDDING_FAILED, ECONNREFUSED",
      nextAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await bed.memory.pendingEmbeddings({ state: "parked" })).segments).toEqual([]);
    for (const wrong of [{ limit: 0 }, { after: "x" }, { state: "failed" as "parked" }])
      await expect(bed.memory.pendingEmbeddings(wrong)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[S7] is caught up with when it is back: every pending segment gets its vector, once", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(
      Array.from({ length: 70 }, (_, index) => ({ id: `e${index}`, text: `event n${index}` })),
    );
    const down = await bed.memory.embedPending();
    expect(down).toEqual({ embedded: 0, waiting: 70, parked: 0, reason: "EMBEDDING_FAILED, ECONNREFUSED" });
    embedder.isDown = false;
    const sent = embedder.textsEmbedded;
    const progress: number[] = [];
    const done = await bed.memory.embedPending({ onProgress: ({ embedded, total }) => progress.push(embedded, total) });
    expect(done).toEqual({ embedded: 70, waiting: 0, parked: 0 });
    // Behind a failure windows begin small.
    expect(progress).toEqual([8, 70, 24, 70, 56, 70, 70, 70]);
    expect(embedder.textsEmbedded - sent).toBe(70);
    expect([bed.count("vectors_1"), bed.count("pending_vectors")]).toEqual([70, 0]);
    expect((await bed.memory.recall("n33", { limit: 1 })).hits).toMatchObject([
      { event: "e33", channels: ["vector", "text"] },
    ]);
    expect(await session.remember({ id: "e3", text: "event n3" })).toEqual({
      id: "e3",
      created: false,
      embedded: "embedded",
    });
  });

  it("[S7] never parks what only the service failed on", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    await (await bed.memory.createSession("a")).remember({ text: "patience" });
    for (let attempt = 0; attempt < 12; attempt += 1) await bed.memory.embedPending();
    expect((await bed.memory.pendingEmbeddings()).segments).toMatchObject([{ state: "waiting", attempts: 0 }]);
  });

  it("[S7] is no reason to lose an update: the new text is pending, and the old vector is gone", async () => {
    const embedder = createUnsteadyEmbedder();
    const bed = await openMemoryBed({ embedder });
    const session = await bed.memory.createSession("a");
    await session.remember({ id: "e", text: "I live in Lisbon." });
    embedder.isDown = true;
    quieten(bed);
    expect(await session.updateEvent("e", { text: "I live in Porto." })).toMatchObject({ revision: 2 });
    expect([bed.count("vectors_1"), bed.count("pending_vectors")]).toEqual([0, 1]);
    embedder.isDown = false;
    expect(await bed.memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect((await bed.memory.recall("Porto")).hits).toMatchObject([{ event: "e", channels: ["vector", "text"] }]);
  });

  it("[S6, S7] what is forgotten or updated while it is pending is not embedded", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(["b", "c"].map((id) => ({ id, text: `old ${id}` })));
    await session.forget({ events: ["b"] });
    await session.updateEvent("c", { text: "new c" });
    expect(bed.count("pending_vectors")).toBe(1);
    embedder.isDown = false;
    const sent = embedder.calls.length;
    expect(await bed.memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect(embedder.calls.slice(sent)).toEqual([["new c"]]);
  });

  it("[M7, S7] a text that is forgotten or changed while it is embedded gets no vector", async () => {
    const embedder = createUnsteadyEmbedder();
    embedder.isDown = true;
    const bed = await openMemoryBed({ embedder });
    quieten(bed);
    const session = await bed.memory.createSession("a");
    await session.rememberMany(["b", "c", "d"].map((id) => ({ id, text: `old ${id}` })));
    let open: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const calling = new Promise<void>((resolve) => {
      begun = resolve;
    });
    embedder.isDown = false;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    Object.defineProperty(embedder, "gate", {
      get: () => {
        begun();
        return gate;
      },
    });
    const draining = bed.memory.embedPending();
    await calling;
    await session.forget({ events: ["b"] });
    // As if somebody else had embedded it meanwhile.
    bed.raw.exec("DELETE FROM pending_vectors WHERE segment = 3");
    open();
    expect(await draining).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect(bed.raw.prepare("SELECT id FROM records_1 ORDER BY id").all()).toEqual([{ id: "2" }]);
  });
});
