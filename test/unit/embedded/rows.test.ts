import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DATABASE_FILE } from "../../../src/database/open-files.ts";
import { openStore } from "../../../src/open-store.ts";
import { openBed, recordsOf, vectorOf } from "./stores.ts";

const SHAPE = { dimensions: 4, properties: { n: "int", secret: "string" } } as const;

describe("rows", () => {
  it("[E3] every write of a record makes a row with an id that no row ever had", async () => {
    const { partition, raw } = await openBed(SHAPE);
    const row = (): number => Number(raw.prepare("SELECT row FROM records_1").get()?.row);
    const seen: number[] = [];
    const writes = [
      () => partition.upsert(recordsOf(1, 4)),
      () => partition.upsert(recordsOf(1, 4)),
      () => partition.patch("r0", { n: 5 }),
      () => partition.delete({ ids: ["r0"] }).then(() => partition.upsert(recordsOf(1, 4))),
    ];
    for (const write of writes) {
      await write();
      seen.push(row());
    }
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });

  it("[E8] a write writes the same pages in a large store as in a small one", async () => {
    const { partition, raw, path } = await openBed({ ...SHAPE, threads: "inline" });
    const frames = (): number => {
      raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return Number(raw.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.log);
    };
    const pagesOfOneWrite = async (id: string): Promise<number> => {
      frames();
      await partition.upsert([{ id, vector: [1, 2, 3, 4] }]);
      return Number(raw.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.log);
    };
    await partition.upsert(recordsOf(10, 4));
    const small = await pagesOfOneWrite("a");
    await partition.upsert(recordsOf(20_000, 4));
    const large = await pagesOfOneWrite("b");
    expect(small).toBeGreaterThan(0);
    // One inner page more where a tree has grown by a level, and a split now and then.
    expect(large).toBeLessThanOrEqual(small + 8);
    expect(path).not.toBe("");
  });

  it("[E14] what was deleted with erase is in none of the folder's bytes when the call returns", async () => {
    const { partition, path } = await openBed(SHAPE);
    const secret = "the-password-is-swordfish";
    const vector = vectorOf(1_000.5, 4);
    await partition.upsert(recordsOf(150, 4));
    await partition.upsert([{ id: "x", vector, properties: { secret } }]);
    await partition.upsert(recordsOf(150, 4, 150));
    const holds = (): readonly boolean[] => {
      const bytes = bytesOf(path);
      return [bytes.includes(secret), bytes.includes(Buffer.from(vector.buffer))];
    };
    expect(holds()).toEqual([true, true]);
    const receipt = await partition.delete({ ids: ["x"] }, { erase: true });
    expect(receipt).toMatchObject({ deleted: 1, erasure: "complete" });
    expect(holds()).toEqual([false, false]);
  });

  it("[E14, G1] a partition deleted with erase leaves no row and no byte", async () => {
    const { partition, store, raw, path } = await openBed(SHAPE);
    await partition.upsert([
      { id: "x", vector: vectorOf(77, 4), properties: { secret: "the-password-is-swordfish" } },
      ...recordsOf(1_200, 4),
    ]);
    expect(bytesOf(path).includes("swordfish")).toBe(true);
    expect(await store.deletePartition("acme", { erase: true })).toEqual({ deleted: true, erasure: "complete" });
    for (const table of ["records_1", "vectors_1", "tombstones", "partitions"]) {
      expect(raw.prepare(`SELECT count(*) AS count FROM ${table}`).get()).toEqual({ count: 0 });
    }
    expect(bytesOf(path).includes("swordfish")).toBe(false);
  });

  it("[E14, G1] each write takes a few rows of ended lives along, so that short-lived processes reclaim too", async () => {
    const { partition, store, raw } = await openBed(SHAPE);
    await partition.upsert(recordsOf(10, 4));
    const other = await store.createPartition("other");
    raw.exec(
      "INSERT INTO tombstones SELECT partition, store, incarnation, 0 FROM partitions WHERE key = 'acme'; DELETE FROM partitions WHERE key = 'acme'",
    );
    const dead = (): unknown => raw.prepare("SELECT count(*) AS count FROM records_1 WHERE partition = 1").get()?.count;
    await other.upsert(recordsOf(1, 4));
    expect(dead()).toBe(6);
    await other.upsert(recordsOf(1, 4, 1));
    await other.upsert(recordsOf(1, 4, 2));
    await other.upsert(recordsOf(1, 4, 3));
    expect(dead()).toBe(0);
    expect(raw.prepare("SELECT count(*) AS count FROM tombstones").get()).toEqual({ count: 0 });
  });

  it("[P1] a key that another handle declares later is read, filtered and kept by handles opened before", async () => {
    const { partition, path } = await openBed(SHAPE);
    await partition.upsert(recordsOf(300, 4));
    const later = await openStore({
      path,
      threads: "inline",
      name: "docs",
      dimensions: 4,
      properties: { ...SHAPE.properties, lang: "string" },
    });
    const newer = await later.getPartition("acme");
    await newer?.upsert([{ id: "r1", vector: vectorOf(1, 4), properties: { lang: "en" } }]);
    expect(await partition.query({ vector: vectorOf(1, 4), limit: 1 })).toMatchObject({
      matches: [{ id: "r1", properties: { lang: "en" } }],
      damaged: 0,
    });
    await partition.patch("r1", { n: 7 });
    expect(await newer?.get(["r1"])).toMatchObject([{ properties: { lang: "en", n: 7 } }]);
    expect(await newer?.query({ vector: vectorOf(1, 4), limit: 5, where: "lang = 'en'" })).toMatchObject({
      matches: [{ id: "r1" }],
      damaged: 0,
    });
    await later.close();
  });
});

/** The database and its log, read by a process of its own: closing a file that SQLite has open would drop its locks. */
function bytesOf(folder: string): Buffer {
  const files = [DATABASE_FILE, `${DATABASE_FILE}-wal`].map((name) => join(folder, name));
  const print = "for (const file of process.argv.slice(1)) process.stdout.write(fs.readFileSync(file))";
  return execFileSync(process.execPath, ["-e", print, ...files], { maxBuffer: 1 << 28 });
}
