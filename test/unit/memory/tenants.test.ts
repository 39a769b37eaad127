import { describe, expect, it } from "vitest";
import type { Session, Tenant } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { fill, methodsOf, SESSION_CALLS, TENANT_CALLS } from "./handle-calls.ts";
import { openMemoryBed } from "./memories.ts";

/** Tables without rows of tenants: of the folder, of the store layer, of FTS5. */
const SHARED_TABLES =
  /^(holdfast|stores|partitions|tombstones|tenants|ended_tenants|spaces|text_index|segment_words.*|(records|vectors|removals)_\d+|sqlite_.*)$/;

describe("tenants", () => {
  it("[S1] createTenant answers the one that stands; racing creations make one", async () => {
    const { memory, count } = await openMemoryBed();
    const tenants = await Promise.all(Array.from({ length: 10 }, () => memory.createTenant("acme")));
    expect(tenants.filter(({ created }) => created)).toHaveLength(1);
    expect(count("tenants")).toBe(2);
    expect((await memory.listTenants()).map(({ id }) => id)).toEqual(["acme", "default"]);
    expect((await memory.listTenants({ after: "acme", limit: 1 })).map(({ id }) => id)).toEqual(["default"]);
  });

  it("[S1, S11] asking for an unknown tenant is an error and makes none", async () => {
    const { memory, count } = await openMemoryBed();
    await expect(memory.tenant("nobody")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await memory.getTenant("nobody")).toBeUndefined();
    expect(await memory.deleteTenant("nobody")).toEqual({ deleted: false });
    await expect(memory.createTenant("")).rejects.toMatchObject({ code: "INVALID_NAME" });
    expect(count("tenants")).toBe(1);
  });

  it("[S2] a tenant whose vectors are gone from the database is broken, not new", async () => {
    const { memory, raw, count } = await openMemoryBed();
    const acme = await memory.createTenant("acme");
    const session = await fill(acme, "acme");
    raw.exec("DELETE FROM partitions WHERE key = 'tenant_2'");
    for (const call of [
      () => acme.recall("Lisbon"),
      () => session.remember({ text: "more" }),
      () => acme.stats(),
      () => acme.forget({ events: ["acme-1"] }),
    ])
      await expect(call()).rejects.toMatchObject({ code: "STORAGE_MISSING" });
    expect(count("partitions")).toBe(0);
    expect(count("events")).toBe(2);
  });

  it("[S11, G1] deleting a tenant ends every handle of it, and leaves nothing behind", async () => {
    const { memory, raw, count } = await openMemoryBed();
    const kept = await fill(memory, "kept");
    const before = new Map(tablesOfTenants(raw).map((table) => [table, count(table)]));
    const acme = await memory.createTenant("acme");
    const session = await fill(acme, "acme");
    expect(await memory.deleteTenant("acme", { erase: true })).toEqual({ deleted: true, erasure: "complete" });
    await everyCallIsStale(acme, session);
    const again = await memory.createTenant("acme");
    expect(again.created).toBe(true);
    await everyCallIsStale(acme, session);
    expect(await again.count()).toBe(0);
    expect((await again.recall("Lisbon")).hits).toEqual([]);
    for (const table of tablesOfTenants(raw)) expect(count(table), table).toBe(before.get(table) ?? 0);
    for (const table of ["records_1", "vectors_1"]) expect(count(table), table).toBe(2);
    expect(count("ended_tenants")).toBe(0);
    expect(await kept.count()).toBe(2);
    expect((await memory.recall("Lisbon")).hits[0]?.event).toBe("kept-1");
  });

  it("[E14] what a tenant asked is forgotten with it: the question is embedded anew", async () => {
    const { memory, embedder } = await openMemoryBed();
    const ask = async (tenant: Tenant): Promise<number> => {
      await tenant.recall("who keeps bees?");
      return embedder.textsEmbedded;
    };
    const [asked, other] = [await memory.createTenant("t"), await memory.createTenant("other")];
    expect([await ask(asked), await ask(other), await ask(asked), await ask(other)]).toEqual([1, 2, 2, 2]);
    await memory.deleteTenant("t");
    expect([await ask(await memory.createTenant("t")), await ask(other)]).toEqual([3, 3]);
  });

  it("[G1] a deletion that was cut short is finished after the next open", async () => {
    const { memory, path, raw, count } = await openMemoryBed();
    const handle = await fill(memory, "kept");
    raw.exec("UPDATE sessions SET ending = 1");
    await everySessionCallIsStale(handle);
    expect(await memory.getSession("kept-chat")).toBeUndefined();
    expect((await memory.recall("Lisbon")).hits).toEqual([]);
    expect(await memory.count()).toBe(0);
    expect((await memory.list()).events).toEqual([]);
    expect(await memory.getEvent("kept-1")).toBeUndefined();
    const other = await openMemory({ path, threads: "inline", embedder: createHashEmbedder() });
    await expect.poll(() => count("sessions")).toBe(0);
    expect(count("events")).toBe(0);
    await other.close();
  });

  it("[S11] deleting a session ends its handles and frees its id; other sessions keep their events", async () => {
    const { memory, count } = await openMemoryBed();
    const other = await fill(memory, "other");
    const session = await fill(memory, "gone");
    expect(await memory.deleteSession("gone-chat")).toEqual({ deleted: true });
    expect(await memory.deleteSession("gone-chat")).toEqual({ deleted: false });
    await everySessionCallIsStale(session);
    const again = await memory.createSession("gone-chat", { user: "somebody else" });
    expect(again.created).toBe(true);
    await everySessionCallIsStale(session);
    expect(await again.count()).toBe(0);
    expect(await memory.count()).toBe(2);
    expect((await memory.recall("gone bicycle")).hits.map(({ session: id }) => id)).not.toContain("gone-chat");
    expect(await other.count()).toBe(2);
    expect(count("event_revisions")).toBe(1);
  });

  it("[S3, S6] what is left of a session that is being deleted takes no new event along", async () => {
    const { memory, raw, count } = await openMemoryBed();
    const old = await memory.createSession("old");
    await old.remember({ id: "e", text: "The meeting is on Monday." });
    // Cut short right behind the commit that ends it.
    raw.exec("UPDATE sessions SET ending = 1");
    const session = await memory.createSession("new");
    expect(await session.remember({ id: "e", text: "The meeting is on Monday." })).toMatchObject({ created: true });
    await memory.deleteSession("old");
    expect((await session.recall("meeting Monday")).hits.map(({ event }) => event)).toEqual(["e"]);
    expect([count("events"), count("segments"), count("vectors_1")]).toEqual([1, 1, 1]);
  });

  it("[S11] a recall whose session is deleted and made anew while the question is embedded answers nothing of either", async () => {
    let [reached, release] = [(): void => undefined, (): void => undefined];
    const embedding = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const before = (_: readonly string[], kind: string): Promise<void> | undefined => {
      if (kind !== "query") return undefined;
      reached();
      return gate;
    };
    const { memory } = await openMemoryBed({ embedder: createHashEmbedder({ before }) });
    const old = await memory.createSession("s", { user: "alice" });
    await old.remember({ text: "Alice keeps bees." });
    const answer = old.recall("who keeps bees?");
    await embedding;
    await memory.deleteSession("s");
    await (await memory.createSession("s", { user: "bob" })).remember({ text: "Bob keeps bees." });
    release();
    await expect(answer).rejects.toMatchObject({ code: "STALE" });
  });

  it("[S11] a session that is being deleted is finished by whoever creates its id anew", async () => {
    const { memory, raw } = await openMemoryBed();
    await fill(memory, "a");
    raw.exec("UPDATE sessions SET ending = 1, incarnation = 'ended'");
    const again = await memory.createSession("a-chat");
    expect(again.created).toBe(true);
    expect(await memory.count()).toBe(0);
    await again.remember({ id: "a-1", text: "a new beginning" });
    expect(await memory.count()).toBe(1);
  });
});

describe("two tenants", () => {
  it("[S10] cursors tell one tenant nothing of what another writes, and lead nowhere in another's lists", async () => {
    const failing = createHashEmbedder({
      before: () => {
        throw new Error("down");
      },
    });
    const cursorsOf = async (tenant: Tenant) => [
      (await tenant.list({ limit: 1 })).next,
      (await tenant.changes({ limit: 2 })).cursor,
      (await tenant.pendingEmbeddings({ limit: 1 })).next,
    ];
    const { memory, raw } = await openMemoryBed({ embedder: failing });
    const [a, b] = [await memory.createTenant("a"), await memory.createTenant("b")];
    const at = "2026-05-01T12:00:00Z";
    for (const tenant of [a, b]) {
      const session = await tenant.createSession("s");
      for (const text of ["one", "two"]) await session.remember({ text, at });
    }
    const [list, changes, pending] = await cursorsOf(a);
    expect(new Set([...(await cursorsOf(a)), ...(await cursorsOf(b))]).size).toBe(6);
    // Numbers that are one apart make cursors that have nothing in common.
    for (const [cursor, number] of [
      [list, raw.prepare("SELECT min(event) AS n FROM events").get()?.n],
      [changes, raw.prepare("SELECT min(sequence) + 1 AS n FROM changes").get()?.n],
      [pending, raw.prepare("SELECT min(segment) AS n FROM segments").get()?.n],
    ] as const)
      expect(cursor?.endsWith(Number(number).toString(36))).toBe(false);
    const refused = { code: "INVALID_ARGUMENT" };
    await expect(b.list({ after: list ?? "" })).rejects.toMatchObject(refused);
    await expect(b.pendingEmbeddings({ after: pending ?? "" })).rejects.toMatchObject(refused);
    await expect(b.changes({ after: changes ?? "" })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    for (const after of ["", "e1_1", `e${"z".repeat(13)}_${"z".repeat(11)}`, `e${pending?.slice(1)}`, `${list}x`])
      await expect(a.list({ after })).rejects.toMatchObject(refused);
    for (const after of [`${changes?.slice(0, 10)}1`, `${changes?.slice(0, 10)}${list?.slice(1)}`])
      await expect(a.changes({ after })).rejects.toMatchObject(refused);
    expect((await a.list({ ...(list !== undefined && { after: list }) })).events.map(({ text }) => text)).toEqual([
      "two",
    ]);
  });

  it("[S10] never see each other: what exists elsewhere and what does not exist are answered alike", async () => {
    const { memory } = await openMemoryBed();
    const [acme, other] = [await memory.createTenant("acme"), await memory.createTenant("other")];
    await fill(acme, "acme");
    const mine = await fill(other, "other");
    for (const method of methodsOf(other)) {
      const ask = TENANT_CALLS[method];
      if (ask === undefined) throw new Error(`No call with another tenant's ids is listed for Tenant.${method}.`);
      const [theirs, nobodys] = [await outcomeOf(() => ask(other, "acme")), await outcomeOf(() => ask(other, "nope"))];
      expect(theirs.replaceAll("acme", "nope"), `Tenant.${method}`).toBe(nobodys);
    }
    for (const method of methodsOf(mine)) {
      const ask = SESSION_CALLS[method];
      if (ask === undefined) throw new Error(`No call with another tenant's ids is listed for Session.${method}.`);
      const [theirs, nobodys] = [await outcomeOf(() => ask(mine, "acme")), await outcomeOf(() => ask(mine, "nope"))];
      expect(theirs.replaceAll("acme", "nope"), `Session.${method}`).toBe(nobodys);
    }
    expect(await acme.count()).toBe(2);
    expect(await acme.getEvent("acme-2")).toMatchObject({ revision: 2 });
    expect((await acme.recall("Lisbon")).hits[0]?.event).toBe("acme-1");
  });
});

async function outcomeOf(call: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify((await call()) ?? null);
  } catch (error) {
    const { code, message, details } = error as { code?: string; message: string; details?: unknown };
    return JSON.stringify({ code, message, details });
  }
}

async function everyCallIsStale(tenant: Tenant, session: Session): Promise<void> {
  for (const method of methodsOf(tenant)) {
    const call = TENANT_CALLS[method];
    await expect(call?.(tenant, "acme"), `Tenant.${method}`).rejects.toMatchObject({ code: "STALE" });
  }
  await everySessionCallIsStale(session);
}

async function everySessionCallIsStale(session: Session): Promise<void> {
  for (const method of methodsOf(session)) {
    const call = SESSION_CALLS[method];
    await expect(call?.(session, "acme"), `Session.${method}`).rejects.toMatchObject({ code: "STALE" });
  }
}

function tablesOfTenants(raw: { prepare(sql: string): { all(): readonly Record<string, unknown>[] } }): string[] {
  return raw
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !SHARED_TABLES.test(name));
}
