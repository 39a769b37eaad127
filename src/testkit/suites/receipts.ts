import assert from "node:assert/strict";
import { fan, idsOf, refuses } from "../assertions.ts";
import type { TestCase } from "../test-bed.ts";

const key = { idempotencyKey: "try-1" };

/** Calls that name an idempotency key (V17). */
export function receiptSuite(it: TestCase): void {
  it("[V17] a repeated upsert answers the first receipt and writes nothing; another input is refused", async (bed) => {
    const partition = await (await bed.open({ properties: { n: "int", at: "datetime", s: "string" } })).createPartition(
      "main",
    );
    const records = [
      { id: "a", vector: [1, 0, 0], properties: { n: 2n ** 60n, at: "2026-05-01T12:00:00+02:00" } },
      { id: "b", vector: [0, 1, 0] },
    ];
    const first = await partition.upsert(records, key);
    await partition.delete({ ids: ["a"] });
    const same = [
      {
        id: "a",
        vector: Float32Array.of(1, 0, 0),
        properties: { s: null, at: new Date("2026-05-01T10:00:00Z"), n: 2n ** 60n },
      },
      { id: "b", vector: [0, 1, -0], properties: undefined },
    ];
    assert.deepEqual(await partition.upsert(records, key), first);
    assert.deepEqual(await partition.get(["a"]), [undefined]);
    assert.deepEqual(
      await partition.upsert([same[0] as (typeof records)[0], records[1] as (typeof records)[0]], key),
      first,
    );
    for (const other of [
      records.slice(0, 1),
      [...records].reverse(),
      [{ id: "a", vector: [1, 0, 0] }, records[1] as (typeof records)[0]],
      [records[0] as (typeof records)[0], { id: "b", vector: [0, 1, 0.5] }],
      [records[0] as (typeof records)[0], { id: "b", vector: [0, 1, 0], properties: { s: "" } }],
    ])
      await refuses(partition.upsert(other, key), "IDEMPOTENCY_CONFLICT");
    await refuses(partition.delete({ ids: ["a"] }, key), "IDEMPOTENCY_CONFLICT");
    assert.equal(await partition.count(), 1);
  });

  it("[V17] a repeated patch and a repeated deletion do their work once", async (bed) => {
    const partition = await (await bed.open({ properties: { n: "int" } })).createPartition("main");
    await partition.upsert(fan(4).map((record, index) => ({ ...record, properties: { n: index } })));
    const [id = ""] = idsOf((await partition.scan().next()).value.records);
    const patched = await partition.patch(id, { n: 7 }, { idempotencyKey: "patch" });
    await partition.patch(id, { n: 8 });
    assert.deepEqual(await partition.patch(id, { n: 7 }, { idempotencyKey: "patch" }), patched);
    assert.equal((await partition.get([id]))[0]?.properties.n, 8);
    await refuses(partition.patch(id, { n: null }, { idempotencyKey: "patch" }), "IDEMPOTENCY_CONFLICT");
    assert.equal(await partition.patch("unknown", { n: 1 }, { idempotencyKey: "none" }), undefined);
    assert.equal(await partition.patch("unknown", { n: 1 }, { idempotencyKey: "none" }), undefined);
    const gone = await partition.delete({ where: "n < 3" }, { idempotencyKey: "where" });
    await partition.upsert([{ id: "late", vector: [1, 0, 0], properties: { n: 0 } }]);
    assert.deepEqual(await partition.delete({ where: "n < 3" }, { idempotencyKey: "where" }), gone);
    await refuses(partition.delete({ where: "n < 4" }, { idempotencyKey: "where" }), "IDEMPOTENCY_CONFLICT");
    const dropped = await partition.delete({ ids: ["late"] }, { idempotencyKey: "ids" });
    assert.equal(dropped.deleted, 1);
    assert.deepEqual(await partition.delete({ ids: ["late"] }, { idempotencyKey: "ids" }), dropped);
  });

  it("[V17, P2, P7, P8] a repeated creation answers the same life, a repeated deletion spares the next one", async (bed) => {
    const store = await bed.open();
    const first = await store.createPartition("main", key);
    assert.equal((await store.createPartition("main", key)).incarnation, first.incarnation);
    await refuses(store.createPartition("main"), "PARTITION_ALREADY_EXISTS");
    await refuses(store.createPartition("other", key), "IDEMPOTENCY_CONFLICT");
    await first.upsert(fan(3), key);
    assert.deepEqual(await store.deletePartition("main", { idempotencyKey: "drop" }), { deleted: true });
    await refuses(first.upsert(fan(3), key), "PARTITION_STALE");
    const next = await store.createPartition("main");
    assert.deepEqual(await store.deletePartition("main", { idempotencyKey: "drop" }), { deleted: true });
    assert.equal((await next.upsert(fan(2), key)).inserted, 2);
  });

  it("[V17, V18] of racing upserts with one key the work is done once", async (bed) => {
    const partition = await (await bed.open()).createPartition("main");
    const receipts = await Promise.all(Array.from({ length: 10 }, () => partition.upsert(fan(5), key)));
    for (const receipt of receipts) assert.deepEqual(receipt, receipts[0]);
    assert.equal(receipts[0]?.inserted, 5);
  });

  it("[V17] a receipt outlives the handle", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    const first = await partition.upsert(fan(3), key);
    if (!store.capabilities.durable) return;
    await store.close();
    const again = await (await bed.open()).getPartition("main");
    assert.deepEqual(await again?.upsert(fan(3), key), first);
  });
}
