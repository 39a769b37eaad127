import { describe, expect, it } from "vitest";
import { embedChecked } from "../../../src/embedding/checked.ts";
import { identityText } from "../../../src/embedding/identity.ts";
import { type AiSdkEmbeddingModel, aiSdkEmbedder } from "../../../src/embedding/providers/ai-sdk.ts";

/** A model in the shape of the AI SDK; newer specifications answer the two optional fields as promises. */
function model(fields: Partial<AiSdkEmbeddingModel> = {}) {
  const calls: string[][] = [];
  let running = 0;
  let most = 0;
  const made: AiSdkEmbeddingModel = {
    provider: "test.embedding",
    modelId: "small",
    maxEmbeddingsPerCall: 3,
    supportsParallelCalls: false,
    async doEmbed({ values }) {
      calls.push(values);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { embeddings: values.map((value) => [value.length, 1]) };
    },
    ...fields,
  };
  return { made, calls, most: () => most };
}

const TEXTS = Array.from({ length: 8 }, (_, n) => "x".repeat(n + 1));

describe("an embedding model of the AI SDK", () => {
  it.each([
    ["v2", { maxEmbeddingsPerCall: 3, supportsParallelCalls: false }],
    ["v3 and v4", { maxEmbeddingsPerCall: Promise.resolve(3), supportsParallelCalls: Promise.resolve(false) }],
  ])("is called in batches of its size, one after the other: %s", async (_, fields) => {
    const { made, calls, most } = model(fields);
    const vectors = await embedChecked(aiSdkEmbedder(made, { dimensions: 2 }), TEXTS, { kind: "document" });
    expect(vectors.map(([length]) => length)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(calls.map(({ length }) => length)).toEqual([3, 3, 2]);
    expect(most()).toBe(1);
  });

  it("is called at the same time where it says that it may be, and without a size in batches of ours", async () => {
    const parallel = model({ supportsParallelCalls: true });
    await aiSdkEmbedder(parallel.made, { dimensions: 2 }).embed(TEXTS, { kind: "document" });
    expect(parallel.most()).toBeGreaterThan(1);
    const unsized = model({ maxEmbeddingsPerCall: undefined });
    await aiSdkEmbedder(unsized.made, { dimensions: 2 }).embed(TEXTS, { kind: "document" });
    expect(unsized.calls).toHaveLength(1);
  });

  it("[M1] is identified by provider, model and what its caller adds", () => {
    const { made } = model();
    const text = identityText(aiSdkEmbedder(made, { dimensions: 2, revision: "7" }));
    const asked = { dimensions: 2, providerOptions: { test: { dimensions: 2 } } };
    expect(identityText(aiSdkEmbedder(made, asked))).not.toBe(identityText(aiSdkEmbedder(made, { dimensions: 2 })));
    expect(JSON.parse(text)).toMatchObject({
      provider: "test.embedding",
      model: "small",
      revision: "7",
      dimensions: 2,
    });
  });

  it("[S7] whose answer is short is an error, and never a vector for another text", async () => {
    const { made } = model({ doEmbed: async () => ({ embeddings: [[1, 2]] }) });
    await expect(aiSdkEmbedder(made, { dimensions: 2 }).embed(["a", "b"], { kind: "document" })).rejects.toThrow(
      /1 embeddings for 2 texts/,
    );
  });

  it("[V14] a bare name is refused with a hint, and so is what is no model", () => {
    for (const wrong of ["text-embedding-3-small", {}, null, { provider: "p", modelId: "m" }])
      expect(() => aiSdkEmbedder(wrong as never, { dimensions: 2 })).toThrowError(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
    expect(() => aiSdkEmbedder("text-embedding-3-small" as never, { dimensions: 2 })).toThrow(/give the model itself/);
  });

  it("[V14] without a size, or with a secret in its identity, is refused when it is made", () => {
    for (const options of [{}, { dimensions: 0 }, { dimensions: 2, providerOptions: { test: { apiKey: "x" } } }])
      expect(() => aiSdkEmbedder(model().made, options as never)).toThrowError(
        expect.objectContaining({ code: "INVALID_ARGUMENT" }),
      );
  });
});
