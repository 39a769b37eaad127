import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { FORGOTTEN_PER_COMMIT } from "../../../src/memory/forget.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { eventNumbers } from "../../../src/segments/sqlite/event-filter.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

async function filled() {
  const bed = await openMemoryBed();
  const { memory } = bed;
  const [a, b, c] = [
    await memory.createSession("a", { user: "alice" }),
    await memory.createSession("b", { user: "alice" }),
    await memory.createSession("c", { user: "bob" }),
  ];
  for (const [session, name] of [
    [a, "a"],
    [b, "b"],
    [c, "c"],
  ] as const) {
    await session.remember({ id: `${name}1`, text: `${name} likes tea`, properties: { topic: "drink" } });
    await session.remember({ id: `${name}2`, text: `${name} likes bread`, properties: { topic: "food" } });
  }
  const ids = async () => (await memory.list()).events.map(({ id }) => id).sort();
  const recalled = async () => (await memory.recall("who likes what")).hits.map(({ event }) => event).sort();
  return { ...bed, a, b, c, ids, recalled };
}

describe("forgetting", () => {
  it.each([
    ["a session", { session: "a" }, ["b1", "b2", "c1", "c2"]],
    ["a user", { user: "alice" }, ["c1", "c2"]],
    ["a filter", { where: "m.topic = 'food'" }, ["a1", "b1", "c1"]],
    ["a filter within a user", { user: "alice", where: "m.topic = 'food'" }, ["a1", "b1", "c1", "c2"]],
    ["a filter within a session", { session: "c", where: "m.topic = 'food'" }, ["a1", "a2", "b1", "b2", "c1"]],
    ["ids", { events: ["a1", "b2", "unknown", "a1"] }, ["a2", "b1", "c1", "c2"]],
    ["a filter that admits nothing", { where: "m.topic = 'none'" }, ["a1", "a2", "b1", "b2", "c1", "c2"]],
  ] as const)(
    "[S6] by %s, after a dry run that changed nothing, and visible in every read",
    async (_, selection, left) => {
      const { memory, path, ids, recalled, count } = await filled();
      const planned = await memory.forget(selection, { dryRun: true });
      expect(planned).toEqual({ forgotten: 6 - left.length });
      expect(await ids()).toHaveLength(6);
      expect(await memory.forget(selection)).toEqual(planned);
      expect([await ids(), await recalled()]).toEqual([left, left]);
      expect(await memory.count()).toBe(left.length);
      expect([count("segments"), count("vectors_1"), count("segment_lengths")]).toEqual([
        left.length,
        left.length,
        left.length,
      ]);
      const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
      expect((await other.recall("who likes what")).hits).toHaveLength(left.length);
      await other.close();
    },
  );

  it("[S6, S11] a session forgets its own events alone", async () => {
    const { a, ids } = await filled();
    expect(await a.forget({ events: ["a1", "b1"] })).toEqual({ forgotten: 1 });
    expect(await a.forget({ where: "m.topic = 'food'" })).toEqual({ forgotten: 1 });
    expect(await ids()).toEqual(["b1", "b2", "c1", "c2"]);
  });

  it.each([
    ["nothing", {}],
    ["ids together with a user", { events: ["a1"], user: "alice" }],
    ["a user that is undefined", { user: undefined }],
    ["a filter that is undefined", { where: undefined }],
    ["a misspelt scope", { sessions: "a" }],
    ["ids that are no list", { events: "a1" }],
  ])("[V14] %s says too little or too much, and is refused", async (_, selection) => {
    const { memory, ids } = await filled();
    await expect(memory.forget(selection as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(memory.forget({ session: "unknown" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await ids()).toHaveLength(6);
  });

  it.each([
    ["an empty text", ""],
    ["blanks", "  \n"],
    ["true", "TRUE"],
    ["an empty object", {}],
    ["a negation of nothing", "NOT (kind IN ())"],
  ])("[F3] %s admits every event and forgets none, alone or within a user or a session", async (_, where) => {
    const { memory, a, ids } = await filled();
    for (const forgetting of [
      memory.forget({ where }),
      memory.forget({ user: "alice", where }),
      memory.forget({ session: "a", where }, { dryRun: true }),
      a.forget({ where }),
    ])
      await expect(forgetting).rejects.toMatchObject({ code: "INVALID_FILTER", outcome: "none" });
    expect(await ids()).toHaveLength(6);
  });

  it("[S6, E7] many events go in commits of bounded size, and what is remembered meanwhile stays", async () => {
    const { memory, a, ids } = await filled();
    const many = Array.from({ length: FORGOTTEN_PER_COMMIT * 2 }, (_, n) => ({ text: `note ${n}`, kind: "note" }));
    await a.rememberMany(many);
    const forgetting = memory.forget({ where: "kind = 'note'" });
    await a.remember({ id: "late", text: "a late note", kind: "note" });
    expect((await forgetting).forgotten).toBeGreaterThanOrEqual(many.length);
    expect(await memory.forget({ where: "kind = 'note'" })).toMatchObject({ forgotten: expect.any(Number) });
    expect(await ids()).toEqual(["a1", "a2", "b1", "b2", "c1", "c2"]);
  });

  it("[S6] what is remembered behind the newest event that was meant is not looked at", async () => {
    const { raw } = await filled();
    expect(eventNumbers(raw, { tenant: 1, filter: undefined, upTo: 4 }, 10)).toEqual([1, 2, 3, 4]);
  });

  it("[E14] erasing by filter takes the words and texts out of the file, their history too", async () => {
    const { memory, a, raw, path } = await filled();
    await a.remember({ id: "s", text: "xylophonist secret", kind: "secret" });
    await a.updateEvent("s", { text: "quetzalcoatl secret" });
    expect(await memory.forget({ where: "kind = 'secret'" }, { erase: true })).toEqual({
      forgotten: 1,
      erasure: "complete",
    });
    await memory.close();
    raw.close();
    const bytes = readFileSync(join(path, DATABASE_FILE));
    for (const word of ["xyloph", "quetzal"]) expect([word, bytes.includes(word)]).toEqual([word, false]);
  });
});
