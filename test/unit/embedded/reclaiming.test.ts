import { describe, expect, it } from "vitest";
import { Reclaimer } from "../../../src/backends/embedded/reclaimer.ts";
import type { Database } from "../../../src/database/database.ts";
import { openBed, recordsOf } from "./stores.ts";

const SHAPE = { dimensions: 4, properties: { n: "int" } } as const;

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("reclaiming", () => {
  it("[G1] a partition that is deleted while the last one is reclaimed is reclaimed too", async () => {
    const { store, raw } = await openBed(SHAPE);
    const tombstones = (): unknown => raw.prepare("SELECT count(*) AS count FROM tombstones").get()?.count;
    for (let round = 0; round < 20; round += 1) {
      for (const key of ["a", "b"]) await (await store.createPartition(key)).upsert(recordsOf(2, 4));
      await store.deletePartition("a");
      // In the commit that reclaims the other: its step answers that nothing is left.
      await turns(round % 4);
      await store.deletePartition("b");
      await turns(20);
      expect(tombstones(), `round ${round}`).toBe(0);
    }
  });

  it("[G1] a deletion that is told of while a step is under way is looked for once more behind it", async () => {
    const steps: ((remains: boolean) => void)[] = [];
    const write = (): Promise<boolean> => new Promise((resolve) => steps.push(resolve));
    const reclaimer = new Reclaimer({ write } as Partial<Database> as Database);
    reclaimer.wake();
    reclaimer.wake();
    expect(steps).toHaveLength(1);
    steps[0]?.(false);
    await turns(1);
    expect(steps).toHaveLength(2);
    steps[1]?.(false);
    await turns(1);
    expect(steps).toHaveLength(2);
    await reclaimer.stop();
  });

  it("[Q11, P7] a deletion that is aborted while it erases was applied, and says so", async () => {
    const { store, raw } = await openBed(SHAPE);
    const partition = await store.createPartition("b");
    await partition.upsert(recordsOf(2_000, 4));
    const partitions = (): unknown => raw.prepare("SELECT count(*) AS count FROM partitions").get()?.count;
    const controller = new AbortController();
    const deleting = store.deletePartition("b", { erase: true, signal: controller.signal });
    const refused = expect(deleting).rejects.toMatchObject({ code: "ABORTED", outcome: "applied" });
    while (partitions() === 2) await turns(1);
    controller.abort();
    await refused;
    expect(await store.getPartition("b")).toBeUndefined();
  });
});
