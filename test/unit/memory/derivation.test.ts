import { describe, expect, it } from "vitest";
import type { Derive } from "../../../src/memory/derivation.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { holdRetries, openMemoryBed } from "./memories.ts";

describe("derivation", () => {
  it("[S3] embeds each sentence with who said it, and a segment is as near as its nearest sentence", async () => {
    const { memory, embedder, count } = await openMemoryBed({ derive: "sentences" });
    const session = await memory.createSession("a");
    await session.remember({ id: "e", producer: "bob", text: "Tea is warm. Lisbon is sunny. Cats purr." });
    expect(embedder.calls.flat()).toEqual(["bob: Tea is warm.", "bob: Lisbon is sunny.", "bob: Cats purr."]);
    expect([count("segments"), count("vectors_1")]).toEqual([1, 3]);
    const { hits } = await memory.recall("bob: Lisbon is sunny.");
    expect(hits).toMatchObject([{ event: "e", text: "Tea is warm. Lisbon is sunny. Cats purr." }]);
    expect(hits[0]?.cosineSimilarity).toBeCloseTo(1, 6);
  });

  it("[S3] embeds the day with who said it where it is told so, as the clock on the wall showed it, also later", async () => {
    const embedder = createUnsteadyEmbedder();
    const { memory } = await openMemoryBed({ embedder, derive: "segment-with-time" });
    const session = await memory.createSession("a");
    const at = "2023-05-08T23:30:00-05:00";
    await session.remember({ id: "e", producer: "bob", at, text: "Tea is warm." });
    expect(embedder.calls.flat()).toEqual(["bob (8 May 2023): Tea is warm."]);
    embedder.isDown = true;
    expect(await session.remember({ id: "f", at: "0987-12-31T00:00:00Z", text: "Ice." })).toMatchObject({
      embedded: "pending",
    });
    embedder.isDown = false;
    await memory.embedPending();
    const ofIce = embedder.calls.flat().filter((sent) => sent.includes("Ice"));
    expect([ofIce.length > 1, ...new Set(ofIce)]).toEqual([true, "31 December 987: Ice."]);
    // Words are searched in what was said, and not in the day.
    expect((await memory.recall("December", { channels: ["text"] })).hits).toEqual([]);
  });

  it("[S3] cuts long texts so that the day has its place in each window", async () => {
    const embedder = createHashEmbedder({ maxTokens: 20 });
    const { memory } = await openMemoryBed({ embedder, derive: "segment-with-time" });
    const text = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
    await (await memory.createSession("a")).remember({ producer: "bob", at: "2023-05-08T12:00:00Z", text });
    const sent = embedder.calls.flat();
    expect(sent.length).toBeGreaterThanOrEqual(4);
    for (const one of sent) {
      expect(one).toMatch(/^bob \(8 May 2023\): word/);
      expect(embedder.countTokens(one)).toBeLessThanOrEqual(20);
    }
  });

  it("[S5] answers as many segments as are asked for, however many vectors one of them has", async () => {
    const derive: Derive = ({ event, text }) =>
      event.id.startsWith("many") ? Array.from({ length: 64 }, (_, index) => `tea number${index}`) : [text];
    const { memory } = await openMemoryBed({ derive });
    const session = await memory.createSession("a");
    // Their 192 vectors are nearer than any other, and more than a search for 10 segments looks at first.
    await session.rememberMany(["many1", "many2", "many3"].map((id) => ({ id, text: `nothing of the kind ${id}` })));
    await session.rememberMany(
      Array.from({ length: 50 }, (_, index) => ({ text: `far away other${index} thing tea` })),
    );
    // The second filter is one that no column answers.
    for (const where of [undefined, "m.none = 'x' or producer is null"]) {
      const { hits } = await memory.recall("tea", {
        limit: 10,
        channels: ["vector"],
        ...(where !== undefined && { where }),
      });
      const events = hits.map(({ event }) => event);
      expect(new Set(events).size).toBe(10);
      expect(events.slice(0, 3).sort()).toEqual(["many1", "many2", "many3"]);
    }
  });

  it("[S5] gives a segment that words found the best cosine of its vectors", async () => {
    const derive: Derive = ({ text }) => ["something else", text];
    const { memory } = await openMemoryBed({ derive });
    await (await memory.createSession("a")).remember({ id: "e", text: "lisbon sunny" });
    const { hits } = await memory.recall("lisbon sunny", { minCosineSimilarity: 1 });
    expect(hits[0]?.cosineSimilarity).toBeCloseTo(1, 6);
  });

  it("[S6] forgetting and updating take every vector of a segment along", async () => {
    const { memory, count } = await openMemoryBed({ derive: "sentences" });
    const session = await memory.createSession("a");
    await session.rememberMany(["e", "f"].map((id) => ({ id, text: `One ${id}. Two ${id}. Three ${id}.` })));
    expect(count("vectors_1")).toBe(6);
    await session.updateEvent("e", { text: "Only one." });
    expect(count("vectors_1")).toBe(4);
    await session.forget({ events: ["e", "f"] });
    expect(count("vectors_1")).toBe(0);
  });

  it("[S7] a segment of which one text fails is pending as a whole, and complete afterwards", async () => {
    const embedder = createUnsteadyEmbedder();
    const { memory, count, raw } = await openMemoryBed({ embedder, derive: "sentences" });
    holdRetries(raw);
    embedder.poison.add("bad");
    const session = await memory.createSession("a");
    const receipts = await session.rememberMany([
      { text: "Good. Very bad. Good too." },
      { text: "All good. All fine." },
    ]);
    expect(receipts.map(({ embedded }) => embedded)).toEqual(["pending", "embedded"]);
    expect([count("vectors_1"), count("pending_vectors")]).toEqual([2, 1]);
    embedder.poison.clear();
    expect(await memory.embedPending()).toEqual({ embedded: 1, waiting: 0, parked: 0 });
    expect([count("vectors_1"), count("pending_vectors")]).toEqual([5, 0]);
  });

  it("[S3] tells a function of yours what the segment is, and cuts what it answers to the window", async () => {
    const seen: unknown[] = [];
    const derive: Derive = async (segment) => {
      seen.push(segment);
      return ["one two three four five six seven eight", "short"];
    };
    const { memory, embedder, count } = await openMemoryBed({ derive, embedder: createHashEmbedder({ maxTokens: 5 }) });
    const event = { id: "e", at: "2023-05-08T23:30:00-05:00", producer: "bob", role: "user", text: "hello" };
    await (await memory.createSession("a")).remember(event);
    expect(seen).toEqual([
      {
        event: { ...event, at: "2023-05-08T23:30:00.000000-05:00" },
        text: "hello",
        range: { start: 0, end: 5 },
      },
    ]);
    expect(embedder.calls.flat()).toEqual(["one two three four five", "six seven eight", "short"]);
    expect(count("vectors_1")).toBe(3);
  });

  const faults: readonly (readonly [string, () => unknown])[] = [
    ["no list", () => "text"],
    ["no text", () => []],
    ["65 texts", () => Array.from({ length: 65 }, () => "x")],
    ["an empty text", () => ["x", " "]],
    ["half a character", () => ["\ud800"]],
    [
      "an error",
      () => {
        throw new Error("its own");
      },
    ],
  ];

  it.each(faults)(
    "[S3, V14] a function that answers %s is refused, and nothing is embedded or written",
    async (_, derive) => {
      const { memory, embedder, count } = await openMemoryBed({ derive: derive as Derive });
      const session = await memory.createSession("a");
      await expect(session.remember({ text: "hello" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      expect([count("events"), embedder.textsEmbedded]).toEqual([0, 0]);
    },
  );
});
