import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { rerankChecked } from "../../../src/reranking/checked.ts";
import type { Reranker, RerankRequest } from "../../../src/reranking/reranker.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

const TEXTS = ["tea", "tea and bread", "tea and snow", "tea and rain", "tea and a very long walk"];

async function told(rerank: Reranker["rerank"]) {
  const asked: RerankRequest[] = [];
  const reranker: Reranker = {
    name: "longest",
    rerank: (request) => {
      asked.push(request);
      return rerank(request);
    },
  };
  const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder(), reranker });
  const session = await memory.createSession("s");
  await session.rememberMany(TEXTS.map((text, index) => ({ id: `e${index}`, text, producer: "bob" })));
  return { memory, session, asked };
}

const byLength: Reranker["rerank"] = async ({ documents }) =>
  documents.map((text, index) => ({ index, score: text.length })).reverse();

describe("reranking", () => {
  it("[S5] orders the best hits by the reranker, from more candidates than are answered", async () => {
    const { memory, session, asked } = await told(byLength);
    const plain = await memory.recall("tea", { limit: 1 });
    expect(plain.hits).toMatchObject([{ event: "e0" }]);
    expect(plain).not.toHaveProperty("reranking");
    const { hits, reranking } = await memory.recall("tea", { limit: 2, rerank: true });
    expect(hits.map(({ event, rerankScore }) => [event, rerankScore])).toEqual([
      ["e4", "bob: tea and a very long walk".length],
      ["e1", "bob: tea and bread".length],
    ]);
    expect(reranking).toEqual({ name: "longest", candidates: 5 });
    expect(asked).toMatchObject([{ query: "tea" }]);
    expect((await session.recall("tea", { rerank: true, limit: 1 })).hits).toMatchObject([{ event: "e4" }]);
    await memory.close();
  });

  it("[S5] may empty the list that it is given", async () => {
    const { memory } = await told(async ({ documents }) => {
      const own = documents as string[];
      return own.splice(0).map((text, index) => ({ index, score: text.length }));
    });
    const { hits, reranking } = await memory.recall("tea", { limit: 1, rerank: true });
    expect(reranking).toEqual({ name: "longest", candidates: 5 });
    expect(hits).toMatchObject([{ event: "e4" }]);
    await memory.close();
  });

  it("[S5] judges no more than its candidates; the others follow as they were", async () => {
    const { memory, asked } = await told(byLength);
    const before = (await memory.recall("tea")).hits.map(({ event }) => event);
    const { hits, reranking } = await memory.recall("tea", { rerank: { candidates: 2 } });
    expect(asked[0]?.documents).toHaveLength(2);
    expect(reranking).toMatchObject({ candidates: 2 });
    expect(hits.map(({ event }) => event).slice(2)).toEqual(before.slice(2));
    expect(hits.map(({ rerankScore }) => rerankScore !== undefined)).toEqual([true, true, false, false, false]);
    expect((await memory.recall("tea", { limit: 0, rerank: true })).hits).toEqual([]);
    expect((await memory.recall("tea", { rerank: false })).hits.map(({ event }) => event)).toEqual(before);
    await memory.close();
  });

  const answers: Readonly<Record<string, Reranker["rerank"]>> = {
    "throws at once": () => {
      throw new Error("no service");
    },
    rejects: async () => {
      throw new Error("no service");
    },
    "answers too few": async () => [{ index: 0, score: 1 }],
    "answers one twice": async ({ documents }) => documents.map(() => ({ index: 0, score: 1 })),
    "answers a place that is none": async ({ documents }) =>
      documents.map((_, index) => ({ index: index + 1, score: 1 })),
    "answers NaN": async ({ documents }) => documents.map((_, index) => ({ index, score: Number.NaN })),
    "answers no list": async () => "none" as never,
    "answers holes": async ({ documents }) => documents.map(() => null) as never,
  };
  for (const [name, rerank] of Object.entries(answers))
    it(`[S5] one that ${name} leaves the order as it was, and the answer says so`, async () => {
      const { memory } = await told(rerank);
      const before = (await memory.recall("tea", { limit: 3 })).hits;
      const { hits, reranking } = await memory.recall("tea", { limit: 3, rerank: true });
      expect(hits).toEqual(before);
      expect(reranking).toEqual({ name: "longest", candidates: 5, failed: expect.stringMatching(/./) });
      await memory.close();
    });

  it("[S5, Q11] one that hangs is bounded, and the caller's signal ends the call", async () => {
    const reranker: Reranker = { name: "hangs", rerank: () => new Promise(() => undefined) };
    const request = { query: "q", documents: ["a"] };
    expect(await rerankChecked(reranker, request, 1)).toEqual({ failed: expect.stringContaining("1 ms") });
    const caller = new AbortController();
    const call = rerankChecked(reranker, { ...request, signal: caller.signal });
    caller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("[S5] is refused where there is no reranker, and with options that it does not have", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    await expect(memory.recall("tea", { rerank: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await memory.close();
    const { memory: other, asked } = await told(byLength);
    for (const rerank of ["yes", null, {}, { candidates: 0 }, { candidates: 1.5 }, { candidates: 5, top: 1 }])
      await expect(other.recall("tea", { rerank: rerank as never })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    expect(asked).toEqual([]);
    await other.close();
    for (const reranker of [{}, { name: "x" }, { name: "", rerank: byLength }, null])
      await expect(openMemory({ inMemory: true, reranker: reranker as never })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});
