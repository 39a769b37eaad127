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

  it("[S5] a larger limit continues the answer to a smaller one, and both have the same scores", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    const session = await memory.createSession("s");
    const words = "tea bread snow rain books music trains films soup walks".split(" ");
    await session.rememberMany(
      Array.from({ length: 700 }, (_, index) => ({
        id: `e${index}`,
        text: [index % 7, index % 9, index % 10].map((place) => words[place]).join(" "),
        at: new Date(index * 1000),
      })),
    );
    for (const channels of [["text", "vector"], ["text"], ["vector"]] as const) {
      const ask = async (limit: number) =>
        (await memory.recall("tea with bread and music", { limit, channels, context: 0 })).hits;
      const ten = await ask(10);
      expect(ten).toHaveLength(10);
      expect((await ask(300)).slice(0, 10)).toEqual(ten);
    }
    await memory.close();
  });

  it("[S5] a larger limit lifts nothing into the answer to a smaller one by its neighbours, and scores fall throughout", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder({ dimensions: 8 }) });
    const words = "tea bread snow rain books music trains films soup walks".split(" ");
    let state = 7;
    const next = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return Math.floor((state / 0x80000000) * below);
    };
    for (const name of ["a", "b", "c"]) {
      const session = await memory.createSession(name);
      await session.rememberMany(
        Array.from({ length: 900 }, (_, index) => ({
          id: `${name}${index}`,
          text: Array.from({ length: 3 }, () => words[next(words.length)]).join(" "),
        })),
      );
    }
    for (const question of ["tea with bread", "snow and rain on walks", "books about trains and films"]) {
      const ask = async (limit: number) => (await memory.recall(question, { limit, context: 0 })).hits;
      const all = await ask(10_000);
      expect(all.length).toBeGreaterThan(2_000);
      for (const limit of [1, 5, 40, 41, 160, 200, 700]) expect(await ask(limit)).toEqual(all.slice(0, limit));
      const scores = all.map(({ score }) => score);
      expect(scores).toEqual([...scores].sort((one, other) => other - one));
    }
    await memory.close();
  });

  it("[Q1] cosines of neighbours are those of a search, whether read by key or from memory", async () => {
    const memory = await openMemory({ inMemory: true, embedder: createHashEmbedder() });
    const session = await memory.createSession("s");
    const fill = (from: number, to: number) =>
      session.rememberMany(
        Array.from({ length: to - from }, (_, index) => ({
          id: `e${from + index}`,
          text: `tea ${from + index} of bread`,
        })),
      );
    for (const [from, to] of [
      [0, 200],
      [200, 500],
    ] as const) {
      await fill(from, to);
      const cosines = async (channels: readonly ("text" | "vector")[]) => {
        const { hits } = await memory.recall("bread 7 and soup", { channels, limit: 10_000 });
        return new Map(hits.map(({ event, cosineSimilarity }) => [event, cosineSimilarity]));
      };
      const searched = await cosines(["vector"]);
      expect(searched.size).toBe(to);
      const { hits } = await memory.recall("bread 7 and soup", { minCosineSimilarity: 1, limit: 10_000 });
      expect(hits).toHaveLength(to);
      for (const { event, cosineSimilarity } of hits) expect(cosineSimilarity).toBe(searched.get(event));
    }
    await memory.close();
  });
});
