import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Memory, Session } from "../../../src/memory/contract.ts";
import { type MemoryOptions, openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "../database/connections.ts";

const INLINE = { threads: "inline" } as const;

/** Every other method changes something, and is refused before it looks at its arguments. */
const READS: ReadonlySet<string> = new Set([
  "backup",
  "changes",
  "close",
  "count",
  "exportArchive",
  "exportEvents",
  "folderStats",
  "getEvent",
  "getSession",
  "getTenant",
  "history",
  "list",
  "listSessions",
  "listTenants",
  "pendingEmbeddings",
  "recall",
  "recent",
  "session",
  "stats",
  "summary",
  "tenant",
]);

async function open(options: MemoryOptions, embedder = createHashEmbedder()): Promise<Memory> {
  const memory = await openMemory({ ...INLINE, embedder, ...options });
  onTestFinished(() => memory.close());
  return memory;
}

/** A closed folder with an event, and how its database looks. */
async function folder() {
  const path = join(temporaryFolder(), "memory.holdfast");
  const memory = await open({ path });
  const session = await memory.createSession("s", { user: "alice" });
  await session.remember({ id: "a", text: "I moved to Lisbon", properties: { topic: "home" } });
  await memory.close();
  const file = join(path, "holdfast.db");
  return { path, digest: () => digestOf(file) };
}

function digestOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function methodsOf(handle: object): readonly string[] {
  const names = new Set<string>();
  for (let at = Object.getPrototypeOf(handle); at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at))
      if (name !== "constructor" && typeof Object.getOwnPropertyDescriptor(at, name)?.value === "function")
        names.add(name);
  return [...names];
}

describe("a memory that is opened for reading only", () => {
  it("[E6] answers every read, and refuses every other method with READ_ONLY before anything is paid for", async () => {
    const { path, digest } = await folder();
    const before = digest();
    const embedder = createHashEmbedder();
    const memory = await open({ path, readOnly: true }, embedder);
    const session = await memory.session("s");
    expect((await memory.recall("Lisbon")).hits[0]).toMatchObject({ event: "a", channels: ["vector", "text"] });
    expect(await memory.count({ where: "m.topic = 'home'" })).toBe(1);
    expect((await session.recent()).events.map(({ id }) => id)).toEqual(["a"]);
    expect(await memory.forget({ events: ["a"] }, { dryRun: true })).toEqual({ forgotten: 1 });
    expect(await memory.stats()).toMatchObject({ events: 1, vectors: 1 });
    const asked = embedder.calls.length;
    let refused = 0;
    for (const handle of [memory, session] as const) {
      for (const name of methodsOf(handle).filter((method) => !READS.has(method))) {
        const call = (handle as unknown as Record<string, (...args: unknown[]) => unknown>)[name];
        const outcome = Promise.resolve().then(() => call?.call(handle, "a", {}));
        await expect(outcome, name).rejects.toMatchObject({ code: "READ_ONLY", outcome: "not-applied" });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(12);
    expect(embedder.calls.length).toBe(asked);
    await memory.close();
    expect(digest()).toBe(before);
  });

  it("[E5, E6] follows what others write meanwhile", async () => {
    const { path } = await folder();
    const writer = await open({ path });
    const reader = await open({ path, readOnly: true });
    await (await writer.session("s")).remember({ id: "b", text: "the bicycle is red" });
    expect(await reader.count()).toBe(2);
    expect((await reader.recall("bicycle")).hits[0]?.event).toBe("b");
    await writer.close();
    expect(await reader.count()).toBe(2);
    await expect((await reader.session("s")).remember({ text: "no" })).rejects.toMatchObject({ code: "READ_ONLY" });
  });

  it("[E6] makes nothing where there is nothing, and says what it would have to make", async () => {
    const parent = temporaryFolder();
    await expect(open({ path: join(parent, "none"), readOnly: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(readdirSync(parent)).toEqual([]);
    const path = join(parent, "vectors");
    const spec = { path, name: "docs", dimensions: 2, ...INLINE } as const;
    await (await openStore(spec)).close();
    await expect(open({ path, readOnly: true })).rejects.toMatchObject({
      code: "READ_ONLY",
      message: expect.stringContaining("no memory"),
    });
    await expect(openStore({ ...spec, name: "other", readOnly: true })).rejects.toMatchObject({ code: "NOT_FOUND" });
    const more = { ...spec, properties: { lang: "string" }, readOnly: true } as const;
    await expect(openStore(more)).rejects.toMatchObject({
      code: "READ_ONLY",
      message: expect.stringContaining("lang"),
    });
    const known = await folder();
    const declaring = { path: known.path, readOnly: true, properties: { topic: "string" } } as const;
    await expect(open(declaring)).rejects.toMatchObject({ code: "READ_ONLY" });
    await expect(open({ path: known.path, readOnly: true, exclusive: true })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(open({ inMemory: true, readOnly: true })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  it("[E6] is what a store can be as well, and a backup alone", async () => {
    const parent = temporaryFolder();
    const spec = { path: join(parent, "vectors"), name: "docs", dimensions: 2, ...INLINE } as const;
    const store = await openStore(spec);
    await (await store.createPartition("p")).upsert([{ id: "x", vector: [1, 0] }]);
    const backup = join(parent, "backup");
    await store.backup(backup);
    await store.close();
    await expect(openStore({ ...spec, path: backup })).rejects.toMatchObject({ code: "READ_ONLY" });
    const files = readdirSync(backup).map((name) => digestOf(join(backup, name)));
    for (const path of [spec.path, backup]) {
      const reader = await openStore({ ...spec, path, readOnly: true });
      const partition = await reader.getPartition("p");
      expect((await partition?.query({ vector: [1, 0] }))?.matches[0]?.id).toBe("x");
      expect((await partition?.delete({ ids: ["x"] }, { dryRun: true }))?.deleted).toBe(1);
      const writes: readonly (() => Promise<unknown> | undefined)[] = [
        () => partition?.upsert([{ id: "y", vector: [0, 1] }]),
        () => partition?.upsert([]),
        () => partition?.patch("x", {}),
        () => partition?.delete({ ids: ["x"] }),
        () => partition?.delete({ ids: [] }),
        () => reader.createPartition("q"),
        () => reader.deletePartition("p"),
        () => reader.deletePartition("none", { erase: true }),
      ];
      for (const write of writes) await expect(write(), String(write)).rejects.toMatchObject({ code: "READ_ONLY" });
      await reader.close();
    }
    expect(readdirSync(backup).map((name) => digestOf(join(backup, name)))).toEqual(files);
    expect(existsSync(join(backup, "holdfast.db-wal"))).toBe(false);
  });

  it("[E6, O2] can be backed up", async () => {
    const { path } = await folder();
    const memory = await open({ path, readOnly: true });
    const session: Session = await memory.session("s");
    const receipt = await memory.backup(join(path, "..", "backup"));
    expect(receipt.rows).toMatchObject({ events: 1 });
    expect((await session.recent()).events).toHaveLength(1);
  });
});
