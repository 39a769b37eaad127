import { describe, expect, it } from "vitest";
import { type Chunk, ChunkPool } from "../../../src/backends/embedded/kernel/chunk-pool.ts";
import { norms, prepareQuery, scoreRows, selectRows } from "../../../src/backends/embedded/kernel/kernel.ts";
import { fillHostile, hostileVector, nextFloat32, seededRandom } from "./vectors.ts";

const DIMENSIONS = [...Array.from({ length: 35 }, (_, index) => index + 1), 127, 384, 385, 1536, 16_383, 16_384];

const pool = new ChunkPool();
const chunk = pool.allocate("large");

interface Rows {
  readonly rows: number;
  readonly dimensions: number;
  readonly query: Float32Array;
}

/** The quotients that decide about a selection, and what is selected for a least one. */
function scored({ rows, dimensions, query }: Rows, held: Chunk = chunk) {
  const prepared = prepareQuery(query);
  const lengths = new Float64Array(rows);
  norms(held, { from: 0, to: rows, dimensions }, lengths);
  const dots = new Float64Array(rows);
  scoreRows(held, rows, prepared, dots);
  const cosines = Array.from(dots, (dot, row) => dot / ((lengths[row] as number) * prepared.norm));
  const select = (minCosine: number): readonly number[] | undefined => {
    const out = new Uint32Array(rows);
    const count = selectRows(held, prepared, { rows, minCosine, norms: lengths }, out);
    return count === undefined ? undefined : [...out.subarray(0, count)];
  };
  return { cosines, select };
}

/** Rows that reach `minCosine` and were not selected: none may be. */
function missed({ cosines, select }: ReturnType<typeof scored>, minCosine: number): readonly number[] {
  const selected = new Set(select(minCosine));
  return cosines.flatMap((cosine, row) => (cosine >= minCosine && !selected.has(row) ? [row] : []));
}

function fillRows(rows: number, dimensions: number, fill: (row: Float32Array, number: number) => void): void {
  for (let row = 0; row < rows; row += 1) fill(chunk.floats.subarray(row * dimensions, (row + 1) * dimensions), row);
}

describe("selecting the rows that may win", () => {
  it("[Q1] leaves out no row that reaches the least cosine, whatever the dimensions and magnitudes", () => {
    const random = seededRandom(11);
    for (const dimensions of DIMENSIONS) {
      const rows = Math.min(41, Math.floor(chunk.byteLength / (dimensions * 4)));
      fillRows(rows, dimensions, (row) => fillHostile(row, random));
      const search = scored({ rows, dimensions, query: hostileVector(dimensions, random) });
      for (const minCosine of [-0.5, 0, 0.3, ...search.cosines.filter((cosine) => cosine >= -1)])
        expect(missed(search, minCosine), `${dimensions} dimensions, ${minCosine}`).toEqual([]);
    }
  });

  it("[Q1] near-duplicates, whose order float32 sums get wrong, are all selected", () => {
    const dimensions = 384;
    const random = seededRandom(12);
    const query = Float32Array.from({ length: dimensions }, () => random() + 0.1);
    fillRows(400, dimensions, (row, number) => {
      row.set(query);
      row[number % dimensions] = nextFloat32(row[number % dimensions] as number);
    });
    const search = scored({ rows: 400, dimensions, query });
    for (const minCosine of [...search.cosines].sort((a, b) => b - a).slice(0, 20))
      expect(missed(search, minCosine)).toEqual([]);
  });

  it("[Q1] the bound holds where float32 sums swallow what is added to them", () => {
    for (const dimensions of [64, 385, 1536]) {
      const query = new Float32Array(dimensions).fill(1);
      // Each lane starts with 2^24 and loses every 1 behind it, or starts with its negative.
      fillRows(16, dimensions, (row, number) => {
        row.fill(1);
        row.fill(number % 2 === 0 ? 2 ** 24 : -(2 ** 24), 0, 8);
        row[dimensions - 1] = number;
      });
      const search = scored({ rows: 16, dimensions, query });
      for (const minCosine of search.cosines) expect(missed(search, minCosine)).toEqual([]);
    }
  });

  it("[Q1] sums that overflow or underflow on their way say nothing, and are scored", () => {
    const dimensions = 32;
    const huge = new Float32Array(dimensions).fill(3e38);
    fillRows(3, dimensions, (row, number) => {
      row.fill(3e38);
      // The lanes overflow to opposite infinities, to +∞ and to −∞.
      if (number === 0) for (let i = 1; i < dimensions; i += 2) row[i] = -3e38;
      if (number === 2) for (let i = 0; i < dimensions - 2; i += 1) row[i] = i % 8 === 3 ? -3e38 : 3e38;
    });
    const overflowing = scored({ rows: 3, dimensions, query: huge });
    for (const minCosine of overflowing.cosines) expect(missed(overflowing, minCosine)).toEqual([]);

    const tiny = new Float32Array(dimensions).fill(2 ** -80);
    fillRows(3, dimensions, (row, number) => row.fill(number === 1 ? -(2 ** -80) : 2 ** -80));
    const underflowing = scored({ rows: 3, dimensions, query: tiny });
    for (const minCosine of underflowing.cosines) expect(missed(underflowing, minCosine)).toEqual([]);
  });

  it("leaves out nearly all of the others", () => {
    const dimensions = 384;
    const random = seededRandom(13);
    fillRows(2_500, dimensions, (row) => row.set(Float32Array.from(row, () => random() - 0.5)));
    const query = Float32Array.from({ length: dimensions }, () => random() - 0.5);
    const search = scored({ rows: 2_500, dimensions, query });
    const tenth = [...search.cosines].sort((a, b) => b - a)[9] as number;
    expect(search.select(tenth)?.length).toBeLessThan(15);
  });

  it("answers nothing where TypeScript computes: there every row is scored", () => {
    const held = new ChunkPool({ kernel: "fallback" }).allocate("small");
    held.floats.fill(1);
    expect(scored({ rows: 4, dimensions: 8, query: new Float32Array(8).fill(1) }, held).select(0)).toBeUndefined();
  });
});
