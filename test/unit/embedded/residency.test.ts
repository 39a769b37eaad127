import { describe, expect, it } from "vitest";
import { PartitionCache, partitionCache } from "../../../src/backends/embedded/partition-cache.ts";
import { REMOVALS_KEPT } from "../../../src/backends/embedded/removals.ts";
import { searchPartition } from "../../../src/backends/embedded/search.ts";
import type { Partition } from "../../../src/contract/store.ts";
import type { ReadView } from "../../../src/database/operation.ts";
import { neverCancelled } from "../../../src/io/cancellation.ts";
import { findLife, type Life } from "../../../src/registry/lives.ts";
import { settingsFor } from "../database/connections.ts";
import { openBed, recordsOf, vectorOf } from "./stores.ts";

const DIMENSIONS = 64;
const SHAPE = { dimensions: DIMENSIONS, properties: { n: "int" } } as const;

async function idsNear(partition: Partition<{ n: "int" }>, number: number, where?: string): Promise<readonly string[]> {
  const { matches, damaged } = await partition.query({
    vector: vectorOf(number, DIMENSIONS),
    limit: 3,
    ...(where && { where }),
  });
  expect(damaged).toBe(0);
  return matches.map(({ id }) => id);
}

describe("residency", () => {
  it("[E9] a partition larger than the budget is answered the same, streamed in blocks", async () => {
    const streamed = await openBed({ ...SHAPE, memoryBudgetBytes: 1024 * 1024 });
    const resident = await openBed(SHAPE);
    const records = recordsOf(20_000, DIMENSIONS);
    await streamed.partition.upsert(records);
    await resident.partition.upsert(records);
    for (const number of [0, 4_000, 19_999]) {
      for (const where of ["", "n >= 15000", "NOT (n < 100 OR n = 4000)"]) {
        const request = { vector: vectorOf(number, DIMENSIONS), limit: 20, where };
        expect((await streamed.partition.query(request)).matches).toEqual(
          (await resident.partition.query(request)).matches,
        );
      }
    }
  });

  it("[E9, Q8] partitions that take turns in a small budget answer their own records", async () => {
    const { store } = await openBed({ ...SHAPE, memoryBudgetBytes: 6 * 1024 * 1024 });
    const partitions = await Promise.all(["a", "b", "c"].map((key) => store.createPartition(key)));
    for (const [index, partition] of partitions.entries())
      await partition.upsert(recordsOf(3_000, DIMENSIONS, index * 3_000));
    for (let round = 0; round < 3; round += 1) {
      for (const [index, partition] of partitions.entries()) {
        expect((await idsNear(partition, index * 3_000 + 17))[0]).toBe(`r${index * 3_000 + 17}`);
      }
    }
  });

  it("[E9] of partitions that take turns those used longest ago leave memory, and a larger one never enters it", async () => {
    const { store, raw } = await openBed(SHAPE);
    const budget = { ...settingsFor(":memory:"), memoryBudgetBytes: 3 * 1024 * 1024 };
    const cache = new PartitionCache(budget);
    const view: ReadView = {
      connection: raw,
      cancellation: neverCancelled,
      resource: (factory) => (factory === partitionCache ? cache : factory(budget)) as never,
    };
    const lives: Life[] = [];
    for (const [key, count] of [
      ["a", 2_000],
      ["b", 2_000],
      ["larger", 20_000],
    ] as const) {
      const partition = await store.createPartition(key);
      await partition.upsert(recordsOf(count, DIMENSIONS));
      const life = findLife(raw, 1, key);
      if (life !== undefined) lives.push(life);
    }
    const held = (): readonly boolean[] => lives.map((life) => cache.holds(life));
    const heldBehind = lives.map((life) => {
      const search = { vectors: vectorOf(17, DIMENSIONS), count: 1, limit: 1, minCosineSimilarity: -1 };
      expect(searchPartition(view, life, search)[0]?.hits[0]?.id).toBe("r17");
      return held();
    });
    expect(heldBehind).toEqual([
      [true, false, false],
      [false, true, false],
      [false, true, false],
    ]);
  });

  it("[Q8, E5] what others commit is followed: new rows, new versions and removals, filters on them", async () => {
    const { partition } = await openBed(SHAPE);
    await partition.upsert(recordsOf(2_000, DIMENSIONS));
    expect((await idsNear(partition, 5))[0]).toBe("r5");
    await partition.delete({ ids: ["r5"] });
    expect(await idsNear(partition, 5)).not.toContain("r5");
    await partition.upsert(recordsOf(1, DIMENSIONS, 5));
    expect((await idsNear(partition, 5))[0]).toBe("r5");
    await partition.patch("r5", { n: -1 });
    expect(await idsNear(partition, 5, "n = -1")).toEqual(["r5"]);
    expect(await idsNear(partition, 5, "n = 5")).toEqual([]);
  });

  it("[Q8] a partition of which most was removed is loaded anew and answers the rest", async () => {
    const { partition } = await openBed(SHAPE);
    await partition.upsert(recordsOf(4_000, DIMENSIONS));
    await idsNear(partition, 1);
    await partition.delete({ where: "n < 3000" });
    expect((await idsNear(partition, 3_500))[0]).toBe("r3500");
    await partition.upsert(recordsOf(1, DIMENSIONS, 9_000));
    expect((await idsNear(partition, 9_000))[0]).toBe("r9000");
    expect(await idsNear(partition, 1)).not.toContain("r1");
  });

  it("[Q8, E5] a follower that is further behind than removals are kept loads anew", async () => {
    const { partition, store, raw } = await openBed({ dimensions: 2, properties: { n: "int" } });
    const other = await store.createPartition("other");
    const many = Array.from({ length: REMOVALS_KEPT + 2_000 }, (_, index) => ({ id: `m${index}`, vector: [1, index] }));
    await partition.upsert(recordsOf(400, 2));
    expect((await partition.query({ vector: [1, 0], limit: 400 })).matches).toHaveLength(400);
    await partition.delete({ ids: ["r1", "r2"] });
    await other.upsert(many);
    await other.delete({ ids: many.map(({ id }) => id) });
    await other.upsert(many.slice(0, 3_000));
    await other.delete({ ids: many.slice(0, 3_000).map(({ id }) => id) });
    expect(Number(raw.prepare("SELECT count(*) AS count FROM removals_1").get()?.count)).toBeLessThanOrEqual(
      REMOVALS_KEPT,
    );
    expect(Number(raw.prepare("SELECT removals_floor AS floor FROM partitions WHERE key = 'acme'").get()?.floor)).toBe(
      2,
    );
    const { matches, damaged } = await partition.query({ vector: [1, 0], limit: 400 });
    expect([matches.length, damaged]).toEqual([398, 0]);
  });
});
