import { describe, expect, it } from "vitest";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

const TABLES = ["events", "event_properties", "segments", "segment_lengths", "vectors_1", "records_1"];

describe("remembering", () => {
  it("[S1] createSession answers an equal session and refuses one with another user", async () => {
    const { memory, count } = await openMemoryBed();
    expect(await memory.createSession("a", { user: "alice" })).toMatchObject({ id: "a", user: "alice", created: true });
    expect(await memory.createSession("a", { user: "alice" })).toMatchObject({ created: false });
    await expect(memory.createSession("a", { user: "bob" })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(memory.createSession("a")).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    expect(count("sessions")).toBe(1);
  });

  it("[S1] racing equal creations all answer the one session", async () => {
    const { memory, count } = await openMemoryBed();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => memory.createSession("a")));
    expect(sessions.filter(({ created }) => created)).toHaveLength(1);
    expect(count("sessions")).toBe(1);
  });

  it("[S1] asking for an unknown session is an error and makes none", async () => {
    const { memory, count } = await openMemoryBed();
    await expect(memory.session("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await memory.getSession("nobody")).toBeUndefined();
    await expect(memory.recall("anything", { session: "nobody" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(count("sessions")).toBe(0);
  });

  it("[E2] an event with its properties, words and vectors is one commit, and none of it without the rest", async () => {
    const { memory, raw, count } = await openMemoryBed({ embedder: createHashEmbedder({ maxTokens: 8 }) });
    const session = await memory.createSession("a");
    await session.remember({ text: "the first event makes the tables" });
    const before = TABLES.map(count);
    // The last write of an event's commit is refused by the database itself.
    raw.exec("CREATE TRIGGER refuse BEFORE INSERT ON vectors_1 BEGIN SELECT RAISE(ABORT, 'no'); END");
    const event = { id: "e", text: "One sentence. ".repeat(10), properties: { topic: "x" } };
    await expect(session.remember(event)).rejects.toMatchObject({ outcome: "not-applied" });
    expect(TABLES.map(count)).toEqual(before);
    expect((await memory.recall("sentence")).hits.filter(({ event: id }) => id === "e")).toEqual([]);
    raw.exec("DROP TRIGGER refuse");
    expect(await session.remember(event)).toEqual({ id: "e", created: true, embedded: "embedded" });
    expect(count("segments")).toBe(count("vectors_1"));
    expect(count("segments")).toBeGreaterThan(before[2] ?? 0);
  });

  it("[S3] an event that is sent again is the same event, embedded once; another under its id is refused", async () => {
    const { memory, embedder, count } = await openMemoryBed();
    const session = await memory.createSession("a");
    const event = { id: "e", text: "I moved to Lisbon.", producer: "alice", properties: { topic: "home" } };
    expect(await session.remember(event)).toEqual({ id: "e", created: true, embedded: "embedded" });
    const embedded = embedder.textsEmbedded;
    expect(await session.remember({ ...event })).toEqual({ id: "e", created: false, embedded: "embedded" });
    expect(embedder.textsEmbedded).toBe(embedded);
    for (const other of [
      { ...event, text: "I moved." },
      { ...event, producer: "bob" },
      { ...event, properties: { topic: 1 } },
      { ...event, at: new Date(0) },
    ]) {
      await expect(session.remember(other)).rejects.toMatchObject({ code: "EVENT_CONFLICT" });
    }
    expect(embedder.textsEmbedded).toBe(embedded);
    expect(count("events")).toBe(1);
  });

  it("[S3] an event of another session is another one: the same content under its id is refused, not swallowed", async () => {
    const { memory, embedder } = await openMemoryBed();
    const [first, second] = [await memory.createSession("a"), await memory.createSession("b")];
    await first.remember({ id: "1", text: "hello" });
    const embedded = embedder.textsEmbedded;
    const refused = { code: "EVENT_CONFLICT", details: { event: "1" } };
    await expect(second.remember({ id: "1", text: "hello" })).rejects.toMatchObject(refused);
    await expect(second.rememberMany([{ text: "new" }, { id: "1", text: "hello" }])).rejects.toMatchObject(refused);
    expect(embedder.textsEmbedded).toBe(embedded);
    expect([await first.count(), await second.count()]).toEqual([1, 0]);
    const racing = await Promise.allSettled([first, second].map((to) => to.remember({ id: "2", text: "at once" })));
    expect(racing.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("[V18, S3] the same event sent many times at once is kept once", async () => {
    const { memory, count } = await openMemoryBed();
    const session = await memory.createSession("a");
    const receipts = await Promise.all(Array.from({ length: 20 }, () => session.remember({ id: "e", text: "once" })));
    expect(receipts.filter(({ created }) => created)).toHaveLength(1);
    expect([count("events"), count("segments"), count("vectors_1")]).toEqual([1, 1, 1]);
  });

  it("[V14] one bad event of many refuses all before anything is embedded", async () => {
    const { memory, embedder, count } = await openMemoryBed();
    const session = await memory.createSession("a");
    for (const bad of [
      { text: " " },
      { text: "half \ud800 pair" },
      { text: "x", id: "" },
      { text: "x", properties: { n: Number.NaN } },
      { text: "x", at: "yesterday" },
    ]) {
      await expect(session.rememberMany([{ text: "good" }, bad])).rejects.toMatchObject({ group: "input" });
    }
    await expect(
      session.rememberMany([
        { id: "e", text: "a" },
        { id: "e", text: "b" },
      ]),
    ).rejects.toMatchObject({ code: "DUPLICATE_RECORD_ID" });
    expect([embedder.textsEmbedded, count("events")]).toEqual([0, 0]);
  });

  it("[S3] a text longer than the model's window is cut into segments that together are the text", async () => {
    const embedder = createHashEmbedder({ maxTokens: 12 });
    const { memory, raw } = await openMemoryBed({ embedder });
    const session = await memory.createSession("a");
    const text = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} speaks of thing${index}.`).join(
      " ",
    );
    await session.remember({ id: "long", text, producer: "alice" });
    for (const texts of embedder.calls)
      for (const sent of texts) expect(embedder.countTokens(sent)).toBeLessThanOrEqual(12);
    const ranges = raw.prepare('SELECT start, "end" FROM segments ORDER BY segment').all();
    expect(ranges.length).toBeGreaterThan(10);
    const kept = ranges.map(({ start, end }) => text.slice(Number(start), Number(end))).join("");
    expect(kept.replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    expect((await memory.recall("thing39", { limit: 1 })).hits[0]?.text).toContain("thing39");
  });

  it("[M1] the space is committed with the first vector, and another model's vectors never join it", async () => {
    const first = await openMemoryBed({ embedder: createHashEmbedder({ model: "one" }) });
    const session = await first.memory.createSession("a");
    expect(first.count("spaces")).toBe(0);
    await session.remember({ id: "e", text: "cats purr" });
    expect(first.raw.prepare("SELECT identity, dimensions FROM spaces").all()).toMatchObject([
      { identity: expect.stringContaining('"one"'), dimensions: 64 },
    ]);
    const embedder = createHashEmbedder({ model: "two" });
    const second = await openMemoryBed({ path: first.path, embedder });
    const other = await second.memory.session("a");
    await expect(other.remember({ text: "dogs bark" })).rejects.toMatchObject({ code: "EMBEDDING_SPACE_MISMATCH" });
    expect(embedder.textsEmbedded).toBe(0);
    const answer = await second.memory.recall("cats");
    expect(answer).toMatchObject({ vectorSearch: "other-space", hits: [{ event: "e", channels: ["text"] }] });
    expect([first.count("spaces"), first.count("events")]).toEqual([1, 1]);
  });

  it("[S10] a session of one memory is none of another folder's", async () => {
    const one = await openMemoryBed();
    const two = await openMemoryBed();
    await (await one.memory.createSession("a")).remember({ id: "e", text: "only here" });
    expect((await two.memory.recall("only here")).hits).toEqual([]);
    expect(await two.memory.getSession("a")).toBeUndefined();
  });

  it("[E12] closing waits for an event that is still being embedded", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { memory, count } = await openMemoryBed({ embedder: createHashEmbedder({ before: () => gate }) });
    const session = await memory.createSession("a");
    const remembered = session.remember({ id: "e", text: "almost too late" });
    const closed = memory.close();
    open();
    expect(await remembered).toEqual({ id: "e", created: true, embedded: "embedded" });
    await closed;
    expect(count("events")).toBe(1);
    await expect(memory.recall("late")).rejects.toMatchObject({ code: "CLOSED" });
    await expect(session.remember({ text: "too late" })).rejects.toMatchObject({ code: "CLOSED" });
  });

  it("[Q11] the time of a call counts from the call, also while it embeds", async () => {
    const never = new Promise<void>(() => undefined);
    const { memory, count } = await openMemoryBed({ embedder: createHashEmbedder({ before: () => never }) });
    const session = await memory.createSession("a");
    await expect(session.remember({ text: "x" }, { timeoutMs: 20 })).rejects.toMatchObject({ code: "TIMEOUT" });
    await expect(session.remember({ text: "x" }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED",
    });
    expect(count("events")).toBe(0);
  });
});
