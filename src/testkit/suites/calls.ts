import assert from "node:assert/strict";
import type { CallOptions, Partition, Store } from "../../contract/store.ts";
import { fan, idsOf, refuses } from "../assertions.ts";
import type { NamedCall } from "../every-call.ts";
import { PARTITION_KEY, type TestCase } from "../test-bed.ts";

const VECTOR: readonly number[] = [1, 0, 0];

/** Signals and timeouts (Q11). */
export function callSuite(it: TestCase): void {
  it("[Q11] a call whose signal has fired is refused, and a write says that it was not applied", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    await partition.upsert(fan(3));
    const options = { signal: AbortSignal.abort() };
    for (const [name, call] of reads(store, partition, options)) {
      assert.equal((await refuses(call, "ABORTED", name)).outcome, "none", name);
    }
    for (const [name, call] of writes(store, partition, options)) {
      assert.equal((await refuses(call, "ABORTED", name)).outcome, "not-applied", name);
    }
    assert.equal(await partition.count(), 3);
    assert.equal((await store.listPartitions()).length, 1);
  });

  it("[Q11] a bound that is no number of milliseconds above 0 is refused by every call", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5"]) {
      const options = { timeoutMs: timeoutMs as number };
      for (const [name, call] of [...reads(store, partition, options), ...writes(store, partition, options)]) {
        await refuses(call, "INVALID_ARGUMENT", `${name} within ${timeoutMs}`);
      }
    }
    assert.equal(await partition.count(), 0);
  });

  it("[Q11] a signal that is none is refused by every call before anything is done", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    for (const signal of [null, "abort", {}, new EventTarget()]) {
      const options = { signal: signal as unknown as AbortSignal };
      for (const [name, call] of [...reads(store, partition, options), ...writes(store, partition, options)]) {
        await refuses(call, "INVALID_ARGUMENT", `${name} with the signal ${String(signal)}`);
      }
    }
    assert.equal(await partition.count(), 0);
    assert.equal((await store.listPartitions()).length, 1);
  });

  it("[Q11] a write that is aborted on its way is applied whole or not at all, and says which", async (bed) => {
    const partition = await bed.openPartition();
    for (let turn = 0; turn < 16; turn += 1) {
      const controller = new AbortController();
      const records = fan(8_000, 3, `t${turn}_`);
      const writing = partition.upsert(records, { signal: controller.signal });
      // From before the call is on its way to long after it: twice as far each time.
      for (let step = 1; step < 2 ** turn; step += 1) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      const outcome = await writing.then(
        () => "answered",
        (error: { readonly outcome: string }) => error.outcome,
      );
      // Counted by looking each of them up: a counter could be right beside rows that are wrong.
      const found = await partition.get(idsOf(records));
      const added = found.filter((record) => record !== undefined).length;
      const expected = { answered: [8_000], applied: [8_000], "not-applied": [0], unknown: [0, 8_000] }[outcome] ?? [];
      assert.ok(expected.includes(added), `${outcome}, and ${added} records came`);
    }
  });

  it("[Q11] calls within generous bounds answer as without", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    const options = { signal: new AbortController().signal, timeoutMs: 60_000 };
    for (const [, call] of [...writes(store, partition, options), ...reads(store, partition, options)]) await call();
    assert.equal(await partition.count(), 1);
  });
}

function reads(store: Store, partition: Partition, options: CallOptions): readonly NamedCall[] {
  const ids = Array.from({ length: 200 }, (_, index) => `x${index}`);
  return [
    ["get", () => partition.get(["r0"], options)],
    ["get of many", () => partition.get(ids, options)],
    ["count", () => partition.count(options)],
    ["scan", () => partition.scan(options).next()],
    ["query", () => partition.query({ vector: VECTOR, ...options })],
    ["queryMany", () => partition.queryMany({ vectors: [VECTOR], ...options })],
    ["score", () => partition.score(VECTOR, ["r0"], options)],
    ["getPartition", () => store.getPartition("main", options)],
    ["listPartitions", () => store.listPartitions(options)],
  ];
}

function writes(store: Store, partition: Partition, options: CallOptions): readonly NamedCall[] {
  return [
    ["upsert", () => partition.upsert([{ id: "x", vector: VECTOR }], options)],
    ["patch", () => partition.patch("r0", { n: 1 }, options)],
    ["delete by ids", () => partition.delete({ ids: ["r0"] }, options)],
    ["delete by filter", () => partition.delete({ where: "n = 1" }, options)],
    ["createPartition", () => store.createPartition("other", options)],
    ["deletePartition", () => store.deletePartition("other", options)],
  ];
}
