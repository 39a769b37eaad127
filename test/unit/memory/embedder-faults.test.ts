import { describe, expect, it } from "vitest";
import type { Embedder } from "../../../src/embedding/embedder.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";

function raise(): never {
  throw new Error("the embedder's own");
}

const FAULTS: readonly (readonly [string, Partial<Embedder>])[] = [
  ["cannot be opened", { open: async () => raise() }],
  ["raises when it is opened", { open: raise }],
  ["cannot count tokens", { maxTokens: 8, countTokens: raise }],
  ["counts NaN tokens", { maxTokens: 8, countTokens: () => Number.NaN }],
  ["counts fewer than no tokens", { maxTokens: 8, countTokens: () => -1 }],
  ["counts tokens as a text", { maxTokens: 8, countTokens: () => "3" as unknown as number }],
  ["raises", { embed: raise }],
];

describe("an embedder", () => {
  it.each(FAULTS)("[S7] that %s loses nothing: the event is kept, marked, and found by its words", async (_, fault) => {
    const memory = await openMemory({ inMemory: true, embedder: { ...createHashEmbedder(), ...fault } });
    const session = await memory.createSession("a");
    const event = { id: "e", text: "a few words", producer: "bob" };
    expect(await session.remember(event)).toEqual({ id: "e", created: true, embedded: "pending" });
    const { hits, vectorSearch } = await memory.recall("words");
    expect([hits.map(({ event: id, channels }) => [id, channels]), vectorSearch]).toEqual([
      [["e", ["text"]]],
      "no-vectors",
    ]);
    expect(await memory.stats()).toMatchObject({
      events: 1,
      segments: 1,
      vectors: 0,
      pending: { waiting: 1, parked: 0 },
    });
    const drained = await memory.embedPending();
    expect(drained).toEqual({ embedded: 0, waiting: 1, parked: 0, reason: "EMBEDDING_FAILED" });
    await memory.close();
  });

  it("[E12] that cannot be closed is named by the close, behind the folder's own", async () => {
    const embedder = { ...createHashEmbedder(), close: raise };
    const memory = await openMemory({ inMemory: true, embedder });
    await expect(memory.close()).rejects.toMatchObject({ code: "EMBEDDING_FAILED" });
    await expect(memory.stats()).rejects.toMatchObject({ code: "CLOSED" });
  });

  const declarations: readonly (readonly [string, Partial<Embedder>])[] = [
    ["no dimensions", { dimensions: 0 }],
    ["more dimensions than a store takes", { dimensions: 16_385 }],
    ["no provider", { identity: {} as Embedder["identity"] }],
    ["a key in its identity", { identity: { provider: "p", model: "m", options: { apiKey: "x" } } }],
  ];

  it.each(declarations)("[M1] with %s is refused when the memory is opened", async (_, declaration) => {
    const embedder = { ...createHashEmbedder(), ...declaration };
    await expect(openMemory({ inMemory: true, embedder })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a long text", () => {
  it("[E7] is counted and cut in slices: the calling thread is given back all along", async () => {
    const counting = createHashEmbedder({ maxTokens: 8 });
    const embedder: Embedder = {
      ...counting,
      countTokens(text) {
        for (const until = performance.now() + 0.5; performance.now() < until; );
        return counting.countTokens(text);
      },
    };
    const memory = await openMemory({ inMemory: true, embedder });
    const session = await memory.createSession("a");
    let turns = 0;
    let counted = true;
    const turn = (): void => {
      turns += 1;
      if (counted) setImmediate(turn);
    };
    setImmediate(turn);
    await session.remember({ text: "One more sentence of some words. ".repeat(200) });
    counted = false;
    // Each of the 200 segments is counted several times; without slices all of it is one turn.
    expect(turns).toBeGreaterThan(20);
    await memory.close();
  });
});
