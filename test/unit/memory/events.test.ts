import { describe, expect, it } from "vitest";
import type { Session } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

const EVENT = {
  id: "e",
  at: "2026-05-01T12:00:00+02:00",
  producer: "alice",
  role: "user",
  kind: "message",
  text: "I moved to Lisbon in May.",
  properties: { topic: "home", constructor: "mine", big: 9007199254740993n, when: new Date(0), yes: true },
};

async function session(options: Parameters<typeof openMemoryBed>[0] = {}) {
  const bed = await openMemoryBed(options);
  return { ...bed, session: await bed.memory.createSession("a", { user: "alice" }) };
}

async function texts(on: Session, question: string): Promise<readonly string[]> {
  return (await on.recall(question)).hits.map(({ text }) => text);
}

describe("reading events", () => {
  it("[S3] getEvent answers all that was remembered; properties are the caller's own and have no prototype", async () => {
    const { memory, session: on } = await session();
    await on.remember(EVENT);
    const read = await memory.getEvent("e");
    expect(read).toMatchObject({
      id: "e",
      session: "a",
      user: "alice",
      at: "2026-05-01T10:00:00.000000Z",
      producer: "alice",
      role: "user",
      kind: "message",
      text: EVENT.text,
      revision: 1,
    });
    expect({ ...read?.properties }).toEqual({ ...EVENT.properties, when: "1970-01-01T00:00:00.000000Z" });
    expect(Object.getPrototypeOf(read?.properties)).toBeNull();
    expect(read).not.toHaveProperty("updatedAt");
    const [hit] = (await memory.recall("Lisbon")).hits;
    expect(hit?.properties.constructor).toBe("mine");
    expect(hit?.properties.toString).toBeUndefined();
    expect(await memory.getEvent("unknown")).toBeUndefined();
    expect(await (await memory.createSession("b")).getEvent("e")).toBeUndefined();
  });

  it("[S11, F9] list pages by time through a tenant, a user or a session, and count counts the same", async () => {
    const { memory, session: on } = await session();
    const other = await memory.createSession("b", { user: "bob" });
    const at = (minute: number) => `2026-05-01T12:${String(minute).padStart(2, "0")}:00Z`;
    // Two of the same moment, and remembered out of order.
    for (const minute of [5, 3, 1, 1, 4]) await on.remember({ text: `alice at ${minute}`, at: at(minute) });
    for (const minute of [2, 6])
      await other.remember({ text: `bob at ${minute}`, at: at(minute), properties: { n: minute } });
    const seen: string[] = [];
    for (let after: string | undefined, more = true; more; ) {
      const page = await memory.list({ limit: 2, ...(after !== undefined && { after }) });
      seen.push(...page.events.map(({ text }) => text));
      after = page.next;
      more = after !== undefined;
    }
    expect(seen).toEqual([1, 1, 2, 3, 4, 5, 6].map((minute) => `${minute % 4 === 2 ? "bob" : "alice"} at ${minute}`));
    expect((await memory.list({ user: "bob" })).events.map(({ text }) => text)).toEqual(["bob at 2", "bob at 6"]);
    expect((await memory.list({ where: "m.n >= 6" })).events).toHaveLength(1);
    expect((await other.list({ limit: 1 })).events).toHaveLength(1);
    expect([await memory.count(), await memory.count({ user: "alice" }), await other.count()]).toEqual([7, 5, 2]);
    expect(await on.count({ where: `at >= timestamp '${at(4)}'` })).toBe(2);
    await expect(memory.list({ session: "none" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memory.list({ after: "e1" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(memory.list({ limit: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(memory.count({ user: undefined } as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[E11] a damaged event raises DAMAGED alone, and a page counts it", async () => {
    const { memory, session: on, raw } = await session();
    await on.remember(EVENT);
    await on.remember({ text: "another" });
    raw.exec("UPDATE events SET producer = 'mallory' WHERE id = 'e'");
    await expect(memory.getEvent("e")).rejects.toMatchObject({ code: "DAMAGED" });
    await expect(memory.updateEvent("e", { text: "x" })).rejects.toMatchObject({ code: "DAMAGED" });
    expect(await memory.list()).toMatchObject({ damaged: 1, events: [{ text: "another" }] });
  });
});

describe("blocks", () => {
  const BLOCKS = [
    { text: "Look at this picture of the harbour." },
    { type: "image", text: "a red boat at dawn", data: { url: "https://example.org/boat.png", size: [640, 480] } },
    { type: "tool_call", data: { name: "weather", arguments: { city: "Lisbon" } } },
  ];

  it("[S3] are kept as they were given, searched by their texts, and no segment reaches over two", async () => {
    const { memory, session: on } = await session({ embedder: createHashEmbedder({ maxTokens: 256 }) });
    expect(await on.remember({ id: "e", blocks: BLOCKS })).toMatchObject({ created: true });
    const read = await memory.getEvent("e");
    expect(read?.text).toBe("Look at this picture of the harbour.\n\na red boat at dawn");
    expect(read?.blocks).toEqual([{ type: "text", ...BLOCKS[0] }, BLOCKS[1], BLOCKS[2]]);
    const { hits } = await memory.recall("red boat");
    expect(hits[0]).toMatchObject({ event: "e", text: "a red boat at dawn" });
    expect(await on.remember({ id: "e", blocks: BLOCKS })).toMatchObject({ created: false });
    await expect(on.remember({ id: "e", blocks: BLOCKS.slice(0, 2) })).rejects.toMatchObject({
      code: "EVENT_CONFLICT",
    });
  });

  it.each([
    ["no block", [], "INVALID_ARGUMENT"],
    ["no text at all", [{ type: "image", data: 1 }], "INVALID_TEXT"],
    ["an empty text", [{ text: " " }], "INVALID_TEXT"],
    ["neither text nor data", [{ type: "image" }, { text: "x" }], "INVALID_ARGUMENT"],
    ["an unknown field", [{ text: "x", caption: "y" }], "INVALID_ARGUMENT"],
    ["NaN", [{ text: "x", data: { n: Number.NaN } }], "INVALID_ARGUMENT"],
    ["a date", [{ text: "x", data: new Date(0) }], "INVALID_ARGUMENT"],
    ["a bigint", [{ text: "x", data: 1n }], "INVALID_ARGUMENT"],
    ["a lone surrogate", [{ text: "x", data: ["\ud800"] }], "INVALID_TEXT"],
    ["data that holds itself", [{ text: "x", data: cyclic() }], "LIMIT_EXCEEDED"],
    ["data of two megabytes", [{ text: "x", data: "y".repeat(2 ** 21) }], "LIMIT_EXCEEDED"],
  ])("[V14] %s is refused before anything is embedded", async (_, blocks, code) => {
    const { session: on, embedder, count } = await session();
    await expect(on.remember({ blocks: blocks as never })).rejects.toMatchObject({ code });
    await expect(on.remember({ text: "x", blocks: blocks as never })).rejects.toMatchObject({ group: "input" });
    expect(embedder.textsEmbedded).toBe(0);
    expect(count("events")).toBe(0);
  });
});

describe("updating events", () => {
  it("[S12] a new text takes the place of the old one in every channel; history keeps what it said", async () => {
    const { memory, session: on, count } = await session();
    await on.remember(EVENT);
    const updated = await memory.updateEvent("e", {
      text: "I moved to Porto.",
      properties: { topic: null, year: 2026 },
    });
    expect(updated).toMatchObject({ revision: 2, text: "I moved to Porto.", at: "2026-05-01T10:00:00.000000Z" });
    expect(updated.properties).not.toHaveProperty("topic");
    expect(updated.properties.year).toBe(2026);
    expect(updated.updatedAt).toBeDefined();
    expect(await memory.getEvent("e")).toEqual(updated);
    expect(await texts(on, "Lisbon")).toEqual(["I moved to Porto."]);
    expect((await memory.recall("Lisbon")).hits[0]?.channels).toEqual(["vector"]);
    expect((await memory.recall("Porto", { where: "m.year = 2026" })).hits[0]?.channels).toEqual(["vector", "text"]);
    expect((await memory.recall("moved", { where: "m.topic = 'home'" })).hits).toEqual([]);
    const history = await memory.history("e");
    expect(history.map(({ revision, text }) => [revision, text])).toEqual([
      [1, EVENT.text],
      [2, "I moved to Porto."],
    ]);
    expect({ ...history[0]?.properties }).toEqual({ ...EVENT.properties, when: "1970-01-01T00:00:00.000000Z" });
    expect(history[0]?.replacedAt).toBe(updated.updatedAt);
    expect([count("segments"), count("vectors_1"), count("segment_lengths")]).toEqual([1, 1, 1]);
    expect((await memory.stats()).segments).toBe(1);
    await memory.forget({ events: ["e"] });
    expect(count("event_revisions")).toBe(0);
    await expect(memory.history("e")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("[S12] an unchanged text is not embedded again, and an update that changes nothing makes no revision", async () => {
    const { memory, session: on, embedder } = await session();
    await on.remember(EVENT);
    const embedded = embedder.textsEmbedded;
    expect(await memory.updateEvent("e", { properties: { topic: "work" } })).toMatchObject({ revision: 2 });
    expect(await memory.updateEvent("e", { text: EVENT.text, properties: { topic: "work" } })).toMatchObject({
      revision: 2,
    });
    expect(await memory.updateEvent("e", { properties: {} })).toMatchObject({ revision: 2 });
    expect(embedder.textsEmbedded).toBe(embedded);
    expect((await memory.recall("Lisbon")).hits[0]).toMatchObject({ revision: 2, channels: ["vector", "text"] });
    expect((await memory.recall("Lisbon")).damaged).toBe(0);
  });

  it("[S12, V7] an update that gives an instant by another clock is one, though the instant is the same", async () => {
    const { memory, session: on } = await session();
    await on.remember({ ...EVENT, properties: { due: { datetime: "2026-05-01T12:00:00Z" } } });
    const due = { datetime: "2026-05-01T14:00:00+02:00" };
    expect(await memory.updateEvent("e", { properties: { due } })).toMatchObject({ revision: 2 });
    const exported = (await memory.exportEvents()).events[0];
    expect(exported?.properties).toEqual({ due: { $datetime: "2026-05-01T14:00:00.000000+02:00" } });
    expect(await memory.updateEvent("e", { properties: { due } })).toMatchObject({ revision: 2 });
  });

  it("[S12] of two updates from one revision one wins; without a revision all apply", async () => {
    const { memory, session: on, path } = await session();
    await on.remember(EVENT);
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    const both = [memory, other];
    const raced = await Promise.allSettled(
      both.map((handle, n) => handle.updateEvent("e", { text: `by ${n}` }, { expectedRevision: 1 })),
    );
    expect(raced.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(raced.find((result) => result.status === "rejected")).toMatchObject({
      reason: { code: "REVISION_CONFLICT", outcome: "not-applied" },
    });
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => both[n % 2]?.updateEvent("e", { properties: { [`key${n}`]: n } })),
    );
    const last = await memory.getEvent("e");
    expect(last?.revision).toBe(12);
    expect(Object.keys(last?.properties ?? {}).filter((key) => key.startsWith("key"))).toHaveLength(10);
    expect((await memory.history("e")).map(({ revision }) => revision)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
    await other.close();
  });

  it("[S12] an update that comes first while another embeds is not overwritten unseen", async () => {
    let open: () => void = () => undefined;
    let held: Promise<void> | undefined;
    const embedder = createHashEmbedder({ before: () => held });
    const { memory, session: on } = await session({ embedder });
    await on.remember(EVENT);
    held = new Promise((resolve) => {
      open = resolve;
    });
    const slow = memory.updateEvent("e", { text: "the slow one" }, { expectedRevision: 1 });
    await expect.poll(() => embedder.calls.length).toBe(2);
    await memory.updateEvent("e", { properties: { topic: "meanwhile" } });
    open();
    await expect(slow).rejects.toMatchObject({ code: "REVISION_CONFLICT" });
    expect(await memory.getEvent("e")).toMatchObject({ text: EVENT.text, revision: 2 });
  });

  it("[S6, S12] an update brings nothing back of an event that is forgotten and told anew under its id meanwhile", async () => {
    let open: () => void = () => undefined;
    let held: Promise<void> | undefined;
    const embedder = createHashEmbedder({ before: () => held });
    const { memory, session: on } = await session({ embedder });
    const at = "2026-05-01T12:00:00Z";
    const old = { ...EVENT, at, properties: { secret: "of the forgotten one" } };
    for (const options of [{}, { expectedRevision: 1 }]) {
      await on.remember(old);
      held = new Promise((resolve) => {
        open = resolve;
      });
      const calls = embedder.calls.length;
      const slow = memory.updateEvent("e", { text: "the slow one" }, options);
      await expect.poll(() => embedder.calls.length).toBe(calls + 1);
      await memory.forget({ events: ["e"] });
      held = undefined;
      await on.remember({ ...EVENT, at, text: "another event", properties: { topic: "new" } });
      open();
      if (options.expectedRevision === undefined) expect(await slow).toMatchObject({ revision: 2 });
      else await expect(slow).rejects.toMatchObject({ code: "REVISION_CONFLICT" });
      expect(JSON.stringify([await memory.history("e"), await memory.getEvent("e")])).not.toContain("forgotten");
      await memory.forget({ events: ["e"] });
    }
  });

  it("[S3, S12] a late retry of the first remember undoes no update; another text under the id is refused", async () => {
    const { memory, session: on } = await session();
    await on.remember(EVENT);
    await memory.updateEvent("e", { text: "I moved to Porto." });
    expect(await on.remember(EVENT)).toEqual({ id: "e", created: false, embedded: "embedded" });
    expect(await on.remember({ ...EVENT, text: "I moved to Porto." })).toEqual({
      id: "e",
      created: false,
      embedded: "embedded",
    });
    await expect(on.remember({ ...EVENT, text: "I moved." })).rejects.toMatchObject({ code: "EVENT_CONFLICT" });
    expect(await memory.getEvent("e")).toMatchObject({ text: "I moved to Porto.", revision: 2 });
  });

  it.each([
    ["nothing", {}, "INVALID_ARGUMENT"],
    ["an empty text", { text: " " }, "INVALID_TEXT"],
    ["text and blocks", { text: "x", blocks: [{ text: "y" }] }, "INVALID_ARGUMENT"],
    ["a field that is not changed", { producer: "bob" }, "INVALID_ARGUMENT"],
    ["a value of no type", { properties: { x: [] } }, "PROPERTY_TYPE_MISMATCH"],
  ])("[S12, V14] an update with %s is refused and changes nothing", async (_, update, code) => {
    const { memory, session: on } = await session();
    await on.remember(EVENT);
    await expect(memory.updateEvent("e", update as never)).rejects.toMatchObject({ code });
    await expect(memory.updateEvent("unknown", { text: "x" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await memory.getEvent("e")).toMatchObject({ revision: 1 });
  });

  it("[S12, E2] an update whose commit fails leaves the event, its words and its vectors as they were", async () => {
    const { memory, session: on, raw } = await session();
    await on.remember(EVENT);
    const before = await memory.getEvent("e");
    raw.exec("CREATE TRIGGER refuse BEFORE INSERT ON vectors_1 BEGIN SELECT RAISE(ABORT, 'no'); END");
    await expect(memory.updateEvent("e", { text: "I moved to Porto." })).rejects.toMatchObject({
      outcome: "not-applied",
    });
    raw.exec("DROP TRIGGER refuse");
    expect(await memory.getEvent("e")).toEqual(before);
    expect((await memory.recall("Lisbon")).hits[0]).toMatchObject({ text: EVENT.text, channels: ["vector", "text"] });
    expect(await memory.history("e")).toHaveLength(1);
  });
});

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
