import assert from "node:assert/strict";
import type { Partition } from "../../contract/store.ts";
import { isHoldfastError } from "../../errors/index.ts";
import { assertOwnNearest, direction, fan, idsOf, scanned } from "../assertions.ts";
import { PARTITION_KEY, type TestCase } from "../test-bed.ts";

/** Calls that run at once (V18, Q8, Q9). */
export function concurrencySuite(it: TestCase): void {
  it("[V18] of identical adds at once one inserts and the others replace: there is one record", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    const adds = Array.from({ length: 20 }, (_, n) =>
      partition.upsert([{ id: "same", vector: [1, 0, 0], properties: { n } }]),
    );
    const receipts = await Promise.all(adds);
    assert.equal(
      receipts.reduce((sum, { inserted }) => sum + inserted, 0),
      1,
    );
    assert.equal(
      receipts.reduce((sum, { replaced }) => sum + replaced, 0),
      19,
    );
    assert.equal(await partition.count(), 1);
    assert.equal((await scanned(partition)).length, 1);
    assert.equal((await partition.query({ vector: [1, 0, 0], limit: 50 })).matches.length, 1);
  });

  it("[V13, V18] of 50 adds at once all are there, each its own nearest, and no vector is left over", async (bed) => {
    const partition = await bed.openPartition();
    const records = fan(50);
    const receipts = await Promise.all(records.map((record) => partition.upsert([record])));
    assert.equal(await partition.count(), 50);
    assert.equal((await partition.query({ vector: [1, 0, 0], limit: 1_000 })).matches.length, 50);
    await assertOwnNearest(partition, records);
    const last = Math.max(...receipts.map(({ position }) => position));
    assert.ok((await partition.query({ vector: [1, 0, 0] })).position >= last);
  });

  it("[V16] of deletes of one id at once one counts it", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(10));
    const receipts = await Promise.all(Array.from({ length: 10 }, () => partition.delete({ ids: ["r1", "r2"] })));
    assert.equal(
      receipts.reduce((sum, { deleted }) => sum + deleted, 0),
      2,
    );
    assert.equal(await partition.count(), 8);
  });

  it("[V11, V18] patches of different keys at once all hold", async (bed) => {
    const keys = ["a", "b", "c", "d", "e", "f"];
    const properties = Object.fromEntries(keys.map((key) => [key, "int"] as const));
    const partition = await bed.openPartition({ properties });
    await partition.upsert([{ id: "x", vector: [1, 0, 0] }]);
    await Promise.all(keys.map((key, index) => partition.patch("x", { [key]: index })));
    const [stored] = await partition.get(["x"]);
    assert.deepEqual(stored?.properties, Object.fromEntries(keys.map((key, index) => [key, index])));
  });

  it("[Q8, Q9] while records move, every answer is of one moment: vector, properties and filter of one version", async (bed) => {
    const store = await bed.open({ properties: { version: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    await partition.upsert(fan(300));
    let writing = true;
    const writer = moveRecords(partition, 40).finally(() => {
      writing = false;
    });
    let answers = 0;
    while (writing) {
      await assertOneMoment(partition, answers % 40);
      answers += 1;
    }
    await writer;
    assert.ok(answers > 0);
  });

  it("[E7] a caller that polls in a loop does not keep others from running", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition(PARTITION_KEY);
    await assertPollingEnds(partition, "a", () => partition.get(["b"]));
    await assertPollingEnds(partition, "b", () => partition.count());
    await assertPollingEnds(partition, "c", () => store.getPartition(PARTITION_KEY));
    assert.equal(await partition.count(), 3);
  });

  it("[P8, P9] writes that race a deletion are refused or gone with it: the next life starts empty", async (bed) => {
    const store = await bed.open();
    for (let turn = 0; turn < 5; turn += 1) {
      const partition = await store.createPartition("main");
      const writes = Array.from({ length: 12 }, (_, index) =>
        partition.upsert([{ id: `w${index}`, vector: [1, 0, 0] }]),
      );
      const [deletion, ...outcomes] = await Promise.allSettled([store.deletePartition("main"), ...writes]);
      assert.equal(deletion.status, "fulfilled");
      for (const outcome of outcomes) {
        if (outcome.status === "rejected")
          assert.ok(isHoldfastError(outcome.reason, "PARTITION_STALE"), String(outcome.reason));
      }
      const next = await store.createPartition("main");
      assert.equal(await next.count(), 0);
      assert.deepEqual((await next.query({ vector: [1, 0, 0] })).matches, []);
      await store.deletePartition("main");
    }
  });
}

/**
 * A loop that polls until a write has answered: the loop is bounded, because a call that never leaves its turn
 * would keep the write, and the test's own time limit, from ever running.
 */
async function assertPollingEnds(partition: Partition, id: string, poll: () => Promise<unknown>): Promise<void> {
  let written = false;
  const writing = partition.upsert([{ id, vector: [1, 0, 0] }]).then(() => {
    written = true;
  });
  for (let turn = 0; turn < 200_000 && !written; turn += 1) await poll();
  assert.ok(written, "the write answered while another caller polled");
  await writing;
}

/** Ten records at once, so that a batch that is seen half shows as two versions. */
async function moveRecords(partition: Partition, versions: number): Promise<void> {
  for (let version = 0; version < versions; version += 1) {
    const vector = direction(version, versions);
    await partition.upsert(
      Array.from({ length: 10 }, (_, index) => ({ id: `m${index}`, vector, properties: { version } })),
    );
  }
}

async function assertOneMoment(partition: Partition, version: number): Promise<void> {
  const vector = direction(version, 40);
  const { matches } = await partition.query({ vector, where: "version >= 0", limit: 100 });
  assert.ok(matches.length === 0 || matches.length === 10, `${matches.length} of the ten are there`);
  const versions = new Set(matches.map(({ properties }) => properties.version));
  assert.ok(versions.size <= 1, `versions ${[...versions].join(" ")} in one answer`);
  const scores = new Set(matches.map(({ cosineSimilarity }) => cosineSimilarity));
  assert.ok(scores.size <= 1, "ten equal vectors have one score");
  for (const { properties, cosineSimilarity } of matches) {
    const expected = Math.cos((2 * Math.PI * (Number(properties.version) - version)) / 40);
    assert.ok(Math.abs(cosineSimilarity - expected) < 1e-6, "scored by the vector of its version");
  }
  assert.equal(new Set(idsOf(matches)).size, matches.length);
}
