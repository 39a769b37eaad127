import { describe, expect, it } from "vitest";
import { fuse } from "../../../src/memory/fusion.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

async function conversation(lines: readonly (readonly [producer: string, text: string])[]) {
  const bed = await openMemoryBed();
  const session = await bed.memory.createSession("chat", { user: "alice" });
  for (const [index, [producer, text]] of lines.entries())
    await session.remember({
      id: `m${index}`,
      producer,
      text,
      at: new Date(index * 60_000),
      properties: { even: index % 2 === 0 },
    });
  return { ...bed, session };
}

const FILLER = ["rain", "books", "a walk", "music", "bread", "snow", "trains", "a film"];

describe("the neighbourhood of a hit", () => {
  it("[S5] lifts an answer that shares no word with its question above strangers", async () => {
    const lines = FILLER.map((thing) => ["carol", `I like ${thing}`] as const);
    const { memory } = await conversation([
      ...lines.slice(0, 4),
      ["alice", "Which city did you move to?"],
      ["carol", "Lisbon, in May."],
      ...lines.slice(4),
    ]);
    const { hits } = await memory.recall("which city did she move to", { limit: 3 });
    expect(hits[0]?.event).toBe("m4");
    expect(hits.map(({ event }) => event)).toContain("m5");
  });

  it("[S4] neither answers nor counts what the filter refuses", async () => {
    const { memory } = await conversation([
      ["alice", "Which city did you move to?"],
      ["carol", "Lisbon, in May."],
      ["alice", "That is nice."],
    ]);
    const question = "which city did you move to";
    for (const where of ["m.even = true", "producer = 'alice'"]) {
      const { hits } = await memory.recall(question, { where, explain: true });
      expect(hits.map(({ event }) => event).sort()).toEqual(["m0", "m2"]);
    }
    const { hits } = await memory.recall(question, { where: "event = 'm1'", explain: true });
    expect(hits).toMatchObject([{ event: "m1", parts: { neighbours: 0 } }]);
  });

  it("[S5] a producer who is named in the question comes first among equals", async () => {
    const { memory } = await conversation([
      ["bob", "I had soup for lunch."],
      ["dave", "The soup was warm."],
      ["Carol Ann", "I had soup for lunch."],
      ["bob", "The soup was cold."],
    ]);
    const [best] = (await memory.recall("what did carol ann have for lunch?", { explain: true })).hits;
    expect(best).toMatchObject({ event: "m2", parts: { producer: 1 } });
    // Part of a name is nobody.
    const parts = (await memory.recall("what did ann have for lunch?", { explain: true })).hits;
    expect(parts.every((hit) => hit.parts?.producer === 0)).toBe(true);
  });

  it("[S5] scores lie between 0 and 1, fall from hit to hit, and one hit alone has the middle", async () => {
    const { memory, session } = await conversation(FILLER.map((thing) => ["carol", `I like ${thing}`] as const));
    const { hits } = await memory.recall("who likes books and music");
    const scores = hits.map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
    await session.forget({ where: "event <> 'm1'" });
    expect((await memory.recall("books")).hits).toMatchObject([{ score: 0.5 }]);
  });

  it("[S5] candidates without a vector are neither near nor far", () => {
    const of = (segment: number, cosine: number | undefined, textScore: number | undefined) => ({
      segment,
      cosine,
      textScore,
      byVector: cosine !== undefined,
      producerNamed: false,
    });
    const found = [of(1, 0.9, undefined), of(2, 0.1, undefined), of(3, undefined, undefined)];
    const placed = found.map((candidate) => ({ candidate, before: [], after: [] }));
    const ranked = fuse({ scale: found, ranked: placed });
    expect(ranked.map(({ segment }) => segment)).toEqual([1, 3, 2]);
    expect(fuse({ scale: [], ranked: [] })).toEqual([]);
  });
});

describe("what a recall answers beside its hits", () => {
  it("[S5] context: events around a hit in the same session, in the order of time", async () => {
    const { memory } = await conversation(FILLER.map((thing) => ["carol", `I like ${thing}`] as const));
    const other = await memory.createSession("other");
    await other.remember({ text: "between them by time", at: new Date(90_000) });
    const around = async (context: Parameters<typeof memory.recall>[1]) => {
      const hit = (await memory.recall("books", context)).hits.find(({ event }) => event === "m1");
      return [hit?.context.before.map(({ event }) => event), hit?.context.after.map(({ event }) => event)];
    };
    expect(await around({})).toEqual([["m0"], ["m2"]]);
    expect(await around({ context: 3 })).toEqual([["m0"], ["m2", "m3", "m4"]]);
    expect(await around({ context: { after: 2 } })).toEqual([[], ["m2", "m3"]]);
    expect(await around({ context: 0 })).toEqual([[], []]);
    for (const context of [-1, 21, 1.5, "1", { before: -1 }, { around: 1 }])
      await expect(around({ context: context as never })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[S5] channels: one alone orders by its own score", async () => {
    const { memory } = await conversation(FILLER.map((thing) => ["carol", `I like ${thing}`] as const));
    const text = await memory.recall("books and music", { channels: ["text"] });
    expect(text.vectorSearch).toBe("not-asked");
    expect(text.hits.map(({ channels }) => channels)).toEqual([["text"], ["text"]]);
    const vector = await memory.recall("books and music", { channels: ["vector"] });
    expect(vector.hits).toHaveLength(8);
    const cosines = vector.hits.map(({ cosineSimilarity }) => cosineSimilarity ?? 0);
    expect(cosines).toEqual([...cosines].sort((a, b) => b - a));
    for (const channels of [[], ["words"], "text"])
      await expect(memory.recall("x", { channels: channels as never })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });

  it("[S5] explain: the plan of the filter, the words, the candidates and what made each score", async () => {
    const { memory } = await conversation(FILLER.map((thing) => ["carol", `I like ${thing}`] as const));
    const plain = await memory.recall("books");
    expect(plain).not.toHaveProperty("explanation");
    expect(plain.hits[0]).not.toHaveProperty("parts");
    for (const [where, filter] of [
      [undefined, "none"],
      ["producer = 'carol'", "columns"],
      ["m.even = true", "listed"],
    ] as const) {
      const { explanation, hits } = await memory.recall("books", { explain: true, ...(where && { where }) });
      expect(explanation).toMatchObject({ filter, words: ["book"], vectorCandidates: filter === "listed" ? 4 : 8 });
      expect(hits[0]?.parts).toEqual({
        text: expect.any(Number),
        vector: expect.any(Number),
        neighbours: expect.any(Number),
        producer: 0,
      });
    }
  });

  it("[S5, S7] coverage: segments in scope that no vector search can see", async () => {
    let down = false;
    const embedder = createHashEmbedder({
      before: (_, kind) => {
        if (down && kind === "document") throw new Error("down");
      },
    });
    const { memory, path } = await openMemoryBed({ embedder });
    const [a, b] = [await memory.createSession("a", { user: "alice" }), await memory.createSession("b")];
    await a.remember({ text: "tea is warm" });
    down = true;
    await a.remember({ text: "bread is fresh" });
    await b.rememberMany([{ text: "snow is cold" }, { text: "rain is wet" }]);
    const coverage = async (options = {}) => (await memory.recall("tea", options)).coverage;
    expect(await coverage()).toEqual({ pending: 3, parked: 0, otherSpace: 0 });
    expect(await coverage({ user: "alice" })).toEqual({ pending: 1, parked: 0, otherSpace: 0 });
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder({ model: "hash-2" }) });
    expect(await other.recall("tea")).toMatchObject({
      vectorSearch: "other-space",
      coverage: { pending: 3, parked: 0, otherSpace: 1 },
    });
    await other.close();
  });

  it("[S5, D11] words answer at once while the model is loading, and whoever waits gets vectors too", async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { memory, path } = await conversation([["alice", "I like tea"]]);
    await memory.close();
    const loading = await openMemory({
      path,
      threads: "inline",
      embedder: { ...createHashEmbedder(), open: () => opened },
    });
    expect(await loading.recall("tea", { waitForModel: false })).toMatchObject({
      vectorSearch: "model-loading",
      hits: [{ text: "I like tea", channels: ["text"] }],
    });
    const waiting = [loading.recall("tea", { waitForModel: true }), loading.recall("tea")];
    open();
    for (const answer of waiting) expect(await answer).toMatchObject({ vectorSearch: "searched" });
    expect(await loading.recall("another question of tea")).toMatchObject({ vectorSearch: "searched" });
    await loading.close();
  });

  it("[S7] an embedder that cannot be opened is named as such, not as loading for ever", async () => {
    const { memory, path } = await conversation([["alice", "I like tea"]]);
    await memory.close();
    const embedder = { ...createHashEmbedder(), open: () => Promise.reject(new Error("no model")) };
    const broken = await openMemory({ path, threads: "inline", embedder });
    await expect
      .poll(async () => (await broken.recall("tea", { waitForModel: false })).vectorSearch)
      .toBe("not-embedded");
    await broken.close();
  });

  it("[S5, S7] a question whose vector does not come within queryTimeoutMs is answered by words, which says so", async () => {
    let hanging = false;
    const embedder = createHashEmbedder({
      before: (_, kind) => (hanging && kind === "query" ? new Promise(() => undefined) : undefined),
    });
    const memory = await openMemory({ inMemory: true, embedder, queryTimeoutMs: 1 });
    await (await memory.createSession("a")).remember({ text: "I like tea" });
    expect(await memory.recall("tea", { waitForModel: true })).toMatchObject({ vectorSearch: "searched" });
    hanging = true;
    expect(await memory.recall("more tea")).toMatchObject({
      vectorSearch: "not-embedded",
      hits: [{ text: "I like tea", channels: ["text"] }],
    });
    await memory.close();
    for (const queryTimeoutMs of [0, -1, Number.NaN, "5", 2 ** 31])
      await expect(openMemory({ inMemory: true, queryTimeoutMs: queryTimeoutMs as number })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});
