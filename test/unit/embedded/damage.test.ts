import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/open-store.ts";
import { openBed, recordsOf, vectorOf } from "./stores.ts";

const SHAPE = { dimensions: 8, properties: { n: "int" } } as const;

// One size on each side of what is kept in memory.
describe.each([20, 400])("a damaged row among %i", (count) => {
  async function damagedBed(sql: string) {
    const bed = await openBed(SHAPE);
    await bed.partition.upsert(recordsOf(count, 8));
    bed.raw.exec(sql);
    return bed;
  }

  async function nearest(bed: Awaited<ReturnType<typeof damagedBed>>, number: number) {
    return bed.partition.query({ vector: vectorOf(number, 8), limit: 1 });
  }

  it("[E11] with another vector is never answered, is counted, and the others go on", async () => {
    const bed = await damagedBed(
      "UPDATE vectors_1 SET vector = (SELECT vector FROM vectors_1 WHERE row = 3) WHERE row = 8",
    );
    const { matches, damaged } = await nearest(bed, 7);
    expect(matches[0]?.id).not.toBe("r7");
    expect(damaged).toBe(1);
    expect((await nearest(bed, 2)).matches).toMatchObject([{ id: "r2" }]);
    expect((await nearest(bed, count - 1)).matches).toMatchObject([{ id: `r${count - 1}` }]);
  });

  it.each([
    ["a property changed", "UPDATE records_1 SET p_n = 99 WHERE row = 8"],
    ["its id changed", "UPDATE records_1 SET id = 'other' WHERE row = 8"],
    ["its vector gone", "DELETE FROM vectors_1 WHERE row = 8"],
    ["its vector short", "UPDATE vectors_1 SET vector = x'0000803f' WHERE row = 8"],
  ])("[E11] with %s is never answered", async (_, sql) => {
    const bed = await damagedBed(sql);
    const answer = await bed.partition.query({ vector: vectorOf(7, 8), limit: count });
    expect(answer.matches.map(({ id }) => id)).not.toContain("r7");
    expect(answer.matches.map(({ id }) => id)).not.toContain("other");
    expect(answer.matches).toHaveLength(count - 1);
    expect(answer.damaged).toBe(1);
  });

  it("[E11] that is gone with its vector is noticed by the partition's sum", async () => {
    const bed = await damagedBed("DELETE FROM vectors_1 WHERE row = 8; DELETE FROM records_1 WHERE row = 8");
    expect((await nearest(bed, 7)).damaged).toBeGreaterThan(0);
  });

  it("[E11] raises when it is asked for by id, and a scan counts it", async () => {
    const bed = await damagedBed("UPDATE records_1 SET p_n = 99 WHERE row = 8");
    await expect(bed.partition.get(["r7"])).rejects.toMatchObject({ code: "DAMAGED", details: { id: "r7" } });
    const seen: string[] = [];
    let damaged = 0;
    for await (const page of bed.partition.scan({ pageSize: 6 })) {
      seen.push(...page.records.map(({ id }) => id));
      damaged += page.damaged;
    }
    expect(seen).toHaveLength(count - 1);
    expect(damaged).toBe(1);
  });

  it("[E11] that was whole when it was loaded is left out when it is fetched, and the search goes on", async () => {
    const bed = await openBed(SHAPE);
    await bed.partition.upsert(recordsOf(count, 8));
    expect((await nearest(bed, 7)).matches).toMatchObject([{ id: "r7" }]);
    bed.raw.exec("UPDATE records_1 SET p_n = 99 WHERE row = 8");
    const answer = await bed.partition.query({ vector: vectorOf(7, 8), limit: 3 });
    expect(answer.matches).toHaveLength(3);
    expect(answer.matches.map(({ id }) => id)).not.toContain("r7");
    expect(answer.damaged).toBe(1);
  });

  it("[E11] that is written anew is whole again", async () => {
    const bed = await damagedBed("UPDATE records_1 SET p_n = 99 WHERE row = 8");
    await bed.partition.upsert(recordsOf(1, 8, 7));
    expect(await nearest(bed, 7)).toMatchObject({ matches: [{ id: "r7" }], damaged: 0 });
  });
});

describe("a damaged row of a store", () => {
  it.each(["[[", "[]]", '[["n","imt"]]', '[["n"]]', "{}", "null"])(
    "[E11] that declares %s is DAMAGED for every call and for an open",
    async (properties) => {
      const { partition, raw, path } = await openBed(SHAPE);
      await partition.upsert(recordsOf(3, 8));
      raw.prepare("UPDATE stores SET properties = ?").run(properties);
      const calls: readonly (() => Promise<unknown>)[] = [
        () => partition.query({ vector: vectorOf(1, 8) }),
        () => partition.get(["r1"]),
        () => partition.upsert(recordsOf(1, 8)),
        () => openStore({ path, threads: "inline", name: "docs", ...SHAPE }),
      ];
      for (const call of calls) await expect(call(), String(call)).rejects.toMatchObject({ code: "DAMAGED" });
    },
  );
});
