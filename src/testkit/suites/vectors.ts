import assert from "node:assert/strict";
import type { VectorInput } from "../../contract/vector.ts";
import type { ErrorCode } from "../../errors/index.ts";
import { only, refuses } from "../assertions.ts";
import { PARTITION_KEY, type TestCase } from "../test-bed.ts";

/** The smallest norm that has a direction: float32's smallest normal number. */
const NORM_MIN = 2 ** -126;

const REFUSED: readonly (readonly [what: string, vector: unknown, code: ErrorCode])[] = [
  ["zero", [0, 0, 0], "INVALID_VECTOR"],
  ["negative zero", [-0, -0, -0], "INVALID_VECTOR"],
  ["NaN", [1, Number.NaN, 0], "INVALID_VECTOR"],
  ["Infinity", [1, 0, Number.POSITIVE_INFINITY], "INVALID_VECTOR"],
  ["-Infinity", [Number.NEGATIVE_INFINITY, 0, 0], "INVALID_VECTOR"],
  ["beyond float32", [1e39, 0, 0], "INVALID_VECTOR"],
  ["just beyond float32", [3.4028236e38, 0, 0], "INVALID_VECTOR"],
  ["a subnormal norm", [NORM_MIN / 2, 0, 0], "INVALID_VECTOR"],
  ["below float32's resolution", [1e-50, 1e-50, 1e-50], "INVALID_VECTOR"],
  ["a text in it", [1, "2", 3], "INVALID_VECTOR"],
  ["a hole in it", [1, undefined, 3], "INVALID_VECTOR"],
  ["null in it", [1, null, 3], "INVALID_VECTOR"],
  ["a boolean in it", [1, true, 3], "INVALID_VECTOR"],
  ["too short", [1, 2], "DIMENSION_MISMATCH"],
  ["too long", [1, 2, 3, 4], "DIMENSION_MISMATCH"],
  ["empty", [], "DIMENSION_MISMATCH"],
  ["an empty Float32Array", new Float32Array(0), "DIMENSION_MISMATCH"],
  ["undefined", undefined, "INVALID_VECTOR"],
  ["null", null, "INVALID_VECTOR"],
  ["a text", "1,2,3", "INVALID_VECTOR"],
  ["an object", { 0: 1, 1: 2, 2: 3, length: 3 }, "INVALID_VECTOR"],
  ["integers of 32 bits", new Int32Array([1, 2, 3]), "INVALID_VECTOR"],
  ["a buffer", new ArrayBuffer(12), "INVALID_VECTOR"],
];

/** What a vector is (V10, V11). */
export function vectorSuite(it: TestCase): void {
  it("[V10, V11] a vector without a direction, of another length or of another kind is refused at every door", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert([{ id: "kept", vector: [1, 0, 0] }]);
    for (const [what, value, code] of REFUSED) {
      const vector = value as VectorInput;
      await refuses(
        partition.upsert([
          { id: "good", vector: [0, 1, 0] },
          { id: "bad", vector },
        ]),
        code,
        `upsert: ${what}`,
      );
      await refuses(partition.query({ vector }), code, `query: ${what}`);
      await refuses(partition.queryMany({ vectors: [[0, 1, 0], vector] }), code, `queryMany: ${what}`);
      await refuses(partition.score(vector, ["kept"]), code, `score: ${what}`);
    }
    assert.equal(await partition.count(), 1);
  });

  it("[V10] the position of a bad record or component is named", async (bed) => {
    const partition = await bed.openPartition();
    const batch = [
      [1, 0, 0],
      [0, 1, 0],
      [0, Number.NaN, 1],
    ].map((vector, index) => ({ id: `r${index}`, vector }));
    const error = await refuses(partition.upsert(batch), "INVALID_VECTOR");
    assert.match(error.message, /record 2\b/);
    assert.match(error.message, /component 1\b/);
  });

  it("[V10] extremes that have a direction are taken, and their scores are finite", async (bed) => {
    const partition = await bed.openPartition();
    const vectors = [
      [NORM_MIN, 0, 0],
      [3.4028234663852886e38, 3.4028234663852886e38, 3.4028234663852886e38],
      [1e38, -1e38, 1],
      [1e-30, 1e-30, 1e-30],
      [2 ** -149, 1, 0],
    ];
    await partition.upsert(vectors.map((vector, index) => ({ id: `r${index}`, vector })));
    for (const [index, vector] of vectors.entries()) {
      const { matches } = await partition.query({ vector, limit: 10 });
      assert.equal(matches.length, vectors.length);
      for (const { cosineSimilarity } of matches) {
        assert.ok(cosineSimilarity >= -1 && cosineSimilarity <= 1, `${cosineSimilarity} is in [-1, 1]`);
      }
      const own = matches.find(({ id }) => id === `r${index}`)?.cosineSimilarity ?? 0;
      assert.ok(own > 1 - 1e-12, `${own} is 1`);
    }
  });

  it("[V10] query vectors are rounded to float32 first", async (bed) => {
    const partition = await bed.openPartition();
    const vector = [0.1, 0.2, 0.3];
    await partition.upsert([
      { id: "a", vector },
      { id: "b", vector: [0.3, 0.1, 0.7] },
    ]);
    const answers = [vector, Float64Array.from(vector), Float32Array.from(vector)].map((given) =>
      partition.query({ vector: given }),
    );
    const [plain, wide, narrow] = await Promise.all(answers);
    assert.deepEqual(plain?.matches, narrow?.matches);
    assert.deepEqual(wide?.matches, narrow?.matches);
  });

  it("[V11] get answers the float32 values as written, or the direction where the capability says so", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition(PARTITION_KEY);
    const vectors = [
      [3, 4, 0],
      [0.1, -0.2, 1e-7],
      [1e20, 2 ** -140, -0],
    ];
    await partition.upsert(vectors.map((vector, index) => ({ id: `r${index}`, vector })));
    for (const [index, vector] of vectors.entries()) {
      const stored = only(await partition.get([`r${index}`], { includeVectors: true }))?.vector;
      assert.ok(stored instanceof Float32Array, "a vector is read as a Float32Array");
      const scale = store.capabilities.exactVectors ? 1 : Math.hypot(...vector) / Math.hypot(...stored);
      const tolerance = store.capabilities.exactVectors ? 0 : 1e-5 * Math.hypot(...vector);
      for (const [axis, component] of vector.entries()) {
        const difference = Math.abs((stored[axis] ?? Number.NaN) * scale - Math.fround(component));
        assert.ok(difference <= tolerance, `component ${axis} differs by ${difference}`);
      }
    }
  });

  it("[V11] vectors are answered only when they are asked for, by every read", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert([{ id: "a", vector: [1, 2, 3] }]);
    assert.equal("vector" in only((await partition.query({ vector: [1, 2, 3] })).matches), false);
    assert.equal("vector" in (only(await partition.get(["a"])) ?? {}), false);
    const { matches } = await partition.query({ vector: [1, 2, 3], includeVectors: true });
    assert.equal(only(matches).vector?.length, 3);
    for await (const page of partition.scan({ includeVectors: true }))
      assert.equal(only(page.records).vector?.length, 3);
  });
}
