import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import type { RecallOptions } from "../../../src/memory/contract.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

async function seeded() {
  const bed = await openMemoryBed();
  const alice = await bed.memory.createSession("support-1", { user: "alice" });
  const bob = await bed.memory.createSession("support-2", { user: "bob" });
  await alice.rememberMany([
    {
      id: "a1",
      producer: "alice",
      role: "user",
      text: "I moved to Lisbon in May.",
      properties: { topic: "home", year: 2026, moved: true },
    },
    {
      id: "a2",
      producer: "agent",
      role: "assistant",
      text: "Which size do you wear?",
      at: "2026-05-01T10:00:00+02:00",
    },
    {
      id: "a3",
      producer: "alice",
      role: "user",
      text: "My cat sleeps all day.",
      properties: { topic: "pets", since: new Date("2020-01-01T00:00:00Z") },
    },
  ]);
  await bob.rememberMany([
    {
      id: "b1",
      producer: "bob",
      text: "I live in Berlin with a cat.",
      properties: { topic: "home", year: 9007199254740993n },
    },
    { id: "b2", producer: "bob", text: "O'Brien don't like \"quotes\" %_\\ \u0000 東京に住んでいます" },
  ]);
  const events = async (question: string, options: RecallOptions = {}): Promise<readonly string[]> =>
    (await bed.memory.recall(question, options)).hits.map(({ event }) => event).sort();
  return { ...bed, alice, bob, events };
}

describe("recall", () => {
  it("[S5] finds by words and by meaning, and says through which channel", async () => {
    const { memory } = await seeded();
    const { hits, vectorSearch } = await memory.recall("Lisbon", { limit: 1 });
    expect(vectorSearch).toBe("searched");
    expect(hits).toMatchObject([
      {
        event: "a1",
        session: "support-1",
        user: "alice",
        text: "I moved to Lisbon in May.",
        channels: ["vector", "text"],
      },
    ]);
    expect(hits[0]?.properties).toEqual({ topic: "home", year: 2026, moved: true });
  });

  it("[S5] text search finds words in scripts without spaces, quotes and all", async () => {
    const { memory } = await seeded();
    for (const question of ["東京", "O'Brien", "quotes"]) {
      expect((await memory.recall(question, { limit: 1 })).hits, question).toMatchObject([
        { event: "b2", textScore: expect.any(Number) },
      ]);
    }
  });

  it("[S4] user, session and filters on system fields and on keys of one's own act inside the search", async () => {
    const { events, alice } = await seeded();
    expect(await events("cat", { user: "alice", limit: 1 })).toEqual(["a3"]);
    expect(await events("cat", { user: "alice" })).toEqual(["a1", "a2", "a3"]);
    expect(await events("cat", { session: "support-2", where: "m.topic = 'home'" })).toEqual(["b1"]);
    expect(await events("cat", { where: "m.topic = 'home'" })).toEqual(["a1", "b1"]);
    expect(await events("cat", { where: "m.topic IS NULL" })).toEqual(["a2", "b2"]);
    expect(await events("cat", { where: "NOT (m.topic = 'home')" })).toEqual(["a2", "a3", "b2"]);
    expect(await events("cat", { where: "producer = 'bob' AND role IS NULL" })).toEqual(["b1", "b2"]);
    expect(await events("cat", { where: "at < timestamp '2026-05-01T08:00:01Z'" })).toEqual(["a2"]);
    expect(await events("cat", { where: { event: { $in: ["a1", "b2"] } } })).toEqual(["a1", "b2"]);
    expect((await alice.recall("cat")).hits.map(({ event }) => event).sort()).toEqual(["a1", "a2", "a3"]);
  });

  it("[F11] keys of one's own keep their kind, and numbers compare by exact value", async () => {
    const { events } = await seeded();
    expect(await events("x", { where: "m.year = 2026" })).toEqual(["a1"]);
    expect(await events("x", { where: "m.year = '2026'" })).toEqual([]);
    expect(await events("x", { where: (f) => f.m("year").eq(9007199254740993n) })).toEqual(["b1"]);
    expect(await events("x", { where: (f) => f.m("year").eq(9007199254740992) })).toEqual([]);
    expect(await events("x", { where: "m.moved = true" })).toEqual(["a1"]);
    expect(await events("x", { where: "m.since >= timestamp '2020-01-01T01:00:00+01:00'" })).toEqual(["a3"]);
  });

  it("[S4, Q6] near events that a filter excludes take no place of those that it admits", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    const near = Array.from({ length: 300 }, (_, index) => ({
      id: `near${index}`,
      text: `red apple tree ${index}`,
      properties: { kind: "A" },
    }));
    const far = Array.from({ length: 5 }, (_, index) => ({
      id: `far${index}`,
      text: `something else entirely ${index}`,
      properties: { kind: "B" },
    }));
    await session.rememberMany([...near, ...far]);
    for (const where of ["m.kind = 'B'", "m.kind != 'A'"]) {
      const { hits } = await memory.recall("red apple tree", { where, limit: 5 });
      expect(hits.map(({ event }) => event).sort()).toEqual(far.map(({ id }) => id));
    }
  });

  it("[F4] a field that is neither a system field nor m. is refused", async () => {
    const { memory } = await seeded();
    await expect(memory.recall("x", { where: "topic = 'home'" })).rejects.toMatchObject({
      code: "UNDECLARED_PROPERTY",
      message: expect.stringMatching(/"topic".* there are event, session, .*revision\. .* with m\. before it/),
    });
    await expect(memory.recall("x", { where: "at > 5" })).rejects.toMatchObject({ group: "input" });
  });

  it("[S5] answers by text alone while the embedder fails", async () => {
    let failing = false;
    const embedder = createHashEmbedder({
      before() {
        if (failing) throw new Error("no connection");
      },
    });
    const { memory } = await openMemoryBed({ embedder });
    await (await memory.createSession("a")).remember({ id: "e", text: "cats purr" });
    failing = true;
    expect(await memory.recall("cats")).toMatchObject({
      vectorSearch: "not-embedded",
      hits: [{ event: "e", channels: ["text"] }],
    });
  });

  it("[S5, S3] a question of any length is answered: over the model's window it is embedded in pieces, none left out", async () => {
    const embedder = createHashEmbedder({ maxTokens: 6 });
    const { memory } = await openMemoryBed({ embedder });
    const session = await memory.createSession("a");
    await session.rememberMany([
      { id: "first", text: "bicycle chain oil" },
      { id: "last", text: "violin strings bow" },
      { id: "other", text: "snow on the hills" },
    ]);
    const words = (from: string, count: number): string =>
      Array.from({ length: count }, (_, i) => `${from}${i}`).join(" ");
    const question = `bicycle chain oil ${words("filler", 20)} violin strings bow`;
    const before = embedder.calls.length;
    const { hits, vectorSearch } = await memory.recall(question, { channels: ["vector"] });
    expect(vectorSearch).toBe("searched");
    expect(
      hits
        .map(({ event }) => event)
        .slice(0, 2)
        .sort(),
    ).toEqual(["first", "last"]);
    expect(embedder.calls.slice(before).flat().join(" ")).toBe(question);
    const book = await memory.recall(`violin ${words("page", 200)}`);
    expect(book).toMatchObject({ vectorSearch: "not-embedded", hits: [{ event: "last" }] });
  });

  it("[S7] a question that the model cannot read, or answers in another dimension, is answered by words", async () => {
    let dimensions = 64;
    const vectors = createHashEmbedder();
    const embedder = {
      ...vectors,
      countTokens: (text: string) => (text.includes("unreadable") ? 0 : 1),
      embed: async (texts: readonly string[], options: { readonly kind: "document" | "query" }) =>
        (await vectors.embed(texts, options)).map((vector) => vector.slice(0, dimensions)),
    };
    const { memory } = await openMemoryBed({ embedder });
    await (await memory.createSession("a")).remember({ id: "e", text: "an unread letter" });
    const byWords = { vectorSearch: "not-embedded", hits: [{ event: "e", channels: ["text"] }] };
    expect(await memory.recall("unreadable letter")).toMatchObject(byWords);
    dimensions = 3;
    expect(await memory.recall("letter")).toMatchObject(byWords);
  });

  it("[Q2, S5] minCosineSimilarity drops hits of the vector channel; a text hit stands by its own", async () => {
    const { memory } = await seeded();
    const { hits } = await memory.recall("Lisbon", { minCosineSimilarity: 0.999 });
    expect(hits.map(({ event, channels }) => [event, channels])).toEqual([["a1", ["text"]]]);
  });

  it("[S5] nothing relevant is an answer, and bad questions are refused", async () => {
    const { memory } = await openMemoryBed();
    expect(await memory.recall("anything")).toMatchObject({ hits: [], vectorSearch: "no-vectors" });
    for (const question of ["", "  ", "\ud800"])
      await expect(memory.recall(question)).rejects.toMatchObject({ code: "INVALID_TEXT" });
    await (await memory.createSession("a")).remember({ text: "something" });
    for (const nothing of [{ limit: 0 }, { where: "FALSE" }])
      expect(await memory.recall("anything", nothing)).toMatchObject({ hits: [], vectorSearch: "searched" });
    await expect(memory.recall("x", { limit: -1 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("text index", () => {
  it("[S5] one that another version of the tokenizer made is made anew when the memory is opened", async () => {
    const { path, raw, count } = await seeded();
    const before = raw.prepare("SELECT tokens FROM tenants").all();
    // As an older tokenizer might have left it: words that no question asks for.
    raw.exec(`INSERT INTO segment_words (segment_words) VALUES ('delete-all'); UPDATE segments SET token_string = 'old';
      UPDATE tenants SET tokens = 1; UPDATE text_index SET tokenizer_version = 0`);
    const { memory } = await openMemoryBed({ path });
    expect((await memory.recall("Lisbon", { limit: 1 })).hits).toMatchObject([
      { event: "a1", textScore: expect.any(Number) },
    ]);
    expect(raw.prepare("SELECT tokens FROM tenants").all()).toEqual(before);
    expect(count("segment_lengths")).toBe(5);
    expect(await memory.forget({ events: ["a1"] })).toEqual({ forgotten: 1 });
    expect((await memory.recall("Lisbon")).hits.every(({ channels }) => !channels.includes("text"))).toBe(true);
  });
});

describe("forgetting", () => {
  it("[S6] what is forgotten is gone from every read, and after reopening", async () => {
    const bed = await seeded();
    expect(await bed.memory.forget({ events: ["a1", "nobody", "a1"] })).toEqual({ forgotten: 1 });
    expect(await bed.events("Lisbon moved")).not.toContain("a1");
    expect((await bed.memory.stats()).events).toBe(4);
    for (const table of ["events", "segments", "segment_lengths", "vectors_1", "records_1"])
      expect(bed.count(table), table).toBe(4);
    const again = await openMemoryBed({ path: bed.path });
    expect((await again.memory.recall("Lisbon moved")).hits.map(({ event }) => event)).not.toContain("a1");
  });

  it("[S6] a session forgets only its own events", async () => {
    const { alice, count } = await seeded();
    expect(await alice.forget({ events: ["b1", "a3"] })).toEqual({ forgotten: 1 });
    expect(count("events")).toBe(4);
  });

  it("[S6] an event may be told again after it was forgotten", async () => {
    const { alice, memory } = await seeded();
    await alice.forget({ events: ["a1"] });
    expect(await alice.remember({ id: "a1", text: "I moved to Porto." })).toEqual({
      id: "a1",
      created: true,
      embedded: "embedded",
    });
    expect((await memory.recall("moved", { limit: 1 })).hits[0]?.text).toBe("I moved to Porto.");
  });

  it("[E14, S6] what is forgotten with erase is in none of the folder's bytes, words and vectors neither", async () => {
    const { alice, memory, path, raw } = await seeded();
    const filler = Array.from({ length: 400 }, (_, index) => ({ text: `filler word${index} about thing${index * 7}` }));
    await alice.rememberMany(filler);
    await alice.remember({
      id: "secret",
      producer: "zebulon",
      text: "My xylophonist password is swordfish.",
      properties: { code: "quetzalcoatl" },
    });
    await alice.rememberMany(filler.map(({ text }) => ({ text: `${text} again` })));
    expect(await memory.forget({ events: ["secret"] }, { erase: true })).toEqual({ forgotten: 1, erasure: "complete" });
    await memory.close();
    raw.close();
    const bytes = readFileSync(join(path, DATABASE_FILE));
    for (const needle of ["xyloph", "swordf", "zebul", "quetzal"])
      expect([needle, bytes.includes(needle)]).toEqual([needle, false]);
  });

  it("[E11] a segment whose row was changed is never answered and is counted", async () => {
    const { memory, raw } = await seeded();
    raw.exec("UPDATE events SET text = 'I moved to Madrid in May.' WHERE id = 'a1'");
    const { hits, damaged } = await memory.recall("moved Lisbon Madrid");
    expect(hits.map(({ event }) => event)).not.toContain("a1");
    expect(damaged).toBe(1);
  });

  it("[E11] a damaged segment gives its place to the next, and a damaged vector leaves the words searchable", async () => {
    const { memory, raw } = await seeded();
    raw.exec("UPDATE events SET text = 'I moved to Madrid in May.' WHERE id = 'a1'");
    expect((await memory.recall("moved Lisbon cat", { limit: 4 })).hits).toHaveLength(4);
    raw.exec("UPDATE vectors_1 SET vector = x'00' WHERE row = (SELECT max(row) FROM vectors_1)");
    const { hits, damaged } = await memory.recall("quotes");
    expect(hits[0]).toMatchObject({ event: "b2", channels: ["text"] });
    expect(damaged).toBeGreaterThan(0);
  });
});
