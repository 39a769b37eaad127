import { expect, it } from "vitest";
import { cosine } from "../../../src/backends/embedded/kernel/cosine.ts";
import { dotProduct, normOf } from "../../../src/backends/embedded/kernel/kernel-fallback.ts";
import { nextFloat32, seededRandom } from "../kernel/vectors.ts";
import { openBed } from "./stores.ts";

const DIMENSIONS = 1_024;
const COUNT = 3_000;

const random = seededRandom(21);
const BASE = Float32Array.from({ length: DIMENSIONS }, () => random() + 0.05);

/** Vectors that differ from one another in the last bit of one component or two; some are equal. */
function nearDuplicate(number: number): Float32Array {
  const vector = BASE.slice();
  for (const at of [number % DIMENSIONS, (number * 7) % DIMENSIONS]) vector[at] = nextFloat32(vector[at] as number);
  return vector;
}

it("[Q1, Q3, Q6] thousands of near-duplicates over several blocks are ranked by their exact cosines, ties by id", async () => {
  const { partition } = await openBed({ dimensions: DIMENSIONS, properties: { n: "int" } });
  const records = Array.from({ length: COUNT }, (_, n) => ({
    id: `r${String(n).padStart(4, "0")}`,
    vector: nearDuplicate(n),
    properties: { n },
  }));
  await partition.upsert(records);
  const query = new Float64Array(BASE);
  const norm = normOf(query);
  const exact = records
    .map(({ id, vector, properties }) => {
      const row = new Float64Array(vector);
      return { id, n: properties.n, score: cosine(dotProduct(row, 0, query), normOf(row), norm) };
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  for (const { where, admits } of [
    { where: "", admits: () => true },
    { where: "n >= 1000", admits: (n: number) => n >= 1_000 },
    { where: "n > 100 AND n < 200", admits: (n: number) => n > 100 && n < 200 },
  ]) {
    for (const limit of [1, 10, 700]) {
      const { matches } = await partition.query({ vector: BASE, limit, where });
      expect(matches.map(({ id, cosineSimilarity }) => [id, cosineSimilarity])).toEqual(
        exact
          .filter(({ n }) => admits(n))
          .slice(0, limit)
          .map(({ id, score }) => [id, score]),
      );
    }
  }
});
