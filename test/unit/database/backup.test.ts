import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { BackupProgress } from "../../../src/contract/backup.ts";
import { assertRoom } from "../../../src/database/backup.ts";
import { openConnection } from "../../../src/database/drivers/open-connection.ts";
import type { Memory } from "../../../src/memory/contract.ts";
import { openMemory } from "../../../src/open-memory.ts";
import { openStore } from "../../../src/open-store.ts";
import { restore } from "../../../src/restore.ts";
import { createHashEmbedder } from "../../doubles/hash-embedder.ts";
import { temporaryFolder } from "./connections.ts";

const INLINE = { threads: "inline" } as const;

async function open(path: string): Promise<Memory> {
  const memory = await openMemory({ path, ...INLINE, embedder: createHashEmbedder() });
  onTestFinished(() => memory.close());
  return memory;
}

/** A memory of two tenants, its backup, and a place for what is restored. */
async function bed() {
  const folder = temporaryFolder();
  const [path, backup, target] = ["memory.holdfast", "backups/monday", "restored.holdfast"].map((name) =>
    join(folder, name),
  );
  if (path === undefined || backup === undefined || target === undefined) throw new Error("three paths");
  const memory = await open(path);
  await (await memory.createSession("s")).rememberMany([
    { id: "a", text: "I moved to Lisbon" },
    { id: "b", text: "the bicycle is red" },
  ]);
  const acme = await memory.createTenant("acme");
  await (await acme.createSession("s")).remember({ id: "a", text: "a secret of acme" });
  return { folder, path, backup, target, memory };
}

describe("a backup", () => {
  it("[O2] restored is equal in every tenant, and is private to its owner", async () => {
    const { memory, backup, target } = await bed();
    const receipt = await memory.backup(backup);
    expect(receipt).toMatchObject({ path: backup, format: 1, rows: { events: 3, tenants: 2, segments: 3 } });
    expect(readdirSync(backup).sort()).toEqual(["backup.json", "holdfast.db"]);
    expect(readdirSync(dirname(backup))).toEqual(["monday"]);
    for (const [name, mode] of [
      ["", 0o700],
      ["holdfast.db", 0o600],
      ["backup.json", 0o600],
    ] as const)
      expect(statSync(join(backup, name)).mode & 0o777, name).toBe(mode);
    await (await memory.session("s")).remember({ id: "c", text: "later than the backup" });
    const restored = await restore(backup, target, INLINE);
    expect(restored).toEqual({ path: target, createdAt: receipt.createdAt, rows: receipt.rows });
    expect(readdirSync(target)).toEqual(["holdfast.db"]);
    const copy = await open(target);
    expect((await copy.list()).events.map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await copy.recall("bicycle")).hits[0]).toMatchObject({ event: "b", channels: ["vector", "text"] });
    expect((await (await copy.tenant("acme")).recall("secret")).hits[0]?.event).toBe("a");
    await (await copy.session("s")).remember({ id: "c", text: "written into what was restored" });
    expect(await copy.count()).toBe(3);
  });

  it("[O2] of a store, and of what lies in memory, is restored as well", async () => {
    const { folder } = await bed();
    const spec = { name: "docs", dimensions: 2, ...INLINE } as const;
    const store = await openStore({ inMemory: true, ...spec });
    await (await store.createPartition("p")).upsert([{ id: "x", vector: [1, 0.5] }]);
    await store.backup(join(folder, "store-backup"));
    await store.close();
    await restore(join(folder, "store-backup"), join(folder, "store"), INLINE);
    const copy = await openStore({ path: join(folder, "store"), ...spec });
    const [record] = (await (await copy.getPartition("p"))?.get(["x"], { includeVectors: true })) ?? [];
    expect(record?.vector).toEqual(new Float32Array([1, 0.5]));
    await copy.close();
  });

  it("[O2] holds nothing of what was deleted before it", async () => {
    const { memory, backup } = await bed();
    await memory.forget({ events: ["b"] });
    await memory.backup(backup);
    expect(readFileSync(join(backup, "holdfast.db")).includes("bicycle")).toBe(false);
    expect(readFileSync(join(backup, "holdfast.db")).includes("Lisbon")).toBe(true);
  });

  it("[O2] is refused before any work where it would write over something, or into the memory itself", async () => {
    const { memory, folder, path } = await bed();
    const taken = join(folder, "taken");
    writeFileSync(taken, "mine");
    mkdirSync(join(folder, "empty"));
    await expect(memory.backup(taken)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(memory.backup(join(folder, "empty"))).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(memory.backup(join(path, "inside", "deep"))).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(memory.backup(join(taken, "below"))).rejects.toMatchObject({ code: "FOREIGN_STORAGE" });
    await expect(memory.backup("")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const misspelt = { onprogress: () => undefined } as object;
    await expect(memory.backup(join(folder, "new"), misspelt)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(readFileSync(taken, "utf8")).toBe("mine");
    expect(readdirSync(folder).sort()).toEqual(["empty", "memory.holdfast", "taken"]);
    expect(readdirSync(path).some((name) => name.startsWith("inside"))).toBe(false);
  });

  it("[O2] asks for its room first", () => {
    const folder = temporaryFolder();
    expect(() => assertRoom(folder, Number.MAX_SAFE_INTEGER)).toThrow(expect.objectContaining({ code: "DISK_FULL" }));
    expect(() => assertRoom(folder, 1)).not.toThrow();
  });

  it("[O2, O6, Q11] tells how far it is, and leaves nothing when it is stopped or its listener raises", async () => {
    const { memory, folder } = await bed();
    const heard: BackupProgress[] = [];
    await memory.backup(join(folder, "heard"), { onProgress: (progress) => heard.push(progress) });
    expect(heard.map(({ phase }) => phase)).toEqual(expect.arrayContaining(["copying", "checking"]));
    for (const { done, total } of heard) expect(done).toBeLessThanOrEqual(total);
    for (const phase of ["copying", "checking"]) {
      const stop = new AbortController();
      const stopped = memory.backup(join(folder, "stopped"), {
        signal: stop.signal,
        onProgress: (progress) => progress.phase === phase && stop.abort(),
      });
      await expect(stopped).rejects.toMatchObject({ code: "ABORTED" });
      const raised = memory.backup(join(folder, "raised"), {
        onProgress: (progress) => {
          if (progress.phase === phase) throw new TypeError("mine");
        },
      });
      await expect(raised).rejects.toThrow("mine");
    }
    await expect.poll(() => readdirSync(folder).sort()).toEqual(["heard", "memory.holdfast"]);
  });

  it("[O2] of a damaged database is refused, and leaves nothing that looks whole", async () => {
    const { memory, path, folder } = await bed();
    await memory.close();
    const file = join(path, "holdfast.db");
    const raw = openConnection(file, { readOnly: true, mustExist: true });
    const page = Number(
      raw.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'event_revisions'").get()?.rootpage,
    );
    raw.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, (page - 1) * 16_384, page * 16_384);
    writeFileSync(file, bytes);
    const again = await open(path);
    await expect(again.backup(join(folder, "backup"))).rejects.toMatchObject({
      code: "DAMAGED",
      message: expect.stringContaining(file),
    });
    expect(readdirSync(folder)).toEqual(["memory.holdfast"]);
    expect(await again.count()).toBe(2);
  });
});

describe("a restore", () => {
  it("[O2] is refused, and changes nothing, when the backup is not what was made", async () => {
    const { memory, backup, target } = await bed();
    await memory.backup(backup);
    const [file, manifest] = [join(backup, "holdfast.db"), join(backup, "backup.json")];
    const [bytes, text] = [readFileSync(file), readFileSync(manifest, "utf8")];
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bytes.length - 100) ^ 1, bytes.length - 100);
    const damages: readonly [string, () => void, string][] = [
      ["a flipped bit", () => writeFileSync(file, flipped), "DAMAGED"],
      ["an end that is missing", () => truncateSync(file, bytes.length - 16_384), "DAMAGED"],
      ["something behind the end", () => appendFileSync(file, "x"), "DAMAGED"],
      ["an empty file", () => truncateSync(file, 0), "DAMAGED"],
      ["another count", () => writeFileSync(manifest, text.replace('"events": 3', '"events": 4')), "DAMAGED"],
      ["a manifest cut short", () => truncateSync(manifest, 100), "FOREIGN_STORAGE"],
      ["another kind of file", () => writeFileSync(manifest, '{"name": "package"}'), "FOREIGN_STORAGE"],
      [
        "a manifest of a newer kind",
        () => writeFileSync(manifest, text.replace('"version": 1', '"version": 2')),
        "FORMAT_TOO_NEW",
      ],
      ["an endless manifest", () => writeFileSync(manifest, " ".repeat(2_000_000)), "FOREIGN_STORAGE"],
    ];
    for (const [what, damage, code] of damages) {
      damage();
      await expect(restore(backup, target, INLINE), what).rejects.toMatchObject({ code });
      expect(existsSync(target), what).toBe(false);
      writeFileSync(file, bytes);
      writeFileSync(manifest, text);
    }
    await restore(backup, target, INLINE);
    await expect(restore(join(backup, "nowhere"), target, INLINE)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(restore(dirname(backup), target, INLINE)).rejects.toMatchObject({ code: "FOREIGN_STORAGE" });
  });

  it("[O2] is refused over a memory, over what is somebody else's, and over what is open here", async () => {
    const { memory, folder, path, backup, target } = await bed();
    await memory.backup(backup);
    const other = join(folder, "other");
    mkdirSync(other);
    writeFileSync(join(other, "notes.txt"), "mine");
    await expect(restore(backup, other, { ...INLINE, replace: true })).rejects.toMatchObject({
      code: "FOREIGN_STORAGE",
    });
    expect(readdirSync(other)).toEqual(["notes.txt"]);
    const foreign = join(folder, "foreign");
    mkdirSync(foreign);
    const database = openConnection(join(foreign, "holdfast.db"), { readOnly: false, mustExist: false });
    database.exec("CREATE TABLE people (name TEXT)");
    database.close();
    await expect(restore(backup, foreign, { ...INLINE, replace: true })).rejects.toMatchObject({
      code: "FOREIGN_STORAGE",
    });
    expect(readdirSync(foreign)).toEqual(["holdfast.db"]);
    await expect(restore(backup, path, { ...INLINE, replace: true })).rejects.toMatchObject({ code: "BUSY" });
    expect(await memory.count()).toBe(2);
    await memory.close();
    await expect(restore(backup, path, INLINE)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await expect(restore(backup, target, { ...INLINE, overwrite: true } as object)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(existsSync(target)).toBe(false);
  });

  it("[O2] with `replace` keeps what the folder held, which can be put back", async () => {
    const { memory, path, backup } = await bed();
    await memory.backup(backup);
    await (await memory.session("s")).remember({ id: "late", text: "after the backup" });
    await memory.close();
    const { kept } = await restore(backup, path, { ...INLINE, replace: true });
    if (kept === undefined) throw new Error("nothing was kept");
    expect(readdirSync(path).map((name) => join(path, name))).toEqual([join(path, "holdfast.db"), kept]);
    const restored = await open(path);
    expect(await restored.count()).toBe(2);
    await restored.close();
    const old = openConnection(kept, { readOnly: true, mustExist: true });
    expect(old.prepare("SELECT id FROM events WHERE id = 'late'").get()).toEqual({ id: "late" });
    old.close();
  });

  it("[O2] replaces what SQLite cannot open, its log with it, and keeps both", async () => {
    const { memory, path, backup } = await bed();
    await memory.backup(backup);
    await memory.close();
    const file = join(path, "holdfast.db");
    writeFileSync(file, "no database any more".repeat(1_000));
    writeFileSync(`${file}-wal`, "nor a log");
    const { kept } = await restore(backup, path, { ...INLINE, replace: true });
    expect(readFileSync(kept ?? "", "utf8")).toContain("no database");
    expect(readFileSync(`${kept}-wal`, "utf8")).toBe("nor a log");
    expect(await (await open(path)).count()).toBe(2);
  });

  it("[O2, E6] that was ended between is said so, and is done again", async () => {
    const { memory, path, backup } = await bed();
    await memory.backup(backup);
    await memory.close();
    const folder = join(dirname(path), "between.holdfast");
    mkdirSync(folder);
    writeFileSync(join(folder, "holdfast.db.before-restore-20260101T000000Z"), "what was there");
    await expect(open(folder)).rejects.toMatchObject({ code: "DAMAGED", message: expect.stringContaining("restore") });
    await expect(restore(backup, folder, INLINE)).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await restore(backup, folder, { ...INLINE, replace: true });
    expect(await (await open(folder)).count()).toBe(2);
  });

  it("[S14, O2] makes cursors from before it mean nothing", async () => {
    const { memory, path, backup } = await bed();
    await memory.backup(backup);
    const { cursor } = await memory.changes();
    expect((await memory.changes({ after: cursor })).changes).toEqual([]);
    await memory.close();
    await restore(backup, path, { ...INLINE, replace: true });
    const restored = await open(path);
    await (await restored.session("s")).remember({ id: "new", text: "as long as before" });
    await expect(restored.changes({ after: cursor })).rejects.toMatchObject({ code: "CURSOR_EXPIRED" });
    const newest = (await restored.changes()).cursor;
    expect((await restored.changes({ after: newest })).changes).toEqual([]);
  });

  it("[Q11] that is stopped leaves the folder as it was", async () => {
    const { memory, backup, target, path } = await bed();
    await memory.backup(backup);
    await memory.close();
    for (const folder of [target, path]) {
      const stop = new AbortController();
      const before = existsSync(folder) ? readdirSync(folder) : [];
      const restoring = restore(backup, folder, {
        ...INLINE,
        replace: true,
        signal: stop.signal,
        onProgress: ({ phase }) => phase === "checking" && stop.abort(),
      });
      await expect(restoring).rejects.toMatchObject({ code: "ABORTED", outcome: "not-applied" });
      expect(existsSync(folder) ? readdirSync(folder) : []).toEqual(before);
    }
    expect(await (await open(path)).count()).toBe(2);
  });
});

it("[E6] a database that was emptied beside its log is left as it is", async () => {
  const { memory, path } = await bed();
  await memory.close();
  const file = join(path, "holdfast.db");
  truncateSync(file, 0);
  writeFileSync(`${file}-wal`, "what is left");
  await expect(open(path)).rejects.toMatchObject({ code: "DAMAGED" });
  expect(readFileSync(`${file}-wal`, "utf8")).toBe("what is left");
});
