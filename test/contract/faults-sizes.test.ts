import assert from "node:assert/strict";
import { openStore, type Partition, type RecordInput } from "holdfast";
import { SeededRandom } from "holdfast/testkit";
import { describe, it } from "vitest";
import { temporaryFolder } from "../doubles/embedded-places.ts";

/** 32,766 parameters of one statement divided by 6 and by 1, and what a user has after a year. */
const ROWS: readonly number[] = [5_461, 5_462, 41_666, 100_000];

/** Removals that are listed for followers; one that is further behind loads its partition anew. */
const REMOVALS_KEPT = 65_536;

describe("[backend embedded] sizes", () => {
  for (const rows of ROWS) {
    it(`[V14] ${rows} records are written, read, searched and deleted in one call each`, async () => {
      await withPartition(4, async (partition) => {
        const records = randomRecords(rows, 4);
        const { inserted } = await partition.upsert(records);
        assert.equal(inserted, rows);
        assert.equal(await partition.count(), rows);
        const ids = records.map(({ id }) => id);
        const read = await partition.get(ids);
        assert.equal(
          read.findIndex((record, index) => record?.id !== ids[index]),
          -1,
        );
        const { matches } = await partition.query({ vector: records[rows - 1]?.vector ?? [], limit: 10_000 });
        assert.equal(matches.length, Math.min(rows, 10_000));
        assert.equal((await partition.upsert(records)).replaced, rows);
        assert.equal((await partition.delete({ ids: ids.slice(1) })).deleted, rows - 1);
        const left = await partition.query({ vector: records[0]?.vector ?? [], limit: 10_000 });
        assert.deepEqual(
          left.matches.map(({ id }) => id),
          [ids[0]],
        );
      });
    });
  }

  it("[Q8, E5] a search that is further behind than the removals that are listed answers none that was removed", async () => {
    await withPartition(4, async (partition) => {
      const records = randomRecords(REMOVALS_KEPT + 4_000, 4);
      await partition.upsert(records);
      const vector = records[0]?.vector ?? [];
      await partition.query({ vector });
      const removed = records.slice(0, REMOVALS_KEPT + 3_000).map(({ id }) => id);
      assert.equal((await partition.delete({ ids: removed })).deleted, removed.length);
      const { matches, damaged } = await partition.query({ vector, limit: 10_000 });
      assert.deepEqual(
        matches.map(({ id }) => id).sort(),
        records
          .slice(removed.length)
          .map(({ id }) => id)
          .sort(),
      );
      assert.equal(damaged, 0);
    });
  });

  it("[Q8] records that are removed until few are left stay out of every answer, at each count around half", async () => {
    await withPartition(4, async (partition) => {
      const records = randomRecords(2_010, 4);
      await partition.upsert(records);
      let there: readonly RecordInput[] = records;
      for (const count of [1_000, 1, 1, 1, 1, 3, 3, 500, 400]) {
        const removed = there.slice(0, count).map(({ id }) => id);
        await partition.delete({ ids: removed });
        there = there.slice(count);
        const { matches } = await partition.query({ vector: [1, 0, 0, 0], limit: 10_000 });
        assert.deepEqual(matches.map(({ id }) => id).sort(), there.map(({ id }) => id).sort());
      }
    });
  });

  it("[E7] writes beyond the bound of the queue are refused as BUSY, with nothing of them applied and nothing else lost", async () => {
    await withPartition(16_384, async (partition) => {
      const vector = new SeededRandom(1).vector(16_384);
      const writes = Array.from({ length: 1_300 }, (_, index) => partition.upsert([{ id: `r${index}`, vector }]));
      const outcomes = await Promise.allSettled(writes);
      let written = 0;
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") written += 1;
        else
          assert.deepEqual(
            [outcome.reason.code, outcome.reason.outcome, outcome.reason.retry],
            ["BUSY", "not-applied", "later"],
          );
      }
      assert.ok(written > 0 && written < outcomes.length, `${written} of ${outcomes.length} were taken`);
      assert.equal(await partition.count(), written);
      await partition.upsert([{ id: "later", vector }]);
      assert.equal(await partition.count(), written + 1);
    });
  });
});

async function withPartition(dimensions: number, body: (partition: Partition) => Promise<void>): Promise<void> {
  const { path, remove } = temporaryFolder();
  const store = await openStore({ path, name: "sizes", dimensions });
  try {
    await body(await store.createPartition("main"));
  } finally {
    await store.close();
    remove();
  }
}

function randomRecords(count: number, dimensions: number): readonly RecordInput[] {
  const random = new SeededRandom(count);
  return Array.from({ length: count }, (_, index) => ({ id: `r${index}`, vector: random.vector(dimensions) }));
}
