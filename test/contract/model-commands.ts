import assert from "node:assert/strict";
import type { Partition, Store } from "holdfast";
import { type PartitionModel, RANDOM_SCHEMA, randomFilter, randomRecord, SeededRandom } from "holdfast/testkit";

/** Records of more than 2 KiB: a partition of 469 of them is beyond the least budget, and is streamed. */
export const DIMENSIONS = 512;
export const KEYS: readonly string[] = ["one", "two"];

const IDS = 700;
const FILTER_DEPTH = 3;
const FILTER_NODES = ["all", "none", "equals", "ordering", "in", "isNull", "and", "or", "not"] as const;

/** What a store should hold: a plain Map for each partition. */
export interface Model {
  readonly partitions: Map<string, PartitionModel>;
  readonly newPartition: () => PartitionModel;
}

/** The store and how to open it again. */
export interface Real {
  store: Store;
  readonly partitions: Map<string, Partition>;
  readonly reopen: () => Promise<Store>;
}

/** One step: applied to both, and their answers compared. A step is told by its name, a key and a seed. */
export interface Step {
  readonly name: StepName;
  readonly key: string;
  readonly seed: number;
}

interface Sides {
  readonly expected: PartitionModel;
  readonly actual: Partition;
  readonly random: SeededRandom;
}

const STEPS = {
  upsert: (sides: Sides) => upsert(sides, 1 + sides.random.below(12)),
  load: (sides: Sides) => upsert(sides, 250 + sides.random.below(300)),
  patch,
  deleteIds,
  deleteWhere,
  get,
  count,
  query,
  queryMany,
  scan,
  burst,
  add,
} as const;

const SHAPING = ["recreate", "reopen"] as const;

export type StepName = keyof typeof STEPS | (typeof SHAPING)[number];

/** Searches are asked for more often than anything that changes what they see. */
export const STEP_NAMES: readonly StepName[] = [
  ...(Object.keys(STEPS) as StepName[]),
  ...SHAPING,
  "query",
  "query",
  "query",
  "upsert",
  "add",
  "add",
];

export async function runStep(step: Step, model: Model, real: Real): Promise<void> {
  const { name, key, seed } = step;
  if (name === "recreate") return recreate(key, model, real);
  if (name === "reopen") return reopen(model, real);
  const [expected, actual] = [model.partitions.get(key), real.partitions.get(key)];
  assert.ok(expected !== undefined && actual !== undefined);
  await STEPS[name]({ expected, actual, random: new SeededRandom(seed) });
}

async function recreate(key: string, model: Model, real: Real): Promise<void> {
  const before = await real.store.deletePartition(key);
  assert.equal(before.deleted, model.partitions.has(key));
  model.partitions.set(key, model.newPartition());
  real.partitions.set(key, await real.store.createPartition(key));
}

async function reopen(model: Model, real: Real): Promise<void> {
  await real.store.close();
  real.store = await real.reopen();
  const list = await real.store.listPartitions();
  assert.deepEqual(
    list.map(({ key, records }) => [key, records]),
    [...model.partitions].map(([key, { size }]) => [key, size]).sort(),
  );
  for (const { key } of list) {
    const partition = await real.store.getPartition(key);
    assert.ok(partition !== undefined);
    real.partitions.set(key, partition);
  }
}

async function upsert({ expected, actual, random }: Sides, count: number): Promise<void> {
  const ids = new Set(Array.from({ length: count }, () => randomId(random)));
  const records = [...ids].map((id) => ({ ...randomRecord(random, id, DIMENSIONS), vector: randomVector(random) }));
  const inserted = expected.upsert(records);
  const receipt = await actual.upsert(records);
  assert.deepEqual([receipt.inserted, receipt.replaced], [inserted, records.length - inserted]);
}

async function patch({ expected, actual, random }: Sides): Promise<void> {
  const id = randomId(random);
  const { properties = {} } = randomRecord(random, id, DIMENSIONS);
  const known = expected.patch(id, properties);
  assert.equal((await actual.patch(id, properties)) !== undefined, known);
}

async function deleteIds({ expected, actual, random }: Sides): Promise<void> {
  const ids = Array.from({ length: random.below(60) }, () => randomId(random));
  assert.equal((await actual.delete({ ids })).deleted, expected.delete(ids));
}

async function deleteWhere({ expected, actual, random }: Sides): Promise<void> {
  // Most random filters admit much; two of them together leave something to go on with.
  const where = {
    op: "and",
    operands: [randomFilterOf(random), { op: "not", operand: randomFilterOf(random) }],
  } as const;
  const admitted = expected.admitted(where);
  if (admitted.length === expected.size) return;
  assert.equal((await actual.delete({ where })).deleted, admitted.length);
  expected.delete(admitted);
}

async function get({ expected, actual, random }: Sides): Promise<void> {
  const ids = Array.from({ length: 1 + random.below(100) }, () => randomId(random));
  const includeVectors = random.chance(0.5);
  const records = await actual.get(ids, { includeVectors });
  assert.deepEqual(
    records,
    ids.map((id) => expected.get(id, includeVectors)),
  );
}

async function count({ expected, actual, random }: Sides): Promise<void> {
  const where = randomFilterOf(random);
  assert.equal(await actual.count(), expected.size);
  assert.equal(await actual.count({ where }), expected.admitted(where).length);
}

async function query({ expected, actual, random }: Sides): Promise<void> {
  const request = {
    vector: randomVector(random),
    limit: random.pick([0, 1, 3, 10, 100, 10_000]),
    ...(random.chance(0.6) && { where: randomFilterOf(random) }),
  };
  const matches = expected.query(request);
  const answer = await actual.query(request);
  assert.deepEqual(answer.matches, matches);
  assert.deepEqual([answer.exact, answer.damaged], [true, 0]);
  const middle = matches[Math.floor(matches.length / 2)];
  if (middle === undefined) return;
  const minCosineSimilarity = middle.cosineSimilarity;
  assert.deepEqual(
    (await actual.query({ ...request, minCosineSimilarity })).matches,
    expected.query({ ...request, minCosineSimilarity }),
  );
}

async function queryMany({ expected, actual, random }: Sides): Promise<void> {
  const vectors = Array.from({ length: 1 + random.below(5) }, () => randomVector(random));
  const answers = await actual.queryMany({ vectors, limit: 5 });
  assert.deepEqual(
    answers.map(({ matches }) => matches),
    vectors.map((vector) => expected.query({ vector, limit: 5 })),
  );
}

async function scan({ expected, actual, random }: Sides): Promise<void> {
  const where = randomFilterOf(random);
  const ids: string[] = [];
  for await (const page of actual.scan({ where, pageSize: random.pick([1, 50, 1_000]) }))
    ids.push(...page.records.map(({ id }) => id));
  assert.deepEqual(ids, expected.admitted(where));
}

/** Writes of different records at once, and a search meanwhile, whose answer is of one of the states between. */
async function burst({ expected, actual, random }: Sides): Promise<void> {
  const ids = new Set(Array.from({ length: 12 }, () => randomId(random)));
  const records = [...ids].map((id) => ({ ...randomRecord(random, id, DIMENSIONS), vector: randomVector(random) }));
  const writes = records.map((record) => actual.upsert([record]));
  const { matches } = await actual.query({ vector: randomVector(random), limit: 10_000 });
  const receipts = await Promise.all(writes);
  const inserted = expected.upsert(records);
  assert.equal(
    receipts.reduce((sum, receipt) => sum + receipt.inserted, 0),
    inserted,
  );
  assert.ok(matches.length >= expected.size - inserted && matches.length <= expected.size);
  assert.equal(new Set(matches.map(({ id }) => id)).size, matches.length);
}

/** What has just come is asked for by itself: a wider search would notice a stale memory by the rows that went. */
async function add({ expected, actual, random }: Sides): Promise<void> {
  const record = {
    ...randomRecord(random, `new${random.below(1_000_000)}`, DIMENSIONS),
    vector: random.vector(DIMENSIONS),
  };
  expected.upsert([record]);
  await actual.upsert([record]);
  const request = { vector: record.vector, limit: 1 };
  assert.deepEqual((await actual.query(request)).matches, expected.query(request));
}

function randomId(random: SeededRandom): string {
  return `r${random.below(IDS)}`;
}

/** Half of them a few units in the last place from one another: where plans that score differently would differ in order. */
function randomVector(random: SeededRandom): Float32Array {
  if (random.chance(0.5)) return random.vector(DIMENSIONS);
  const vector = new SeededRandom(7).vector(DIMENSIONS);
  const axis = random.below(3);
  vector[axis] = Math.fround((vector[axis] ?? 0) * (1 + random.below(4) * 2 ** -23));
  return vector;
}

function randomFilterOf(random: SeededRandom): ReturnType<typeof randomFilter> {
  return randomFilter(random, FILTER_DEPTH, FILTER_NODES);
}

export { RANDOM_SCHEMA };
