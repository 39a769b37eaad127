import { describe, expect, it } from "vitest";
import type { EmbedOptions } from "../../../src/embedding/embedder.ts";
import type { Memory } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { InputDigest } from "../../../src/registry/input-digest.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { type MemoryBed, openMemoryBed } from "./memories.ts";

const key = { idempotencyKey: "try-1" };
const codes = (code: string) => ({ code });

describe("receipts", () => {
  it("[V17] a repeated remember answers the first receipt and embeds and writes nothing, also after a restart", async () => {
    const bed = await openMemoryBed();
    const session = await bed.memory.createSession("s");
    const first = await session.remember({ text: "tea at four" }, key);
    expect(first).toMatchObject({ created: true, embedded: "embedded" });
    const calls = bed.embedder.calls.length;
    expect(await session.remember({ text: "tea at four" }, key)).toEqual(first);
    await bed.memory.close();
    const again = await openMemory({ path: bed.path, threads: "inline", embedder: bed.embedder });
    expect(await (await again.session("s")).remember({ text: "tea at four" }, key)).toEqual(first);
    expect(await again.count()).toBe(1);
    expect(bed.embedder.calls.length).toBe(calls);
    expect(await again.stats()).toMatchObject({ receipts: 1 });
    await again.close();
  });

  it("[V17] another input under the key is refused before anything is embedded or written", async () => {
    const { memory, embedder, count } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ text: "tea at four", properties: { a: 1 } }, key);
    const calls = embedder.calls.length;
    for (const other of [
      { text: "tea at five", properties: { a: 1 } },
      { text: "tea at four", properties: { a: 2 } },
      { text: "tea at four", properties: { a: "1" } },
      { text: "tea at four", properties: { a: 1 }, producer: "bob" },
      { text: "tea at four", properties: { a: 1 }, at: "2026-05-01T12:00:00Z" },
      { id: "e", text: "tea at four", properties: { a: 1 } },
    ])
      await expect(session.remember(other, key)).rejects.toMatchObject(codes("IDEMPOTENCY_CONFLICT"));
    await expect(session.rememberMany([], key)).rejects.toMatchObject(codes("IDEMPOTENCY_CONFLICT"));
    await expect(session.forget({ events: ["e"] }, key)).rejects.toMatchObject(codes("IDEMPOTENCY_CONFLICT"));
    expect([embedder.calls.length, count("events"), count("receipts")]).toEqual([calls, 1, 1]);
    await expect(session.remember({ text: "x" }, { idempotencyKey: "" })).rejects.toMatchObject(codes("INVALID_NAME"));
  });

  it("[V17] a batch's receipt holds each event, those that were there before with them", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ id: "a", text: "one" });
    const batch = [
      { id: "a", text: "one" },
      { id: "b", text: "two" },
    ];
    const first = await session.rememberMany(batch, key);
    expect(first.map(({ created }) => created)).toEqual([false, true]);
    expect(await session.rememberMany(batch, key)).toEqual(first);
    expect((await session.rememberMany(batch)).map(({ created }) => created)).toEqual([false, false]);
  });

  it("[V17, E14] a late retry does not bring a forgotten event back, and nothing says any more what it said", async () => {
    const { memory, raw, count } = await openMemoryBed();
    const session = await memory.createSession("s");
    const { id } = await session.remember({ text: "my number is 555" }, key);
    expect(raw.prepare("SELECT hash IS NULL AS gone FROM receipts").get()?.gone).toBe(0);
    await session.forget({ events: [id] });
    expect(raw.prepare("SELECT hash IS NULL AS gone FROM receipts").get()?.gone).toBe(1);
    expect(count("receipt_events")).toBe(0);
    expect(await session.remember({ text: "my number is 555" }, key)).toMatchObject({ id, forgotten: true });
    expect(await session.count()).toBe(0);
  });

  it("[V17, E14] receipts hold no text of what was remembered, updated or forgotten", async () => {
    const { memory, raw } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ id: "e", text: "xylophone lessons" }, { idempotencyKey: "1" });
    await session.updateEvent("e", { text: "zeppelin flights" }, { idempotencyKey: "2" });
    await session
      .forget({ where: { text: "zeppelin flights" } } as never, { idempotencyKey: "3" })
      .catch(() => undefined);
    await memory.forget({ where: { "m.note": "quixotic" } }, { idempotencyKey: "4" });
    const held = JSON.stringify(raw.prepare("SELECT key, answer, hex(hash) AS hash FROM receipts").all());
    expect(held).not.toMatch(/xylophone|zeppelin|quixotic/);
  });

  it("[V17, S12] a repeated update makes one revision and answers it, also when the event was changed behind it", async () => {
    const { memory, embedder } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ id: "e", text: "one", properties: { n: 1 } });
    const first = await session.updateEvent("e", { text: "two" }, key);
    expect(first).toMatchObject({ text: "two", revision: 2 });
    expect(await session.updateEvent("e", { text: "two" }, key)).toEqual(first);
    await session.updateEvent("e", { text: "three", properties: { n: 2 } });
    const calls = embedder.calls.length;
    expect(await session.updateEvent("e", { text: "two" }, key)).toMatchObject({
      text: "two",
      revision: 2,
      properties: { n: 1 },
    });
    expect(embedder.calls.length).toBe(calls);
    expect(await session.getEvent("e")).toMatchObject({ text: "three", revision: 3 });
    await expect(session.updateEvent("e", { text: "four" }, key)).rejects.toMatchObject(codes("IDEMPOTENCY_CONFLICT"));
    await session.forget({ events: ["e"] });
    await session.remember({ id: "e", text: "anew" });
    await expect(session.updateEvent("e", { text: "two" }, key)).rejects.toMatchObject(codes("NOT_FOUND"));
  });

  it("[V17, S12] an update that changes nothing is answered alike behind a later one", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ id: "e", text: "one" });
    expect(await session.updateEvent("e", { text: "one" }, key)).toMatchObject({ revision: 1 });
    await session.updateEvent("e", { text: "two" });
    expect(await session.updateEvent("e", { text: "one" }, key)).toMatchObject({ revision: 1, text: "one" });
    expect(await session.getEvent("e")).toMatchObject({ text: "two" });
  });

  it("[V17, S6] a repeated forget answers what the first one forgot, and leaves what came since", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    const say = (from: number, count: number) =>
      session.rememberMany(Array.from({ length: count }, (_, index) => ({ id: `e${from + index}`, text: "again" })));
    await say(0, 450);
    expect(await memory.forget({ session: "s" }, key)).toEqual({ forgotten: 450 });
    await say(500, 3);
    expect(await memory.forget({ session: "s" }, key)).toEqual({ forgotten: 450 });
    expect(await memory.count()).toBe(3);
    const ids = ["e500", "e501", "gone"];
    expect(await session.forget({ events: ids }, key)).toEqual({ forgotten: 2 });
    expect(await session.forget({ events: ids }, key)).toEqual({ forgotten: 2 });
  });

  it("[V17, S6] a forget that was cut short goes on where it stands, and counts each event once", async () => {
    const { memory, count } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.rememberMany(Array.from({ length: 450 }, (_, index) => ({ id: `e${index}`, text: "again" })));
    for (const selection of [{ events: Array.from({ length: 450 }, (_, index) => `e${index}`) }, { session: "s" }]) {
      const abort = new AbortController();
      const cut = memory.forget(selection, {
        idempotencyKey: JSON.stringify(selection).slice(0, 20),
        signal: abort.signal,
      });
      await expect.poll(() => count("events")).toBeLessThan(450);
      abort.abort();
      await cut.catch(() => undefined);
      const { forgotten } = await memory.forget(selection, { idempotencyKey: JSON.stringify(selection).slice(0, 20) });
      expect(forgotten).toBe(450);
      expect(await memory.count()).toBe(0);
      if ("events" in selection)
        await session.rememberMany(Array.from({ length: 450 }, (_, index) => ({ id: `n${index}`, text: "again" })));
    }
  });

  it("[V17, S6] two calls that forget under one key count each event once together", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.rememberMany(Array.from({ length: 450 }, (_, index) => ({ id: `e${index}`, text: "again" })));
    const both = await Promise.all([1, 2].map(() => memory.forget({ session: "s" }, key)));
    expect(both).toEqual([{ forgotten: 450 }, { forgotten: 450 }]);
  });

  it("[V17, S12] a retry that still embeds behind its first try, and behind another update, undoes neither", async () => {
    const gates: (() => void)[] = [];
    const words = createHashEmbedder();
    const embedder = {
      ...words,
      async embed(texts: readonly string[], options: EmbedOptions) {
        if (texts[0] === "two" && gates.length < 2) await new Promise<void>((open) => gates.push(open));
        return words.embed(texts, options);
      },
    };
    const memory = await openMemory({ inMemory: true, embedder });
    const session = await memory.createSession("s");
    await session.remember({ id: "e", text: "one" });
    const first = session.updateEvent("e", { text: "two" }, key);
    const retry = session.updateEvent("e", { text: "two" }, key);
    await expect.poll(() => gates.length).toBe(2);
    gates[0]?.();
    expect(await first).toMatchObject({ revision: 2 });
    expect(await session.updateEvent("e", { text: "three" })).toMatchObject({ revision: 3 });
    gates[1]?.();
    expect(await retry).toMatchObject({ revision: 2, text: "two" });
    expect(await session.getEvent("e")).toMatchObject({ revision: 3, text: "three" });
    await memory.close();
  });

  it("[S12] forgetting an event that changed meanwhile is refused with the revision that was expected", async () => {
    const { memory } = await openMemoryBed();
    const session = await memory.createSession("s");
    await session.remember({ id: "e", text: "one" });
    await session.updateEvent("e", { text: "two" });
    const stale = session.forget({ events: ["e"] }, { expectedRevision: 1 });
    await expect(stale).rejects.toMatchObject({ code: "REVISION_CONFLICT", details: { event: "e", revision: 2 } });
    expect(await session.count()).toBe(1);
    for (const wrong of [0, 1.5, "1"])
      await expect(session.forget({ events: ["e"] }, { expectedRevision: wrong as number })).rejects.toMatchObject(
        codes("INVALID_ARGUMENT"),
      );
    await expect(memory.forget({ session: "s" }, { expectedRevision: 1 })).rejects.toMatchObject(
      codes("INVALID_ARGUMENT"),
    );
    expect(await session.forget({ events: ["e"] }, { expectedRevision: 2 })).toEqual({ forgotten: 1 });
    expect(await session.forget({ events: ["e"] }, { expectedRevision: 2 })).toEqual({ forgotten: 0 });
  });

  it("[V17, S11] creations and deletions of one key are done once: what was made again since stands", async () => {
    const { memory } = await openMemoryBed();
    const createTenant = () => memory.createTenant("t", { idempotencyKey: "make" });
    expect((await createTenant()).created).toBe(true);
    const tenant = await createTenant();
    expect(tenant.created).toBe(true);
    const createSession = () => tenant.createSession("s", { user: "u", idempotencyKey: "make" });
    expect([(await createSession()).created, (await createSession()).created]).toEqual([true, true]);
    await expect(tenant.createSession("s", { user: "v", idempotencyKey: "make" })).rejects.toMatchObject(
      codes("IDEMPOTENCY_CONFLICT"),
    );
    const drop = { idempotencyKey: "drop" };
    expect(await tenant.deleteSession("s", drop)).toEqual({ deleted: true });
    await expect((await createSession()).remember({ text: "late" })).rejects.toMatchObject(codes("STALE"));
    await (await tenant.createSession("s", { user: "u" })).remember({ text: "new" });
    expect(await tenant.deleteSession("s", drop)).toEqual({ deleted: true });
    expect(await tenant.count()).toBe(1);
    expect(await memory.deleteTenant("t", drop)).toEqual({ deleted: true });
    await memory.createTenant("t");
    expect(await memory.deleteTenant("t", drop)).toEqual({ deleted: true });
    expect(await memory.getTenant("t")).toBeDefined();
    await expect(tenant.createSession("s", { user: "u", idempotencyKey: "make" })).rejects.toMatchObject(
      codes("STALE"),
    );
  });

  it("[V17, S10, S11] keys of two tenants, and of two lives of one session, do not meet; an ended life takes its receipts along", async () => {
    const { memory, count } = await openMemoryBed();
    for (const id of ["a", "b"]) {
      const session = await (await memory.createTenant(id)).createSession("s");
      expect(await session.remember({ id: `${id}1`, text: `of ${id}` }, key)).toMatchObject({ created: true });
    }
    const tenant = await memory.tenant("a");
    const old = await tenant.session("s");
    await tenant.deleteSession("s");
    expect(count("receipts")).toBe(1);
    await expect(old.remember({ id: "a1", text: "of a" }, key)).rejects.toMatchObject(codes("STALE"));
    const anew = await tenant.createSession("s");
    expect(await anew.remember({ id: "a2", text: "another" }, key)).toMatchObject({ created: true });
    await memory.deleteTenant("a", { erase: true });
    await memory.deleteTenant("b", { erase: true });
    expect([count("receipts"), count("receipt_events")]).toEqual([0, 0]);
  });

  it("[V17] after its retention a key is new, and expired receipts go with those that come", async () => {
    const { memory, count } = await openMemoryBed({ receiptRetentionMs: 1 });
    const session = await memory.createSession("s");
    const expired = async () => {
      const at = Date.now();
      await expect.poll(() => Date.now() - at).toBeGreaterThan(2);
    };
    await session.remember({ id: "first", text: "first" }, { idempotencyKey: "again" });
    await expired();
    const second = session.remember({ id: "second", text: "second" }, { idempotencyKey: "again" });
    expect(await second).toMatchObject({ created: true });
    for (let turn = 0; turn < 5; turn += 1) {
      const { created } = await session.remember({ id: `e${turn}`, text: `turn ${turn}` }, key);
      expect(created).toBe(true);
      await session.remember({ id: `other${turn}`, text: "x" }, { idempotencyKey: `k${turn}` });
      await expired();
    }
    expect(count("receipts")).toBeLessThanOrEqual(2);
    await expect(
      openMemory({ inMemory: true, embedder: createHashEmbedder(), receiptRetentionMs: 0 }),
    ).rejects.toMatchObject(codes("INVALID_ARGUMENT"));
  });

  it("[V17, V18] of racing calls with one key the work is done once, and all have its answer", async () => {
    const bed = await openMemoryBed();
    await bed.memory.createSession("s");
    const others = await Promise.all([1, 2].map(() => beside(bed)));
    const sessions = await Promise.all([bed.memory, ...others].map((memory) => memory.session("s")));
    const receipts = await Promise.all(
      [...sessions, ...sessions].map((session) => session.remember({ text: "once" }, key)),
    );
    expect(new Set(receipts.map(({ id }) => id)).size).toBe(1);
    expect(await bed.memory.count()).toBe(1);
    const updates = sessions.map((session) =>
      session.updateEvent(receipts[0]?.id ?? "", { text: "twice" }, { idempotencyKey: "u" }),
    );
    expect(new Set((await Promise.all(updates)).map(({ revision }) => revision))).toEqual(new Set([2]));
    for (const other of others) await other.close();
  });

  it("[V17] equal data has one digest, and other data another", () => {
    const digest = (...values: unknown[]) => {
      const made = new InputDigest("call");
      for (const value of values) made.add(value);
      return made.end();
    };
    expect(digest({ a: 1, b: undefined })).toBe(digest({ b: null, a: 1n }));
    expect(digest({ a: 1, b: 2 })).toBe(digest(new Map(Object.entries({ b: 2, a: 1 }))));
    expect(digest(-0)).toBe(digest(0));
    const different = [
      digest("1"),
      digest(1),
      digest(1.5),
      digest(true),
      digest(null),
      digest([1]),
      digest([[1]]),
      digest([]),
      digest("a", "b"),
      digest("ab"),
      digest(["a", "b"]),
      digest({ a: "b" }),
      digest(new Float32Array([1])),
      digest(2n ** 60n),
      digest(2n ** 60n + 1n),
      new InputDigest("other").add(1).end(),
    ];
    expect(new Set(different).size).toBe(different.length);
  });
});

/** Another handle of the same folder. */
async function beside({ path }: MemoryBed): Promise<Memory> {
  return openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
}
