import assert from "node:assert/strict";
import { direction, fan, idsOf, only, refuses, scanned } from "../assertions.ts";
import { everyPartitionCall } from "../every-call.ts";
import type { TestCase } from "../test-bed.ts";

/** Stores, partitions and their lives (P1–P3, P7–P10, P12, G1). */
export function liveSuite(it: TestCase): void {
  creation(it);
  deletion(it);
  isolation(it);
}

function creation(it: TestCase): void {
  it("[P1] a store's dimensions and the types of its keys are fixed when it is made", async (bed) => {
    const first = await bed.open({ dimensions: 3, properties: { n: "int" } });
    const partition = await first.createPartition("main");
    await partition.upsert([{ id: "a", vector: [1, 0, 0], properties: { n: 1 } }]);
    if (!first.capabilities.durable) {
      const other = await bed.open({ dimensions: 4, properties: { n: "string" } });
      assert.deepEqual([other.dimensions, other.properties], [4, { n: "string" }]);
      return;
    }
    await refuses(() => bed.open({ dimensions: 4, properties: { n: "int" } }), "STORE_MISMATCH");
    for (const kind of ["string", "float", "bool", "datetime"] as const) {
      await refuses(() => bed.open({ properties: { n: kind } }), "PARTITION_SCHEMA_MISMATCH", kind);
    }
    assert.equal(await partition.count({ where: "n = 1" }), 1);
  });

  it("[P1] what is no count of dimensions, or no type, is refused", async (bed) => {
    for (const dimensions of [0, -1, 1.5, Number.NaN, 1e9, "3", undefined]) {
      await refuses(() => bed.open({ dimensions: dimensions as number }), "INVALID_ARGUMENT", String(dimensions));
    }
    for (const kind of ["text", "integer", "", null, undefined, 1, {}]) {
      await refuses(() => bed.open({ properties: { n: kind as "int" } }), "INVALID_ARGUMENT", String(kind));
    }
  });

  it("[P2, P3] creation is strict, and getting answers a handle or undefined", async (bed) => {
    const store = await bed.open();
    assert.equal(await store.getPartition("main"), undefined);
    const created = await store.createPartition("main");
    await refuses(store.createPartition("main"), "PARTITION_ALREADY_EXISTS");
    const found = await store.getPartition("main");
    assert.deepEqual([found?.key, found?.incarnation], ["main", created.incarnation]);
    assert.match(created.incarnation, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it("[P2] of racing creations one wins and the others are told", async (bed) => {
    const store = await bed.open();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => store.createPartition("main")));
    const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
    assert.equal(won.length, 1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") await refuses(Promise.reject(outcome.reason), "PARTITION_ALREADY_EXISTS");
    }
    assert.equal((await store.listPartitions()).length, 1);
  });

  it("[P12] a store that is opened many times at once is made once", async (bed) => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => bed.open({ properties: { n: "int" } })));
    const [first] = stores;
    await first?.createPartition("main");
    const seen = await Promise.all(stores.map(async (store) => (await store.listPartitions()).length));
    const durable = first?.capabilities.durable === true;
    assert.deepEqual(seen, durable ? [1, 1, 1, 1, 1] : [1, 0, 0, 0, 0]);
  });
}

function deletion(it: TestCase): void {
  it("[P7] deletion is idempotent, and the partition is unreachable when it returns", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    await partition.upsert(fan(5));
    assert.equal((await store.deletePartition("main")).deleted, true);
    assert.equal((await store.deletePartition("main")).deleted, false);
    assert.equal((await store.deletePartition("never")).deleted, false);
    assert.equal(await store.getPartition("main"), undefined);
    assert.deepEqual(await store.listPartitions(), []);
  });

  it("[P8, V15, Q4] every call on a handle of an ended life raises, those with nothing to do as well", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const stale = await store.createPartition("main");
    await stale.upsert(fan(300));
    await stale.query({ vector: [1, 0, 0] });
    await store.deletePartition("main");
    for (const [name, call] of everyPartitionCall(stale)) await refuses(call, "PARTITION_STALE", name);
    const next = await store.createPartition("main");
    for (const [name, call] of everyPartitionCall(stale))
      await refuses(call, "PARTITION_STALE", `${name}, created again`);
    assert.equal(await next.count(), 0, "a stale write writes nothing");
  });

  it("[P9] a partition created again starts empty and has an incarnation of its own", async (bed) => {
    const store = await bed.open();
    const incarnations = new Set<string>();
    for (let life = 0; life < 5; life += 1) {
      const partition = await store.createPartition("main");
      incarnations.add(partition.incarnation);
      assert.equal(await partition.count(), 0);
      assert.deepEqual(await scanned(partition), []);
      assert.deepEqual((await partition.query({ vector: direction(0, 9), limit: 1_000 })).matches, []);
      assert.deepEqual(await partition.get(["r0"]), [undefined]);
      assert.equal((await partition.delete({ ids: ["r0"] })).deleted, 0);
      const { inserted } = await partition.upsert(fan(300));
      assert.equal(inserted, 300);
      await store.deletePartition("main");
    }
    assert.equal(incarnations.size, 5);
  });

  it("[G1] after an erasing deletion the storage says that it is gone, or when it will be", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    await partition.upsert(fan(400));
    if (!store.capabilities.erase) {
      await refuses(store.deletePartition("main", { erase: true }), "INVALID_ARGUMENT");
      return;
    }
    const { deleted, erasure } = await store.deletePartition("main", { erase: true });
    assert.equal(deleted, true);
    assert.match(erasure ?? "", /^(complete|pending)$/);
    assert.equal(await store.createPartition("main").then((next) => next.count()), 0);
  });
}

function isolation(it: TestCase): void {
  it("[P10] records of one id in two partitions are two records; no call crosses", async (bed) => {
    const store = await bed.open({ properties: { owner: "string" } });
    const [one, two] = [await store.createPartition("one"), await store.createPartition("two")];
    const records = fan(300);
    await one.upsert(records.map((record) => ({ ...record, properties: { owner: "one" } })));
    await two.upsert([{ id: "r0", vector: [0, 0, 1], properties: { owner: "two" } }]);
    assert.deepEqual(
      (await two.get(["r0", "r1"])).map((record) => record?.properties.owner),
      ["two", undefined],
    );
    assert.equal(only((await two.query({ vector: [1, 0, 0], limit: 100 })).matches).properties.owner, "two");
    assert.equal(await two.count({ where: { owner: "one" } }), 0);
    assert.deepEqual(idsOf(await scanned(two)), ["r0"]);
    assert.equal(await two.patch("r1", { owner: "two" }), undefined);
    assert.equal((await two.delete({ ids: ["r0", "r1", "r2"] })).deleted, 1);
    assert.equal((await two.delete({ where: { owner: "one" } })).deleted, 0);
    assert.deepEqual(await two.score([1, 0, 0], ["r1"]), [undefined]);
    assert.equal(await one.count({ where: { owner: "one" } }), 300);
    await store.deletePartition("two");
    assert.equal(await one.count(), 300);
    assert.equal((await one.query({ vector: [1, 0, 0], limit: 1_000 })).matches.length, 300);
  });

  it("[P11] stores of one place do not meet", async (bed) => {
    const [left, right] = [await bed.open({ name: "left" }), await bed.open({ name: "right", dimensions: 5 })];
    const ofLeft = await left.createPartition("main");
    const ofRight = await right.createPartition("main");
    assert.notEqual(ofLeft.incarnation, ofRight.incarnation);
    await ofLeft.upsert(fan(5));
    await ofRight.upsert(fan(3, 5));
    assert.deepEqual([await ofLeft.count(), await ofRight.count()], [5, 3]);
    await left.deletePartition("main");
    assert.equal(await ofRight.count(), 3);
    await left.close();
    assert.equal(await ofRight.count(), 3);
  });

  it("[P3] the list names each partition with its life, its records and its position", async (bed) => {
    const store = await bed.open();
    const receipts = new Map<string, number>();
    for (const [index, key] of ["b", "a", "c"].entries()) {
      const partition = await store.createPartition(key);
      if (index > 0) receipts.set(key, (await partition.upsert(fan(index))).position);
    }
    const list = await store.listPartitions();
    assert.deepEqual(
      list.map(({ key, records }) => [key, records]),
      [
        ["a", 1],
        ["b", 0],
        ["c", 2],
      ],
    );
    for (const { key, incarnation, position } of list) {
      assert.equal(incarnation, (await store.getPartition(key))?.incarnation);
      if (receipts.has(key)) assert.equal(position, receipts.get(key));
    }
  });
}
