import assert from "node:assert/strict";
import type { Filter } from "../../contract/filter-tree.ts";
import type { Partition, RecordInput } from "../../contract/store.ts";
import { bindWhere, print } from "../../filter/index.ts";
import { idsOf, scanned } from "../assertions.ts";
import { PartitionModel } from "../partition-model.ts";
import { leafFields, RANDOM_SCHEMA, randomFilter, randomRecord } from "../random-filters.ts";
import { SeededRandom } from "../seeded-random.ts";
import { PARTITION_KEY, type TestBed, type TestCase } from "../test-bed.ts";

const DIMENSIONS = 4;
const DEPTH = 4;

interface Round {
  readonly records: number;
  readonly filters: number;
}

/** Once as a partition that may be read from its rows, once as one that may be kept in memory. */
const ROUNDS: readonly Round[] = [
  { records: 30, filters: 150 },
  { records: 400, filters: 150 },
];

/** Every read path against the reference evaluator, on random trees and random records (F8). */
export function randomFilterSuite(it: TestCase, seed: number): void {
  for (const round of ROUNDS) {
    it(`[F8, F2] count, query, scan and delete of ${round.records} random records admit what the definition admits`, async (bed) => {
      await runRound(bed, round, seed + round.records);
    });
  }
}

async function runRound(bed: TestBed, round: Round, seed: number): Promise<void> {
  const store = await bed.open({ dimensions: DIMENSIONS, properties: RANDOM_SCHEMA });
  const partition = await store.createPartition(PARTITION_KEY);
  const random = new SeededRandom(seed);
  const records = Array.from({ length: round.records }, (_, index) => randomRecord(random, `r${index}`, DIMENSIONS));
  const model = new PartitionModel({ properties: RANDOM_SCHEMA });
  model.upsert(records);
  await partition.upsert(records);
  let leaves = 0;
  let absent = 0;
  for (let turn = 0; turn < round.filters; turn += 1) {
    const filter = randomFilter(random, DEPTH, store.capabilities.filterNodes);
    for (const name of leafFields(filter)) {
      leaves += records.length;
      absent += records.filter(({ properties }) => (properties?.[name] ?? null) === null).length;
    }
    await named(filter, seed, turn, () => assertAdmits(partition, model, filter, random));
  }
  assert.ok(absent / leaves >= 0.3, `${absent} of ${leaves} pairs of a leaf and a record had no value`);
  for (let turn = 0; turn < 12; turn += 1) {
    const filter = randomFilter(random, DEPTH, store.capabilities.filterNodes);
    await named(filter, seed, turn, () => assertDeletes(partition, model, records, filter));
  }
}

async function assertAdmits(
  partition: Partition,
  model: PartitionModel,
  filter: Filter,
  random: SeededRandom,
): Promise<void> {
  const expected = model.admitted(filter);
  assert.equal(await partition.count({ where: filter }), expected.length, "count");
  const not: Filter = { op: "not", operand: filter };
  assert.equal(await partition.count({ where: not }), model.size - expected.length, "count of the complement");
  const vector = random.vector(DIMENSIONS);
  const all = await partition.query({ vector, where: filter, limit: 10_000 });
  assert.deepEqual([...idsOf(all.matches)].sort(), [...expected].sort(), "query");
  const few = await partition.query({ vector, where: filter, limit: 3 });
  assert.deepEqual(few.matches, all.matches.slice(0, 3), "query of the first three");
  assert.deepEqual(idsOf(await scanned(partition, { where: filter, pageSize: 50 })), expected, "scan");
  const bound = bindWhere(filter, { declared: RANDOM_SCHEMA, userKeys: false });
  if (bound.op !== "all") {
    assert.equal((await partition.delete({ where: filter }, { dryRun: true })).deleted, expected.length, "dry run");
  }
}

/** Deletes for real, then writes all of them again. */
async function assertDeletes(
  partition: Partition,
  model: PartitionModel,
  records: readonly RecordInput[],
  filter: Filter,
): Promise<void> {
  if (bindWhere(filter, { declared: RANDOM_SCHEMA, userKeys: false }).op === "all") return;
  const expected = model.admitted(filter);
  assert.equal((await partition.delete({ where: filter })).deleted, expected.length, "deleted");
  assert.equal(model.delete(expected), expected.length);
  assert.deepEqual(idsOf(await scanned(partition)), model.admitted(), "what is left");
  const { matches } = await partition.query({ vector: [1, 0, 0, 0], limit: 10_000 });
  assert.deepEqual([...idsOf(matches)].sort(), [...model.admitted()].sort(), "what is still found");
  await partition.upsert(records);
  model.upsert(records);
}

/** A failure names its filter and its seed. */
async function named(filter: Filter, seed: number, turn: number, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (cause) {
    throw new Error(
      `seed ${seed}, turn ${turn}: ${print(filter)}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
