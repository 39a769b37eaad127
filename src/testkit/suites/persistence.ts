import assert from "node:assert/strict";
import type { Store } from "../../contract/store.ts";
import { assertOwnNearest, fan, idsOf, refuses, scanned } from "../assertions.ts";
import type { StoreSpec, TestCase } from "../test-bed.ts";

const SPEC: Partial<StoreSpec> = { properties: { s: "string", n: "int", f: "float", b: "bool", d: "datetime" } };

/** What is there when a store is opened again (V13, P1, P9). */
export function persistenceSuite(it: TestCase): void {
  it("[V13] a store that is opened again has everything, or starts empty where nothing is kept", async (bed) => {
    const store = await bed.open(SPEC);
    const partition = await store.createPartition("main");
    const values = { s: "nul\0 and 😀", n: 2n ** 63n - 1n, f: 0.1 + 0.2, b: false, d: "2024-02-29T23:59:59.123456Z" };
    await partition.upsert(
      fan(300).map((record, index) => ({ ...record, ...(index === 7 && { properties: values }) })),
    );
    await partition.delete({ ids: ["r1"] });
    await partition.patch("r2", { s: "patched" });
    const before = await everything(store);
    const { durable } = store.capabilities;
    await store.close();
    const again = await bed.open(SPEC);
    const after = await everything(again);
    assert.deepEqual(after, durable ? before : { partitions: [], records: [], matches: [] });
    if (!durable) return;
    const reopened = await again.getPartition("main");
    assert.equal(reopened?.incarnation, partition.incarnation);
    if (reopened !== undefined)
      await assertOwnNearest(
        reopened,
        fan(300).filter(({ id }) => id !== "r1"),
      );
  });

  it("[V13, P9] what was deleted stays deleted, and an ended life stays ended", async (bed) => {
    const store = await bed.open();
    const gone = await store.createPartition("gone");
    await gone.upsert(fan(10));
    await store.deletePartition("gone");
    const kept = await store.createPartition("kept");
    await kept.upsert(fan(10));
    await kept.delete({ ids: ["r3"] });
    const { durable } = store.capabilities;
    await store.close();
    const again = await bed.open();
    assert.equal(await again.getPartition("gone"), undefined);
    const reopened = await again.getPartition("kept");
    assert.equal(reopened === undefined, !durable);
    assert.equal(await again.createPartition("gone").then((partition) => partition.count()), 0);
    if (reopened === undefined) return;
    assert.deepEqual(await reopened.get(["r3"]), [undefined]);
    assert.equal(idsOf((await reopened.query({ vector: [1, 0, 0], limit: 100 })).matches).includes("r3"), false);
    await refuses(kept.count(), "CLOSED");
  });

  it("[P1] keys can be declared later; records written before have no value there", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition("main");
    await partition.upsert(fan(300).map((record, n) => ({ ...record, properties: { n } })));
    const { durable } = store.capabilities;
    await store.close();
    const again = await bed.open({ properties: { lang: "string" } });
    assert.equal(again.properties.lang, "string");
    if (!durable) {
      assert.deepEqual(again.properties, { lang: "string" });
      return;
    }
    assert.deepEqual(again.properties, { n: "int", lang: "string" });
    const reopened = await again.getPartition("main");
    assert.equal(await reopened?.count({ where: "lang IS NULL AND n >= 0" }), 300);
    await reopened?.upsert([{ id: "new", vector: [1, 0, 0], properties: { lang: "pt", n: -1 } }]);
    assert.deepEqual(idsOf((await reopened?.query({ vector: [1, 0, 0], where: { lang: "pt" } }))?.matches ?? []), [
      "new",
    ]);
    assert.equal(
      (await reopened?.query({ vector: [1, 0, 0], where: "lang IS NULL", limit: 1_000 }))?.matches.length,
      300,
    );
  });

  it("[P1] a handle that was open before a key was declared goes on, and a later one sees its records", async (bed) => {
    const old = await bed.open({ properties: { n: "int" } });
    const partition = await old.createPartition("main");
    await partition.upsert(fan(280).map((record, n) => ({ ...record, properties: { n } })));
    const newer = await bed.open({ properties: { n: "int", lang: "string" } });
    if (!old.capabilities.durable) {
      assert.deepEqual(await newer.listPartitions(), []);
      return;
    }
    const later = await newer.getPartition("main");
    await later?.upsert([{ id: "new", vector: [0, 0, 1], properties: { lang: "pt", n: 5 } }]);
    await partition.upsert([{ id: "old", vector: [0, 0, 1], properties: { n: 6 } }]);
    assert.equal(await partition.count(), 282);
    assert.equal(await later?.count({ where: "lang IS NOT NULL" }), 1);
    const { matches } = await partition.query({ vector: [0, 0, 1], limit: 2 });
    assert.deepEqual(idsOf(matches), ["new", "old"]);
    assert.deepEqual(
      (await later?.get(["old", "new"]))?.map((record) => record?.properties),
      [{ n: 6 }, { n: 5, lang: "pt" }],
    );
  });

  it("[V13] 20 writes at once are all there after opening again, each its own nearest", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    const records = fan(20);
    await Promise.all(records.map((record) => partition.upsert([record])));
    const { durable } = store.capabilities;
    await store.close();
    const reopened = await (await bed.open()).getPartition("main");
    assert.equal((await reopened?.count()) ?? 0, durable ? 20 : 0);
    if (reopened !== undefined) await assertOwnNearest(reopened, records);
  });
}

async function everything(store: Store): Promise<unknown> {
  const partition = await store.getPartition("main");
  if (partition === undefined) return { partitions: await store.listPartitions(), records: [], matches: [] };
  return {
    partitions: await store.listPartitions(),
    records: await scanned(partition, { includeVectors: true }),
    matches: (await partition.query({ vector: [1, 0.1, 0], limit: 1_000 })).matches,
  };
}
