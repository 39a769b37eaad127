import { describe, expect, it } from "vitest";
import { openStore } from "../../../src/open-store.ts";
import { toBatch } from "../../../src/store/batch.ts";

const SHAPE = { dimensions: 2, properties: { text: "string" } } as const;
const MIB = 1024 * 1024;

function sizeOf(records: readonly unknown[]): number {
  return toBatch(records as Parameters<typeof toBatch>[0], SHAPE).sizeBytes;
}

describe("texts of writes that wait", () => {
  it("[E7] count against the bound of the queue, in batches and in patches", async () => {
    const store = await openStore({ inMemory: true, name: "docs", ...SHAPE });
    const partition = await store.createPartition("a");
    await partition.upsert([{ id: "patched", vector: [1, 1] }]);
    const text = "x".repeat(4 * MIB);
    for (const write of [
      (id: string) => partition.upsert([{ id, vector: [1, 1], properties: { text } }]),
      () => partition.patch("patched", { text }),
    ]) {
      const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => write(`r${index}`)));
      const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
      expect(refused.length).toBeGreaterThanOrEqual(4);
      expect(refused.length).toBeLessThan(12);
      for (const error of refused) expect(error).toMatchObject({ code: "BUSY", outcome: "not-applied" });
    }
    await partition.patch("patched", { text });
    await store.close();
  });

  it("[E7] are measured in large batches by every so many-th record, and whatever stands in place of one", () => {
    const record = (text: unknown) => ({ id: "a", vector: [1, 1], properties: { text } });
    const bare = sizeOf([record(undefined)]);
    expect(sizeOf([record("abc")])).toBe(bare + 6);
    const many = Array.from({ length: 100_000 }, () => record("abc"));
    expect(sizeOf(many)).toBe(100_000 * (bare + 6));
    for (const other of [null, undefined, 5, "x", {}, { properties: null }, { properties: 5 }])
      expect(sizeOf([other])).toBe(bare);
  });
});
