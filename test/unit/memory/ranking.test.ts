import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/index.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

/** More than the candidates of one channel, so that what a channel leaves out is left out. */
const MANY = 150;

describe("the ranking of a recall", () => {
  it("[S5] words that tell nothing admit nothing by themselves", async () => {
    const embedder = createHashEmbedder();
    const memory = await openMemory({ inMemory: true, embedder });
    const session = await memory.createSession("s");
    await session.remember({ id: "a", text: "What did she do with the boat?" });
    const { hits } = await memory.recall("What did he do with the violin?", { minCosineSimilarity: 1 });
    expect(hits).toEqual([]);
    expect((await memory.recall("what did she do", { minCosineSimilarity: 1 })).hits).toMatchObject([{ event: "a" }]);
    await memory.close();
  });

  it("[S5] a hit by meaning has its text score also where a hundred others say the word more often", async () => {
    const embedder = {
      ...createHashEmbedder({ dimensions: 2 }),
      embed: async (texts: readonly string[]) =>
        texts.map((text) => Float32Array.from(/harbour|port/.test(text) ? [1, 0] : [0, 1])),
    };
    const memory = await openMemory({ inMemory: true, embedder });
    const session = await memory.createSession("s");
    const others = Array.from({ length: MANY }, (_, index) => ({
      id: `o${index}`,
      text: "boat ".repeat(2 + (index % 7)),
    }));
    await session.rememberMany([...others, { id: "target", text: "a boat at the old harbour in the evening" }]);
    const { hits } = await memory.recall("boat port", { limit: 10 });
    const target = hits.find(({ event }) => event === "target");
    expect(target).toMatchObject({ cosineSimilarity: 1, channels: ["vector", "text"] });
    const [alone] = (await memory.recall("boat port", { where: "event = 'target'" })).hits;
    expect(target?.textScore).toBe(alone?.textScore);
    await memory.close();
  });
});
