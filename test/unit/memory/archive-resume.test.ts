import { describe, expect, it } from "vitest";
import type { Memory } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { repairFolder } from "../../../src/repair-folder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { openSmallWorld, openTarget } from "./archive-beds.ts";
import { contentsOf, sourceOf, textOf } from "./archive-worlds.ts";

/** More than one commit takes. */
const EVENTS = 1_200;

/** An archive of the tenants `acme` and `beta`. */
async function largeArchive(): Promise<string> {
  const { memory } = await openTarget();
  for (const id of ["acme", "beta"]) {
    const session = await (await memory.createTenant(id)).createSession("chat");
    await session.rememberMany(
      Array.from({ length: EVENTS / 2 }, (_, n) => ({ id: `e${n}`, text: `turn ${n} of ${id}` })),
    );
  }
  return textOf(memory.exportArchive());
}

/** Takes in the first commits and is then interrupted as by Ctrl-C. */
async function importSome(memory: Memory, archive: string, events = EVENTS - 100): Promise<void> {
  const stop = new AbortController();
  const run = memory.importArchive(sourceOf(archive), {
    signal: stop.signal,
    onProgress: (progress) => {
      if (progress.phase === "importing" && progress.events >= events) stop.abort();
    },
  });
  await expect(run).rejects.toMatchObject({ code: "ABORTED", outcome: "not-applied" });
}

describe("an import that is interrupted", () => {
  it("[O2] has shown nothing, and goes on where it was when it is called again", async () => {
    const archive = await largeArchive();
    const target = await openTarget();
    await importSome(target.memory, archive);
    const staged = target.count("events");
    expect(staged).toBeGreaterThan(500);
    expect(staged).toBeLessThan(EVENTS);
    expect((await target.memory.listTenants()).map(({ id }) => id)).toEqual(["default"]);
    expect(await target.memory.getTenant("acme")).toBeUndefined();
    expect(await target.memory.deleteTenant("acme")).toEqual({ deleted: false });
    expect((await target.memory.recall("turn 7")).hits).toEqual([]);
    expect(contentsOf(await textOf(target.memory.exportArchive())).at(-1)).toMatchObject({ tenants: 1, events: 0 });
    const phases: string[] = [];
    const receipt = await target.memory.importArchive(sourceOf(archive), {
      onProgress: ({ phase }) => phases.push(phase),
    });
    expect(receipt).toMatchObject({ events: EVENTS, vectors: EVENTS, resumed: true });
    expect(phases).toContain("verifying");
    expect(target.count("events")).toBe(EVENTS);
    expect(target.count("vectors_1")).toBe(EVENTS);
    for (const id of ["acme", "beta"]) {
      const tenant = await target.memory.tenant(id);
      expect(await tenant.stats()).toMatchObject({ events: EVENTS / 2, segments: EVENTS / 2, vectors: EVENTS / 2 });
      expect((await tenant.recall("turn 7", { limit: 1 })).hits).toMatchObject([{ event: "e7" }]);
    }
    const again = await textOf(target.memory.exportArchive());
    expect(contentsOf(again)).toEqual(contentsOf(archive));
  });

  it("[O2] called again behind its end it is done, and makes no copies; a tenant that was deleted since is taken in anew", async () => {
    const archive = await textOf((await openSmallWorld()).memory.exportArchive());
    const { memory, count } = await openTarget();
    expect(await memory.importArchive(sourceOf(archive), { as: "acme" })).toMatchObject({ resumed: false });
    for (const source of [sourceOf(archive), sourceOf(archive)()])
      expect(await memory.importArchive(source, { as: "acme" })).toMatchObject({
        events: 2,
        vectors: 2,
        resumed: true,
      });
    expect(count("events")).toBe(2);
    await memory.deleteTenant("acme", { erase: true });
    expect(await memory.importArchive(sourceOf(archive), { as: "acme" })).toMatchObject({ events: 2, resumed: false });
    expect(await (await memory.tenant("acme")).count()).toBe(2);
  });

  it("[O2, V18] two at once take the archive in once", async () => {
    const archive = await largeArchive();
    const { memory, count } = await openTarget();
    const runs = await Promise.allSettled([1, 2].map(() => memory.importArchive(sourceOf(archive)())));
    expect(runs.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(runs.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "BUSY" } });
    expect([count("events"), count("vectors_1"), count("tenants")]).toEqual([EVENTS, EVENTS, 3]);
  });

  it("[O2] refuses at its end the id that somebody took meanwhile, and leaves nothing of what was taken in", async () => {
    const archive = await largeArchive();
    const { memory, count } = await openTarget();
    await importSome(memory, archive);
    const session = await (await memory.createTenant("beta")).createSession("own");
    await session.remember({ id: "own", text: "of my own" });
    for (const source of [sourceOf(archive), sourceOf(archive)()])
      await expect(memory.importArchive(source)).rejects.toMatchObject({
        code: "ALREADY_EXISTS",
        details: { tenant: "beta" },
      });
    await expect.poll(() => count("ended_tenants")).toBe(0);
    expect([count("imports"), count("events"), count("segments")]).toEqual([0, 1, 1]);
    expect(await memory.getTenant("acme")).toBeUndefined();
  });

  it("[O2, S7] embeds nothing before it is visible", async () => {
    const archive = await largeArchive();
    const embedder = createUnsteadyEmbedder({ model: "another", dimensions: 8 });
    const { memory, raw, path, count } = await openTarget({ embedder });
    await importSome(memory, archive);
    expect(count("pending_vectors")).toBeGreaterThan(500);
    raw.exec("UPDATE embedding_lease SET resume_at = 0");
    const other = await openMemory({ path, threads: "inline", embedder });
    expect(await other.embedPending()).toEqual({ embedded: 0, waiting: 0, parked: 0 });
    await other.close();
    expect(embedder.textsEmbedded).toBe(0);
    expect(await memory.importArchive(sourceOf(archive))).toMatchObject({ resumed: true, pending: EVENTS });
    await expect.poll(() => count("pending_vectors"), { timeout: 20_000 }).toBe(0);
    expect(count("vectors_1")).toBe(EVENTS);
  });

  it("[O2, M1] begins anew when the folder is opened with the model that made the vectors", async () => {
    const archive = await largeArchive();
    const another = createUnsteadyEmbedder({ model: "another", dimensions: 8 });
    const { memory, path, count } = await openTarget({ embedder: another });
    await importSome(memory, archive);
    expect(count("pending_vectors")).toBeGreaterThan(500);
    await memory.close();
    const other = await openMemory({ path, threads: "inline", embedder: createUnsteadyEmbedder({ dimensions: 16 }) });
    const receipt = await other.importArchive(sourceOf(archive));
    expect(receipt).toMatchObject({ vectorsTaken: true, vectors: EVENTS, resumed: false });
    expect([count("vectors_1"), count("tenants")]).toEqual([EVENTS, 3]);
    await other.close();
  });

  it("[O2] nobody goes on with is let go after a week", async () => {
    const archive = await largeArchive();
    const { memory, raw, path, count } = await openTarget();
    await importSome(memory, archive);
    raw.exec("UPDATE imports SET touched_at = touched_at - 6 * 86400000000");
    const open = () => openMemory({ path, threads: "inline", embedder: createUnsteadyEmbedder({ dimensions: 16 }) });
    await (await open()).close();
    expect(count("imports")).toBe(1);
    raw.exec("UPDATE imports SET touched_at = touched_at - 2 * 86400000000");
    const other = await open();
    await expect
      .poll(() => [count("imports"), count("events"), count("ended_tenants")], { timeout: 20_000 })
      .toEqual([0, 0, 0]);
    await other.close();
    expect(count("tenants")).toBe(1);
  });

  it("[O1, O2] stays unseen in a repaired folder and goes on there; one that has lost something is let go", async () => {
    const archive = await largeArchive();
    for (const [loss, found] of [
      ["SELECT 1", { events: EVENTS, resumed: true }],
      ["DELETE FROM events WHERE event = 7", "DAMAGED"],
    ] as const) {
      const { memory, raw, path } = await openTarget();
      await importSome(memory, archive);
      await memory.close();
      raw.close();
      const report = await repairFolder(path, { threads: "inline", force: true });
      expect(report).toMatchObject({ outcome: "repaired" });
      const repaired = await openTarget({ path });
      repaired.raw.exec(loss);
      expect((await repaired.memory.listTenants()).map(({ id }) => id)).toEqual(["default"]);
      const run = repaired.memory.importArchive(sourceOf(archive));
      if (found !== "DAMAGED") expect(await run).toMatchObject(found);
      else await expect(run).rejects.toMatchObject({ code: found, outcome: "not-applied" });
      expect(await repaired.memory.importArchive(sourceOf(archive))).toMatchObject({ events: EVENTS });
      expect(await (await repaired.memory.tenant("acme")).count()).toBe(EVENTS / 2);
    }
  });

  it("[O2] dryRun reads and checks all of it and writes nothing", async () => {
    const archive = await textOf((await openSmallWorld()).memory.exportArchive());
    const { memory, count } = await openTarget();
    for (const source of [sourceOf(archive), sourceOf(archive)()])
      expect(await memory.importArchive(source, { dryRun: true })).toMatchObject({
        events: 2,
        segments: 2,
        summaries: 1,
      });
    await expect(memory.importArchive(sourceOf(archive.slice(0, -300)), { dryRun: true })).rejects.toMatchObject({
      code: "INVALID_ARCHIVE",
    });
    expect([count("imports"), count("events")]).toEqual([0, 0]);
  });

  it("[O2, Q11] ends the wait for a source that says nothing", async () => {
    const { memory } = await openTarget();
    const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) };
    await expect(memory.importArchive(silent, { timeoutMs: 20 })).rejects.toMatchObject({
      code: "TIMEOUT",
      outcome: "not-applied",
    });
  });
});
