import { describe, expect, it } from "vitest";
import type { CallOptions } from "../../../src/contract/store.ts";
import { HoldfastError } from "../../../src/errors/index.ts";
import type { BackendPartition, BackendRecord } from "../../../src/store/backend.ts";
import { PartitionHandle } from "../../../src/store/partition.ts";

const FORM = {
  dimensions: 2,
  properties: {},
  filterSchema: { declared: {}, userKeys: false, filterNodes: [] },
  int64: "number" as const,
};

/** A partition whose backend has every even number as a record. */
function open() {
  const asked: { readonly ids: readonly string[]; readonly options: CallOptions }[] = [];
  const get: BackendPartition["get"] = async (ids, _includeVectors, options) => {
    asked.push({ ids, options });
    const answer = ids.map((id): BackendRecord | undefined =>
      Number(id) % 2 === 0 ? { id, values: [], vector: undefined } : undefined,
    );
    return { schema: {}, answer };
  };
  const backend = { get, assertLive: () => 1 } as Partial<BackendPartition> as BackendPartition;
  return { partition: new PartitionHandle(backend, FORM), asked };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe("get of many ids", () => {
  it("[E7] is read in pages of 1,000, so that no answer holds the calling thread for long", async () => {
    const { partition, asked } = open();
    const ids = numbers(2_500);
    const records = await partition.get(ids);
    expect(asked.map((page) => page.ids.length)).toEqual([1_000, 1_000, 500]);
    expect(records.map((record) => record?.id)).toEqual(ids.map((id) => (Number(id) % 2 === 0 ? id : undefined)));
  });

  it("[Q11] gives the pages of one call one deadline", async () => {
    const { partition, asked } = open();
    await partition.get(numbers(3_000), { timeoutMs: 60_000 });
    const signals = new Set(asked.map(({ options }) => options.signal));
    expect(signals.size).toBe(1);
    expect(signals.has(undefined)).toBe(false);
    expect(asked.map(({ options }) => options.timeoutMs)).toEqual([undefined, undefined, undefined]);
  });

  it("[V16] counts ids of a dry run in pages too, each once", async () => {
    const { partition, asked } = open();
    const ids = numbers(1_500);
    expect(await partition.delete({ ids: [...ids, ...ids] }, { dryRun: true })).toEqual({ deleted: 750, position: 1 });
    expect(asked.map((page) => page.ids.length)).toEqual([1_000, 500]);
  });

  it("[P8] of no ids still checks that the handle is live", async () => {
    const get: BackendPartition["get"] = async () => ({ schema: {}, answer: [] });
    const assertLive = (): number => {
      throw new HoldfastError("PARTITION_STALE", "gone");
    };
    const backend = { get, assertLive } as Partial<BackendPartition> as BackendPartition;
    await expect(new PartitionHandle(backend, FORM).get([])).rejects.toMatchObject({ code: "PARTITION_STALE" });
  });
});
