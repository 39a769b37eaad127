import assert from "node:assert/strict";
import { openStore, type Partition, type RecordInput } from "holdfast";
import { SeededRandom } from "holdfast/testkit";
import { describe, it } from "vitest";
import { temporaryFolder } from "../doubles/embedded-places.ts";

/** From this many records a partition is kept in memory. */
const RESIDENT_RECORDS_MIN = 256;
const SMALL_CHUNK_BYTES = 64 * 1024;
const LARGE_CHUNK_BYTES = 4 * 1024 * 1024;
const MEMORY_BUDGET_BYTES_MIN = 1024 * 1024;

interface Threshold {
  readonly what: string;
  readonly dimensions: number;
  readonly records: number;
  readonly memoryBudgetBytes?: number;
}

const THRESHOLDS: readonly Threshold[] = [
  { what: "a partition is kept in memory", dimensions: 3, records: RESIDENT_RECORDS_MIN },
  { what: "its first, small block is full", dimensions: 48, records: Math.floor(SMALL_CHUNK_BYTES / (48 * 4)) },
  {
    what: "its first, small block is full before it is kept",
    dimensions: 1_024,
    records: SMALL_CHUNK_BYTES / (1_024 * 4),
  },
  {
    what: "its second block is full",
    dimensions: 1_024,
    records: (SMALL_CHUNK_BYTES + LARGE_CHUNK_BYTES) / (1_024 * 4),
  },
  { what: "its first, large block is full", dimensions: 1_025, records: Math.floor(LARGE_CHUNK_BYTES / (1_025 * 4)) },
  {
    what: "it is beyond the budget and streamed",
    dimensions: 512,
    records: Math.floor(MEMORY_BUDGET_BYTES_MIN / (512 * 4 + 192)),
    memoryBudgetBytes: MEMORY_BUDGET_BYTES_MIN,
  },
  {
    what: "a streamed block is full",
    dimensions: 2_048,
    records: LARGE_CHUNK_BYTES / (2_048 * 4),
    memoryBudgetBytes: MEMORY_BUDGET_BYTES_MIN,
  },
  {
    what: "a record of the most dimensions fills a chunk",
    dimensions: 16_384,
    records: LARGE_CHUNK_BYTES / (16_384 * 4),
  },
  { what: "a slice of a batch is full", dimensions: 3, records: 1_000 },
];

describe("[backend embedded] thresholds", () => {
  for (const threshold of THRESHOLDS) {
    it(`[Q1, Q8, E9] around ${threshold.records} records of ${threshold.dimensions} dimensions, where ${threshold.what}, each is its own nearest`, async () => {
      await growThrough(threshold);
    });
  }

  it("[V11] 63, 64 and 65 ids are read alike, on whichever thread that is", async () => {
    await withStore({ what: "", dimensions: 3, records: 0 }, async (partition) => {
      const records = randomRecords(70, 3);
      await partition.upsert(records);
      for (const count of [63, 64, 65]) {
        const ids = records.slice(0, count).map(({ id }) => id);
        const read = await partition.get([...ids, "nobody"], { includeVectors: true });
        assert.deepEqual(
          read.map((record) => record?.id),
          [...ids, undefined],
        );
        assert.deepEqual(read[count - 1]?.vector, records[count - 1]?.vector);
      }
    });
  });

  it("[Q1] a partition answers the same, to the last bit, small, kept, streamed and after shrinking again", async () => {
    const random = new SeededRandom(3);
    const dimensions = 512;
    const vector = random.vector(dimensions);
    const records = randomRecords(600, dimensions);
    const answers: unknown[] = [];
    for (const memoryBudgetBytes of [MEMORY_BUDGET_BYTES_MIN, 64 * MEMORY_BUDGET_BYTES_MIN]) {
      await withStore({ what: "", dimensions, records: 0, memoryBudgetBytes }, async (partition) => {
        const first = records.slice(0, 100);
        for (const [from, to] of [
          [0, 100],
          [100, 300],
          [300, 600],
        ] as const) {
          await partition.upsert(records.slice(from, to));
          const scores = await partition.score(
            vector,
            first.map(({ id }) => id),
          );
          const { matches } = await partition.query({ vector, limit: 600 });
          const found = new Map(matches.map((match) => [match.id, match.cosineSimilarity]));
          assert.deepEqual(
            first.map(({ id }) => found.get(id)),
            scores,
          );
          answers.push(scores);
        }
        await partition.delete({ ids: records.slice(100).map(({ id }) => id) });
        const { matches } = await partition.query({ vector, limit: 600 });
        assert.equal(matches.length, 100);
        const found = new Map(matches.map((match) => [match.id, match.cosineSimilarity]));
        answers.push(first.map(({ id }) => found.get(id)));
      });
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });
});

/** Grows to two below the threshold at once, past it one by one, and shrinks below it again. */
async function growThrough(threshold: Threshold): Promise<void> {
  await withStore(threshold, async (partition) => {
    const all = randomRecords(threshold.records + 2, threshold.dimensions);
    const start = Math.max(1, threshold.records - 2);
    await partition.upsert(all.slice(0, start));
    await assertFindable(partition, all.slice(0, start));
    for (let count = start; count < all.length; count += 1) {
      await partition.upsert(all.slice(count, count + 1));
      await assertFindable(partition, all.slice(0, count + 1));
    }
    for (let removed = 1; removed <= 3; removed += 1) {
      const id = all[removed - 1]?.id ?? "";
      await partition.delete({ ids: [id] });
      await assertFindable(partition, all.slice(removed));
    }
  });
}

/** All are counted; the first, the last and some between are asked for by their own vectors. */
async function assertFindable(partition: Partition, records: readonly RecordInput[]): Promise<void> {
  assert.equal(await partition.count(), records.length);
  const step = Math.max(1, Math.floor(records.length / 10));
  const asked = records.filter((_, index) => index % step === 0 || index >= records.length - 3 || index < 2);
  const answers = await partition.queryMany({ vectors: asked.map(({ vector }) => vector), limit: 10_000 });
  for (const [index, { id }] of asked.entries()) {
    assert.equal(answers[index]?.matches[0]?.id, id);
    assert.equal(answers[index]?.matches.length, Math.min(10_000, records.length));
    assert.equal(answers[index]?.damaged, 0);
  }
}

async function withStore(threshold: Threshold, body: (partition: Partition) => Promise<void>): Promise<void> {
  const { path, remove } = temporaryFolder();
  const { dimensions, memoryBudgetBytes } = threshold;
  const store = await openStore({
    path,
    name: "thresholds",
    dimensions,
    ...(memoryBudgetBytes !== undefined && { memoryBudgetBytes }),
  });
  try {
    await body(await store.createPartition("main"));
  } finally {
    await store.close();
    remove();
  }
}

function randomRecords(count: number, dimensions: number): readonly RecordInput[] {
  const random = new SeededRandom(count * 31 + dimensions);
  return Array.from({ length: count }, (_, index) => ({ id: `r${index}`, vector: random.vector(dimensions) }));
}
