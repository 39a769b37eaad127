import { describe, expect, it } from "vitest";
import { openMemory } from "../../../src/open-memory.ts";
import { verifyFolder } from "../../../src/verify-folder.ts";
import { createUnsteadyEmbedder } from "../../doubles/unsteady-embedder.ts";
import { openSmallWorld, openTarget, openWorld } from "./archive-beds.ts";
import { answersOf, contentsOf, rowsOf, sourceOf, textOf } from "./archive-worlds.ts";

describe("an archive", () => {
  for (const seed of [1, 2])
    it(`[O2] taken into an empty folder is equal in every row and in every answer (seed ${seed})`, async () => {
      const source = await openWorld(seed);
      const archive = await textOf(source.memory.exportArchive());
      const target = await openTarget();
      const receipt = await target.memory.importArchive(sourceOf(archive, 1_000));
      expect(receipt).toMatchObject({ tenants: 5, vectorsTaken: true, resumed: false, damaged: 0 });
      await target.memory.fillDeclared();
      const [expected, found] = [rowsOf(source.raw), rowsOf(target.raw)];
      for (const table of Object.keys(expected)) expect(found[table], table).toEqual(expected[table]);
      expect(await answersOf(target.memory)).toEqual(await answersOf(source.memory));
      expect(contentsOf(await textOf(target.memory.exportArchive()))).toEqual(contentsOf(archive));
      expect((await verifyFolder(target.path, { threads: "inline" })).findings).toEqual([]);
    });

  it("[O2] is of one moment, whatever is written while it is read", async () => {
    const { memory } = await openWorld(3);
    const before = contentsOf(await textOf(memory.exportArchive()));
    const session = await memory.session("chat");
    let [text, pieces] = ["", 0];
    for await (const piece of memory.exportArchive()) {
      text += piece;
      pieces += 1;
      await session.remember({ id: `late ${pieces}`, text: "told while the archive is read" });
      await memory.forget({ events: ["long"] });
      await memory.deleteTenant("acme");
      await memory.createTenant("a late one");
    }
    expect(pieces).toBeGreaterThan(1);
    expect(contentsOf(text)).toEqual(before);
    expect(contentsOf(await textOf(memory.exportArchive()))).not.toEqual(before);
  });

  it("[O2] is of one moment also where there is one connection alone: in memory and exclusive", async () => {
    const { path } = await openTarget();
    for (const place of [{ inMemory: true }, { path: `${path}-2`, exclusive: true }] as const) {
      const memory = await openMemory({ ...place, embedder: createUnsteadyEmbedder() });
      const session = await memory.createSession("s");
      await session.remember({ id: "e", text: "first" });
      let text = "";
      for await (const piece of memory.exportArchive()) {
        text += piece;
        await session.remember({ text: "while it is read" });
      }
      expect(contentsOf(text).at(-1)).toMatchObject({ events: 1, vectors: 1 });
      expect(await memory.importArchive(sourceOf(text), { as: "copy" })).toMatchObject({ events: 1 });
      expect(await (await memory.tenant("copy")).getEvent("e")).toMatchObject({ text: "first" });
      await memory.close();
    }
  });

  it("[O2] of one tenant has nothing of another, and is taken in beside others under its own or another id", async () => {
    const source = await openSmallWorld();
    const chat = await (await source.memory.createTenant("acme")).createSession("chat of acme");
    await chat.rememberMany([
      { id: "a1", text: "acme builds bicycles" },
      { id: "e1", text: "acme moved to Faro" },
    ]);
    const archive = await textOf(source.memory.exportArchive({ tenant: "acme" }));
    expect(archive).not.toMatch(/Lisbon|Porto|alice/);
    expect(contentsOf(archive).filter((line) => "type" in line && line.type === "tenant")).toMatchObject([
      { id: "acme" },
    ]);
    const target = await openSmallWorld();
    expect(await target.memory.importArchive(sourceOf(archive))).toMatchObject({ tenants: 1 });
    expect(await target.memory.importArchive(sourceOf(archive), { as: "a copy" })).toMatchObject({ tenants: 1 });
    expect((await target.memory.listTenants()).map(({ id }) => id)).toEqual(["a copy", "acme", "default"]);
    const expected = await (await source.memory.tenant("acme")).exportEvents({ limit: 1_000 });
    for (const id of ["acme", "a copy"]) {
      const tenant = await target.memory.tenant(id);
      expect((await tenant.exportEvents({ limit: 1_000 })).events).toEqual(expected.events);
      const written = await tenant.changes({ limit: 1_000 });
      expect(written.changes.filter(({ kind }) => kind === "written")).toHaveLength(expected.events.length);
    }
    expect(await target.memory.count()).toBe(2);
    expect((await target.memory.recall("Porto")).hits[0]).toMatchObject({ event: "e1" });
    // Keys that a folder with events does not declare itself stay undeclared.
    expect((await target.memory.stats()).declared).toEqual([]);
    expect((await verifyFolder(target.path, { threads: "inline" })).findings).toEqual([]);
  });

  it("[O2, M3] of another embedding space brings no vectors: every segment is listed and embedded anew", async () => {
    const source = await openSmallWorld();
    const archive = await textOf(source.memory.exportArchive());
    const embedder = createUnsteadyEmbedder({ model: "another", dimensions: 8 });
    const target = await openTarget({ embedder });
    const receipt = await target.memory.importArchive(sourceOf(archive));
    expect(receipt).toMatchObject({ vectorsTaken: false, segments: 2, vectors: 0, pending: 2 });
    expect((await target.memory.pendingEmbeddings()).segments).toMatchObject([
      { event: "e2", state: "waiting", reason: "embedded by another model" },
      { event: "e1" },
    ]);
    expect(await target.memory.embedPending()).toMatchObject({ embedded: 2, waiting: 0 });
    expect((await target.memory.recall("green tea", { channels: ["vector"] })).hits[0]).toMatchObject({ event: "e2" });
    // A folder's space decides, and not the embedder that it is opened with.
    const third = await openTarget({ embedder });
    await (await third.memory.createTenant("own")).createSession("s");
    await (await (await third.memory.tenant("own")).session("s")).remember({ text: "of the other model" });
    expect(await third.memory.importArchive(sourceOf(archive))).toMatchObject({ vectorsTaken: false });
  });

  it("[O2, S11] takes the place of a tenant that holds nothing, whose other handles end, and of no other", async () => {
    const archive = await textOf((await openSmallWorld()).memory.exportArchive());
    const { memory, path } = await openTarget();
    const other = await openMemory({ path, threads: "inline", embedder: createUnsteadyEmbedder({ dimensions: 16 }) });
    await memory.importArchive(sourceOf(archive));
    expect(await memory.count()).toBe(2);
    expect((await memory.session("chat")).user).toBe("alice");
    await expect(other.count()).rejects.toMatchObject({ code: "STALE" });
    await other.close();
    const busy = await openSmallWorld();
    for (const source of [sourceOf(archive), sourceOf(archive)()])
      await expect(busy.memory.importArchive(source)).rejects.toMatchObject({
        code: "ALREADY_EXISTS",
        details: { tenant: "default" },
      });
    expect(busy.count("imports")).toBe(0);
    await expect(busy.memory.importArchive(sourceOf(archive), { as: "default" })).rejects.toMatchObject({
      code: "ALREADY_EXISTS",
    });
    expect(busy.count("events")).toBe(2);
  });

  it("[O2, E11] of a damaged folder is refused, or made without what is damaged, and says so", async () => {
    const { memory, raw } = await openSmallWorld();
    raw.exec("UPDATE events SET text = 'I moved to Paris.' WHERE id = 'e1'");
    const damaged = { code: "DAMAGED", details: { tenant: "default", number: 1 } };
    await expect(textOf(memory.exportArchive())).rejects.toMatchObject(damaged);
    const lines = contentsOf(await textOf(memory.exportArchive({ skipDamaged: true })));
    // The event, and the summary that names it.
    expect(lines.at(-1)).toMatchObject({ events: 1, summaries: 0, damaged: 2 });
    raw.exec("UPDATE vectors_1 SET vector = zeroblob(64)");
    const archive = await textOf(memory.exportArchive({ skipDamaged: true }));
    expect(contentsOf(archive).at(-1)).toMatchObject({ events: 1, vectors: 0, pending: 1, damaged: 3 });
    const target = await openTarget();
    expect(await target.memory.importArchive(sourceOf(archive))).toMatchObject({ events: 1, pending: 1, damaged: 3 });
    expect((await target.memory.list()).events).toMatchObject([{ id: "e2" }]);
  });

  it("[O2, Q11] refuses what cannot be meant before anything is read", async () => {
    const { memory } = await openTarget();
    const code = "INVALID_ARGUMENT";
    expect(() => memory.exportArchive({ tenants: ["a"] } as never)).toThrow(expect.objectContaining({ code }));
    expect(() => memory.exportArchive({ tenant: undefined } as never)).toThrow(expect.objectContaining({ code }));
    expect(() => memory.exportArchive({ tenant: "" })).toThrow(expect.objectContaining({ code: "INVALID_NAME" }));
    await expect(textOf(memory.exportArchive({ tenant: "nobody" }))).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memory.importArchive("archive.jsonl" as never)).rejects.toMatchObject({ code });
    await expect(memory.importArchive(sourceOf(""), { onConflict: "skip" } as never)).rejects.toMatchObject({ code });
    await expect(memory.importArchive(sourceOf(""), { as: undefined } as never)).rejects.toMatchObject({ code });
    const source = await openSmallWorld();
    await source.memory.createTenant("another");
    const two = await textOf(source.memory.exportArchive());
    await expect(memory.importArchive(sourceOf(two), { as: "one" })).rejects.toMatchObject({
      code,
      details: { tenants: 2 },
    });
    const signal = AbortSignal.abort();
    await expect(textOf(memory.exportArchive({ signal }))).rejects.toMatchObject({ code: "ABORTED" });
    await expect(memory.importArchive(sourceOf(two), { signal })).rejects.toMatchObject({
      code: "ABORTED",
      outcome: "not-applied",
    });
  });

  it("[O2] ends its moment when the reader leaves, and is CLOSED with its memory", async () => {
    const { memory } = await openSmallWorld();
    const session = await memory.session("chat");
    for (let n = 0; n < 3; n += 1) await session.remember({ text: `${n} ${"long".repeat(200_000)}` });
    for await (const _piece of memory.exportArchive()) break;
    const pieces = memory.exportArchive()[Symbol.asyncIterator]();
    await pieces.next();
    await memory.close();
    await expect(pieces.next()).rejects.toMatchObject({ code: "CLOSED" });
    expect(() => memory.exportArchive()).toThrow(expect.objectContaining({ code: "CLOSED" }));
  });
});
