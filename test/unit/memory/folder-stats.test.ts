import { readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { openMemoryBed } from "./memories.ts";

it("[O4] stats of a folder count every tenant, and say where its bytes are, without a word of what is kept", async () => {
  const { memory, path, count } = await openMemoryBed({ embedder: createHashEmbedder({ dimensions: 256 }) });
  const acme = await memory.createTenant("acme");
  for (const tenant of [memory, acme]) {
    const session = await tenant.createSession("s");
    await session.rememberMany(
      Array.from({ length: 60 }, (_, index) => ({ id: `e${index}`, text: `a telling sentence, number ${index}` })),
    );
    await session.updateEvent("e0", { text: "another sentence" });
  }
  await memory.deleteSession("s");
  const stats = await memory.folderStats();
  expect(stats.rows).toMatchObject({ tenants: 2, sessions: 1, events: 60, revisions: 1, segments: 60, vectors: 60 });
  expect(stats.rows).toMatchObject({ changes: count("changes"), removals: count("removals_1") });
  expect(stats).toMatchObject({ format: 1, pending: { waiting: 0, parked: 0 }, dead: { sessions: 0, tenants: 0 } });
  expect(stats.positions.changes).toBe(count("changes"));
  const { file, log, free, kept, ...kinds } = stats.bytes;
  const sum = Object.values(kinds).reduce((total, bytes) => total + bytes, 0);
  expect(sum + free).toBe(file);
  expect(kinds.vectors).toBeGreaterThan(60 * 256 * 4);
  expect(log).toBe(statSync(join(path, "holdfast.db-wal")).size);
  expect(kept).toBe(0);
  expect(JSON.stringify(stats)).not.toMatch(/telling|sentence|acme/);
});

it("[G1] what a deleted tenant left is counted until it is reclaimed, and what was kept as well", async () => {
  const { memory, raw, path } = await openMemoryBed();
  const acme = await memory.createTenant("acme");
  await (await acme.createSession("s")).remember({ id: "a", text: "a telling sentence" });
  // As a crash right behind the deletion leaves it.
  raw.exec(`INSERT INTO ended_tenants SELECT tenant, 1 FROM tenants WHERE id = 'acme';
    DELETE FROM tenants WHERE id = 'acme';
    INSERT INTO tombstones SELECT partition, store, incarnation, 1 FROM partitions;
    DELETE FROM partitions;`);
  const stats = await memory.folderStats();
  expect(stats.dead).toEqual({ records: 1, partitions: 1, tenants: 1, sessions: 0 });
  expect(stats.rows.vectors).toBe(0);
  const backup = join(path, "..", "backup");
  await memory.backup(backup);
  renameSync(join(backup, "holdfast.db"), join(path, "holdfast.db.format-0"));
  expect((await memory.folderStats()).bytes.kept).toBe(statSync(join(path, "holdfast.db.format-0")).size);
  expect(readdirSync(path)).toContain("holdfast.db.format-0");
});

it("[Q11] stats of a folder can be stopped", async () => {
  const { memory } = await openMemoryBed();
  await expect(memory.folderStats({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  await expect(memory.folderStats({ storage: true } as object)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
