import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { type AiSdkRerankingModel, aiSdkReranker, functionReranker } from "../../../src/reranking/adapters.ts";
import type { Reranker } from "../../../src/reranking/reranker.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

/** A model in the shape of the AI SDK that likes short texts. */
const model: AiSdkRerankingModel = {
  provider: "test.reranking",
  modelId: "short",
  async doRerank({ documents, topN }) {
    const ranking = documents.values.map((text, index) => ({ index, relevanceScore: 1 / text.length }));
    return { ranking: ranking.sort((a, b) => b.relevanceScore - a.relevanceScore).slice(0, topN) };
  },
};

async function order(reranker: Reranker, rerank: boolean): Promise<readonly string[]> {
  const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder(), reranker });
  const session = await memory.createSession("a");
  for (const text of ["tea and bread and butter", "tea and bread", "tea"]) await session.remember({ text });
  const { hits } = await memory.recall("tea and bread and butter", { rerank });
  await memory.close();
  return hits.map(({ text }) => text);
}

describe("a reranker", () => {
  it.each([
    ["of the AI SDK", aiSdkReranker(model)],
    ["that is a function", functionReranker("short", (_, documents) => documents.map((text) => -text.length))],
  ])("[S5] %s orders the hits where it is asked for, and only there", async (_, reranker) => {
    expect(await order(reranker, true)).toEqual(["tea", "tea and bread", "tea and bread and butter"]);
    expect((await order(reranker, false))[0]).toBe("tea and bread and butter");
  });

  it("[V14] that is none is refused when it is made", () => {
    for (const wrong of ["rerank-v3", {}, null, { provider: "p", modelId: "m" }])
      expect(() => aiSdkReranker(wrong as never)).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(() => aiSdkReranker("rerank-v3.5" as never)).toThrow(
      /"rerank-v3.5" is the name of a model; give the model itself/,
    );
    expect(() => functionReranker("", () => [])).toThrowError(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});
