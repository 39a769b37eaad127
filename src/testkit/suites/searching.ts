import assert from "node:assert/strict";
import { LIMITS } from "../../contract/limits.ts";
import type { Match, Partition, RecordInput } from "../../contract/store.ts";
import { compareUtf8 } from "../../contract/text.ts";
import { direction, fan, idsOf, only, refuses, scanned } from "../assertions.ts";
import { SeededRandom } from "../seeded-random.ts";
import type { TestCase } from "../test-bed.ts";

/** Fewer records than a backend may scan from its rows, and more than it does. */
const SMALL_AND_LARGE: readonly number[] = [40, 700];

/** What a search answers (Q1–Q8, Q10). */
export function searchSuite(it: TestCase, seed: number): void {
  scores(it, seed);
  thresholdsAndOrder(it);
  limits(it);
  filtersAndExactness(it);
  freshness(it);
}

function scores(it: TestCase, seed: number): void {
  it("[Q1] a similarity is the cosine, whatever the lengths of the vectors", async (bed) => {
    const partition = await bed.openPartition();
    const vectors: Readonly<Record<string, readonly number[]>> = {
      same: [2, 0, 0],
      opposite: [-3, 0, 0],
      across: [0, 5, 0],
      half: [1, Math.sqrt(3), 0],
      tiny: [1e-30, 0, 0],
    };
    await partition.upsert(Object.entries(vectors).map(([id, vector]) => ({ id, vector })));
    const scoreOf = new Map(
      (await partition.query({ vector: [7, 0, 0] })).matches.map((match) => [match.id, match.cosineSimilarity]),
    );
    for (const [id, expected] of [
      ["same", 1],
      ["opposite", -1],
      ["across", 0],
      ["half", 0.5],
      ["tiny", 1],
    ] as const) {
      const found = scoreOf.get(id) ?? Number.NaN;
      assert.ok(Math.abs(found - expected) < 1e-7, `${id}: ${found}`);
    }
  });

  it("[Q1] similarities are summed in float64 and stay in [-1, 1]", async (bed) => {
    const dimensions = 67;
    const partition = await bed.openPartition({ dimensions });
    const random = new SeededRandom(seed);
    const records = Array.from({ length: 300 }, (_, index) => ({ id: `r${index}`, vector: random.vector(dimensions) }));
    await partition.upsert(records);
    for (const { id, vector } of records.slice(0, 60)) {
      const { matches } = await partition.query({ vector, limit: 300 });
      assert.equal(matches[0]?.id, id, `seed ${seed}`);
      for (const match of matches) {
        const other = records[Number(match.id.slice(1))]?.vector ?? vector;
        assert.ok(Math.abs(match.cosineSimilarity - cosineOf(vector, other)) < 1e-12, `seed ${seed}`);
        assert.ok(match.cosineSimilarity <= 1 && match.cosineSimilarity >= -1);
      }
    }
  });

  it("[Q1] a plan never changes a score: limits, filters, thresholds and sizes answer the same float64", async (bed) => {
    const dimensions = 24;
    for (const size of SMALL_AND_LARGE) {
      const store = await bed.open({ name: `size_${size}`, dimensions, properties: { n: "int" } });
      const partition = await store.createPartition("main");
      const records = nearDuplicates(size, dimensions, seed);
      await partition.upsert(records);
      await assertScoresAgree(partition, records);
    }
  });
}

/** Vectors a few units in the last place apart: where a float32 score or another order of summing shows. */
function nearDuplicates(size: number, dimensions: number, seed: number): readonly RecordInput[] {
  const random = new SeededRandom(seed);
  const base = random.vector(dimensions);
  return Array.from({ length: size }, (_, n) => {
    const vector = Float32Array.from(base);
    const axis = random.below(dimensions);
    const step = 2 ** (Math.floor(Math.log2(Math.abs(vector[axis] ?? 1) || 1)) - 23);
    vector[axis] = (vector[axis] ?? 0) + step * (random.below(5) - 2);
    return { id: `r${String(n).padStart(4, "0")}`, vector, properties: { n } };
  });
}

async function assertScoresAgree(partition: Partition, records: readonly RecordInput[]): Promise<void> {
  const [{ vector } = { vector: [] }] = records;
  const { matches } = await partition.query({ vector, limit: LIMITS.queryLimitMax });
  assert.equal(matches.length, records.length);
  assertOrdered(matches);
  const byId = await partition.score(vector, idsOf(matches));
  assert.deepEqual(
    byId,
    matches.map(({ cosineSimilarity }) => cosineSimilarity),
  );
  for (const limit of [1, 2, 10, Math.floor(records.length / 2), records.length - 1]) {
    assert.deepEqual((await partition.query({ vector, limit })).matches, matches.slice(0, limit), `limit ${limit}`);
  }
  const even = matches.filter(({ properties }) => Number(properties.n) % 2 === 0);
  const where = { n: { $in: even.map(({ properties }) => Number(properties.n)) } };
  assert.deepEqual((await partition.query({ vector, where, limit: 10 })).matches, even.slice(0, 10));
  const threshold = matches[Math.floor(records.length / 2)]?.cosineSimilarity ?? 0;
  const above = await partition.query({ vector, minCosineSimilarity: threshold, limit: LIMITS.queryLimitMax });
  assert.deepEqual(
    above.matches,
    matches.filter(({ cosineSimilarity }) => cosineSimilarity >= threshold),
  );
}

function assertOrdered(matches: readonly Match[]): void {
  for (const [index, match] of matches.entries()) {
    const previous = matches[index - 1];
    if (previous === undefined) continue;
    const falls = previous.cosineSimilarity > match.cosineSimilarity;
    const ties = previous.cosineSimilarity === match.cosineSimilarity && compareUtf8(previous.id, match.id) < 0;
    assert.ok(falls || ties, `${previous.id} stands before ${match.id}`);
  }
}

function thresholdsAndOrder(it: TestCase): void {
  it("[Q2] a match exactly at the threshold is answered, one just below is not", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(50));
    const vector = direction(1, 131);
    const { matches } = await partition.query({ vector, limit: 50 });
    for (const { id, cosineSimilarity } of matches) {
      const at = await partition.query({ vector, minCosineSimilarity: cosineSimilarity, limit: 50 });
      assert.equal(idsOf(at.matches).includes(id), true, `at ${cosineSimilarity}`);
      const above = await partition.query({ vector, minCosineSimilarity: nextUp(cosineSimilarity), limit: 50 });
      assert.equal(idsOf(above.matches).includes(id), false, `above ${cosineSimilarity}`);
    }
  });

  it("[Q2] a threshold of 0 or −0 is 0, one beyond 1 admits nothing, one that is not finite is refused", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert([
      { id: "with", vector: [1, 0, 0] },
      { id: "across", vector: [0, 1, 0] },
      { id: "against", vector: [-1, 0, 0] },
    ]);
    const ask = async (minCosineSimilarity: number) =>
      idsOf((await partition.query({ vector: [1, 0, 0], minCosineSimilarity })).matches);
    assert.deepEqual(await ask(0), ["with", "across"]);
    assert.deepEqual(await ask(-0), ["with", "across"]);
    assert.deepEqual(await ask(1), ["with"]);
    assert.deepEqual(await ask(-1), ["with", "across", "against"]);
    assert.deepEqual(await ask(Number.MIN_VALUE), ["with"]);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, "0.5", true, {}]) {
      await refuses(partition.query({ vector: [1, 0, 0], minCosineSimilarity: value as number }), "INVALID_ARGUMENT");
    }
  });

  it("[Q3, Q10] records with equal vectors are separate matches, in the order of their ids' UTF-8 bytes", async (bed) => {
    const ids = ["b", "a", "B", "é", "z", "\uffff", "\u{10000}", "\u{10ffff}", "\ue000", "10", "9", "a\0", "aa"];
    const sorted = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const fillers of [0, 300]) {
      const store = await bed.open({ name: `ties_${fillers}` });
      const partition = await store.createPartition("main");
      await partition.upsert([
        ...ids.map((id) => ({ id, vector: [1, 1, 0] })),
        ...fan(fillers).map(({ id }) => ({ id: `far ${id}`, vector: [-1, 0, 0] })),
      ]);
      for (let turn = 0; turn < 2; turn += 1) {
        const { matches } = await partition.query({ vector: [2, 2, 0], limit: ids.length });
        assert.deepEqual(idsOf(matches), sorted);
      }
      assert.deepEqual(idsOf((await partition.query({ vector: [2, 2, 0], limit: 4 })).matches), sorted.slice(0, 4));
      assert.deepEqual(
        idsOf(await scanned(partition)).slice(0, 3),
        [...ids, ...(fillers === 0 ? [] : ["far r0"])].sort().slice(0, 3),
      );
    }
  });

  it("[Q4] many vectors answer one list each, in their order and of one moment", async (bed) => {
    const partition = await bed.openPartition();
    const records = fan(60);
    await partition.upsert(records);
    const vectors = records.map(({ vector }) => vector).reverse();
    const answers = await partition.queryMany({ vectors, limit: 3 });
    assert.deepEqual(
      answers.map(({ matches }) => matches[0]?.id),
      [...idsOf(records)].reverse(),
    );
    assert.equal(new Set(answers.map(({ position }) => position)).size, 1);
    for (const [index, vector] of vectors.slice(0, 5).entries()) {
      assert.deepEqual(answers[index]?.matches, (await partition.query({ vector, limit: 3 })).matches);
    }
    assert.deepEqual(await partition.queryMany({ vectors: [] }), []);
    await refuses(partition.queryMany({ vectors: "x" as unknown as readonly number[][] }), "INVALID_ARGUMENT");
  });
}

function limits(it: TestCase): void {
  it("[Q5] the limit is a whole number from 0 to 10,000, 10 by default; one above the records answers them all", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(25));
    const vector = direction(3, 25);
    const ask = async (limit?: number) =>
      (await partition.query({ vector, ...(limit !== undefined && { limit }) })).matches.length;
    assert.equal(await ask(), 10);
    for (const [limit, expected] of [
      [0, 0],
      [1, 1],
      [24, 24],
      [25, 25],
      [26, 25],
      [LIMITS.queryLimitMax, 25],
    ] as const) {
      assert.equal(await ask(limit), expected);
    }
    for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e9, LIMITS.queryLimitMax + 1, "5", true, {}]) {
      await refuses(partition.query({ vector, limit: limit as number }), "INVALID_ARGUMENT", String(limit));
      await refuses(
        partition.queryMany({ vectors: [vector], limit: limit as number }),
        "INVALID_ARGUMENT",
        String(limit),
      );
    }
    for (const request of [undefined, null, 1, "x"]) {
      await refuses(partition.query(request as unknown as { vector: readonly number[] }), "INVALID_ARGUMENT");
    }
  });

  it("[Q5] an empty partition answers an empty list to everything", async (bed) => {
    const partition = await bed.openPartition();
    const answer = await partition.query({ vector: [1, 0, 0] });
    assert.deepEqual([answer.matches, answer.exact, answer.damaged], [[], true, 0]);
    assert.deepEqual(await scanned(partition), []);
    assert.equal(await partition.count(), 0);
    assert.deepEqual(await partition.score([1, 0, 0], ["a"]), [undefined]);
  });
}

function filtersAndExactness(it: TestCase): void {
  it("[Q6] the filter acts during the search: near excluded records never use up the limit", async (bed) => {
    for (const near of [5, 900]) {
      const store = await bed.open({ name: `near_${near}`, properties: { kind: "string" } });
      const partition = await store.createPartition("main");
      await partition.upsert([
        ...Array.from({ length: near }, (_, index) => ({
          id: `near${index}`,
          vector: [1, index / 1e6, 0],
          properties: { kind: "a" },
        })),
        ...Array.from({ length: 5 }, (_, index) => ({
          id: `far${index}`,
          vector: [-1, index + 1, 0],
          properties: { kind: "b" },
        })),
      ]);
      for (const limit of [1, 3, 5, 6]) {
        const { matches } = await partition.query({ vector: [1, 0, 0], where: { kind: "b" }, limit });
        assert.equal(matches.length, Math.min(limit, 5));
        for (const { properties } of matches) assert.equal(properties.kind, "b");
      }
      assert.equal(
        (await partition.query({ vector: [1, 0, 0], where: "NOT (kind = 'a')", limit: 5 })).matches.length,
        5,
      );
    }
  });

  it("[Q7] an answer says whether it is provably exact, and is when that is asked for", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(600));
    for (const request of [{}, { exact: true }, { where: "FALSE" }] as const) {
      const answer = await partition.query({ vector: direction(1, 7), ...request });
      assert.equal(typeof answer.exact, "boolean");
      assert.equal(answer.damaged, 0);
      if ("exact" in request) assert.equal(answer.exact, true);
    }
  });
}

function freshness(it: TestCase): void {
  it("[Q8, V13] a search sees every write acknowledged before it, and nothing that was deleted or replaced", async (bed) => {
    const partition = await bed.openPartition({ properties: { version: "int" } });
    await partition.upsert(fan(300));
    for (let version = 0; version < 30; version += 1) {
      await partition.upsert([{ id: "moving", vector: direction(version, 30), properties: { version } }]);
      const { matches } = await partition.query({ vector: direction(version, 30), where: "version >= 0", limit: 10 });
      assert.deepEqual(only(matches).properties, { version });
      assert.ok(only(matches).cosineSimilarity > 1 - 1e-6, "scored by its new vector");
      if (version % 3 !== 2) continue;
      await partition.delete({ ids: ["moving"] });
      assert.equal(
        idsOf((await partition.query({ vector: direction(version, 30), limit: 301 })).matches).includes("moving"),
        false,
      );
    }
  });
}

/** The float64 cosine, summed from the front. */
function cosineOf(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, left, right] = [0, 0, 0];
  for (let axis = 0; axis < a.length; axis += 1) {
    const [x, y] = [a[axis] ?? 0, b[axis] ?? 0];
    dot += x * y;
    left += x * x;
    right += y * y;
  }
  return dot / Math.sqrt(left * right);
}

/** The next float64 above. */
function nextUp(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value === 0 ? Number.MIN_VALUE : value);
  if (value !== 0) view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}
