import { describe, expect, it } from "vitest";
import type { EmbeddingKind } from "../../../src/embedding/embedder.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

/** An embedder that fails while `fault` is set. */
function faulty(maxTokens?: number) {
  const state: { fault: ((texts: readonly string[]) => void | Promise<void>) | undefined } = { fault: undefined };
  const before = (texts: readonly string[], kind: EmbeddingKind) =>
    kind === "document" ? state.fault?.(texts) : undefined;
  const embedder = createHashEmbedder({ before, ...(maxTokens !== undefined && { maxTokens }) });
  return { state, embedder };
}

const down = (): never => {
  throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
};

const poison = (texts: readonly string[]): void => {
  if (texts.some((text) => text.includes("poison"))) throw new Error("cannot embed this");
};

async function bed(maxTokens?: number) {
  const { state, embedder } = faulty(maxTokens);
  const opened = await openMemoryBed({ embedder });
  const session = await opened.memory.createSession("a", { user: "alice" });
  return { ...opened, state, session };
}

describe("an event whose embedder fails", () => {
  it("[S7] is found by its words at once and by its vector when the embedder is back; nothing fake is stored", async () => {
    const { memory, session, state, count } = await bed();
    await session.remember({ id: "before", text: "tea is warm" });
    state.fault = down;
    expect(await session.remember({ id: "e", text: "Lisbon is sunny" })).toEqual({
      id: "e",
      created: true,
      embedded: "pending",
    });
    expect([count("vectors_1"), count("segments"), count("pending_vectors")]).toEqual([1, 2, 1]);
    const found = (await memory.recall("Lisbon")).hits.find(({ event }) => event === "e");
    expect(found).toMatchObject({ channels: ["text"] });
    expect(found).not.toHaveProperty("cosineSimilarity");
    expect(await memory.embedPending()).toEqual({
      embedded: 0,
      waiting: 1,
      parked: 0,
      reason: "EMBEDDING_FAILED, ECONNREFUSED",
    });
    state.fault = undefined;
    expect(await memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect([count("vectors_1"), count("pending_vectors")]).toEqual([2, 0]);
    expect((await memory.recall("Lisbon")).hits[0]).toMatchObject({ event: "e", channels: ["vector", "text"] });
    expect((await memory.stats()).pending).toEqual({ waiting: 0, parked: 0 });
  });

  it("[S7] is listed and caught up with for one session alone", async () => {
    const { memory, session, state } = await bed();
    const other = await memory.createSession("b");
    const twin = await (await memory.createTenant("acme")).createSession("a");
    state.fault = down;
    await session.rememberMany([
      { id: "a1", text: "Lisbon is sunny" },
      { id: "a2", text: "tea is warm" },
    ]);
    await other.remember({ id: "b1", text: "bread is good" });
    await twin.remember({ id: "a1", text: "Porto is rainy" });
    const pending = async (from: Pick<typeof session, "pendingEmbeddings">) =>
      (await from.pendingEmbeddings()).segments.map(({ event }) => event);
    expect([await pending(session), await pending(other), await pending(twin)]).toEqual([["a1", "a2"], ["b1"], ["a1"]]);
    const first = await session.pendingEmbeddings({ limit: 1 });
    const rest = await session.pendingEmbeddings({ limit: 1, after: first.next ?? "" });
    expect([first.segments[0]?.event, rest.segments.map(({ event }) => event), rest.next]).toEqual([
      "a1",
      ["a2"],
      undefined,
    ]);
    expect(await session.embedPending()).toMatchObject({ embedded: 0, waiting: 2 });
    state.fault = undefined;
    const progress: unknown[] = [];
    expect(await session.embedPending({ onProgress: (done) => progress.push(done) })).toEqual({
      embedded: 2,
      waiting: 0,
      parked: 0,
    });
    expect(progress).toEqual([{ embedded: 2, total: 2 }]);
    await memory.deleteSession("a");
    await expect(session.embedPending()).rejects.toMatchObject({ code: "STALE" });
  });

  it("[S7] is tried again by itself", async () => {
    const { session, state, count } = await bed();
    state.fault = down;
    await session.remember({ text: "Lisbon is sunny" });
    state.fault = undefined;
    await expect.poll(() => count("pending_vectors"), { timeout: 15_000 }).toBe(0);
    expect(count("vectors_1")).toBe(1);
  });

  it("[S7] is tried again by whoever opens the folder next", async () => {
    const { memory, session, state, path, count } = await bed();
    state.fault = down;
    await session.remember({ text: "Lisbon is sunny" });
    await memory.close();
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    await expect.poll(() => count("pending_vectors"), { timeout: 15_000 }).toBe(0);
    await other.close();
  });

  it("[S7, M8] one poison text never stops the others, and is parked when the embedder works for them", async () => {
    const { memory, session, state, count } = await bed();
    state.fault = poison;
    const receipts = await session.rememberMany([{ text: "tea" }, { id: "bad", text: "poison" }, { text: "bread" }]);
    expect(receipts.map(({ embedded }) => embedded)).toEqual(["embedded", "pending", "embedded"]);
    expect(count("vectors_1")).toBe(2);
    for (let attempt = 1; attempt < 5; attempt += 1)
      expect(await memory.embedPending()).toEqual({ embedded: 0, waiting: 1, parked: 0 });
    expect(await memory.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 1 });
    expect(await memory.pendingEmbeddings({ state: "waiting" })).toEqual({ segments: [] });
    expect((await memory.pendingEmbeddings()).segments).toMatchObject([{ event: "bad", state: "parked" }]);
    state.fault = undefined;
    expect(await memory.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 1 });
    expect(await memory.embedPending({ includeParked: true })).toEqual({ embedded: 1, waiting: 0, parked: 0 });
  });

  it("[S7] a service that is down parks nothing, however often it is asked", async () => {
    const { memory, session, state } = await bed();
    state.fault = () => {
      throw new Error("an error of its own that names no cause");
    };
    await session.rememberMany([{ text: "tea" }, { text: "bread" }]);
    for (let attempt = 0; attempt < 10; attempt += 1) await memory.embedPending();
    expect((await memory.stats()).pending).toEqual({ waiting: 2, parked: 0 });
  });

  it("[S6, S7] that is forgotten or updated while it is embedded gets no vector of what it said", async () => {
    const { memory, session, state, count, embedder } = await bed();
    state.fault = down;
    await session.remember({ id: "forgotten", text: "the old secret" });
    await session.remember({ id: "updated", text: "the old address" });
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    state.fault = () => gate;
    const calls = embedder.calls.length;
    const embedding = memory.embedPending();
    await expect.poll(() => embedder.calls.length).toBe(calls + 1);
    await memory.forget({ events: ["forgotten"] });
    state.fault = undefined;
    await memory.updateEvent("updated", { text: "the new address" });
    open();
    expect(await embedding).toEqual({ embedded: 0, waiting: 0, parked: 0 });
    expect([count("vectors_1"), count("segments"), count("pending_vectors")]).toEqual([1, 1, 0]);
    expect((await memory.recall("the new address")).hits[0]?.cosineSimilarity).toBeCloseTo(1, 6);
  });

  it("[S7, E5] two handles that try at the same time embed each text once", async () => {
    const { memory, session, state, path, embedder, count } = await bed();
    state.fault = down;
    await session.rememberMany(Array.from({ length: 100 }, (_, n) => ({ text: `note ${n}` })));
    state.fault = undefined;
    const before = embedder.textsEmbedded;
    const second = createHashEmbedder();
    const other = await openMemory({ path, threads: "inline", embedder: second });
    const [mine, theirs] = await Promise.all([memory.embedPending(), other.embedPending()]);
    await expect.poll(() => count("pending_vectors"), { timeout: 15_000 }).toBe(0);
    expect(mine.embedded + theirs.embedded).toBeLessThanOrEqual(100);
    expect(embedder.textsEmbedded - before + second.textsEmbedded).toBe(100);
    expect(count("vectors_1")).toBe(100);
    await other.close();
  });

  it("[S3, S7] that was too long to be counted then is cut to the window when its vectors are made", async () => {
    const { memory, session, count, embedder } = await bed(8);
    const { countTokens } = embedder;
    embedder.countTokens = () => {
      throw new Error("no tokenizer yet");
    };
    await session.remember({ id: "long", text: "One more sentence of some words. ".repeat(10) });
    expect([count("segments"), count("pending_vectors")]).toEqual([1, 1]);
    embedder.countTokens = countTokens;
    expect(await memory.embedPending()).toMatchObject({ waiting: 0, parked: 0 });
    expect(count("segments")).toBeGreaterThan(5);
    expect(count("vectors_1")).toBe(count("segments"));
    expect((await memory.stats()).segments).toBe(count("segments"));
    expect((await memory.recall("sentence")).damaged).toBe(0);
  });

  it("[S7] answers of a wrong size, NaN and zero are never stored", async () => {
    const wrong = [new Float32Array(3).fill(1), new Float32Array(64).fill(Number.NaN), new Float32Array(64)];
    for (const vector of wrong) {
      const embedder = { ...createHashEmbedder(), embed: async (texts: readonly string[]) => texts.map(() => vector) };
      const memory = await openMemory({ inMemory: true, embedder });
      const session = await memory.createSession("a");
      expect(await session.remember({ text: "tea" })).toMatchObject({ embedded: "pending" });
      expect(await memory.stats()).toMatchObject({ vectors: 0, pending: { waiting: 1 } });
      await memory.close();
    }
  });

  it("[S7, E12] closing does not wait for an embedder that hangs", async () => {
    const { memory, session, state } = await bed();
    state.fault = down;
    await session.remember({ text: "tea" });
    state.fault = () => new Promise(() => undefined);
    const draining = memory.embedPending({ timeoutMs: 100 });
    await expect(draining).rejects.toMatchObject({ code: "TIMEOUT" });
    await memory.close();
  });
});
