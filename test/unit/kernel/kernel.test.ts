import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Chunk, ChunkPool } from "../../../src/backends/embedded/kernel/chunk-pool.ts";
import { norms, prepareQuery, scoreRows, scoreSlots } from "../../../src/backends/embedded/kernel/kernel.ts";
import { KERNEL_SOURCE_SHA256 } from "../../../src/backends/embedded/kernel/kernel-bytes.ts";
import { dotProduct, fallbackKernel } from "../../../src/backends/embedded/kernel/kernel-fallback.ts";
import { fillHostile, firstDifference, hostileVector, seededRandom } from "./vectors.ts";

const pool = new ChunkPool();
const small = pool.allocate("small");
const large = pool.allocate("large");

/** Every length of the tail, the usual sizes, and random ones up to the limit. */
const DIMENSIONS = [
  ...Array.from({ length: 41 }, (_, index) => index + 1),
  ...[127, 128, 129, 383, 384, 385, 768, 1023, 1024, 1100, 1536, 3072, 16_381, 16_383, 16_384],
  ...randomDimensions(60),
];

function randomDimensions(count: number): number[] {
  const random = seededRandom(7);
  return Array.from({ length: count }, () => 1 + Math.floor(random() * 1100));
}

function rowsOf(chunk: Chunk, dimensions: number, max: number): number {
  return Math.min(max, Math.floor(chunk.byteLength / (dimensions * 4)));
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe("the order of additions", () => {
  it("[Q1] adds element i to lane i mod 4 and the lanes as (l0 + l2) + (l1 + l3)", () => {
    const big = 2 ** 60;
    const cases: readonly (readonly [readonly number[], number])[] = [
      [[big, 1, -big, 1], 2],
      [[big, 1, 1, -big], 0],
      [[big, 0, 0, 0, -big, 1, 1, 1], 3],
      [[big, 0, 0, 0, 1, 0, 0, 0, -big], 0],
      [[0, big, 0, 0, 1, -big, 0], 1],
      [[0, 0, big, 0, 1, 1, -big], 2],
      [[1, big, -big], 0],
    ];
    const chunks = [pool.allocate("small"), new ChunkPool({ kernel: "fallback" }).allocate("small")];
    const out = new Float64Array(1);
    for (const [row, expected] of cases) {
      for (const chunk of chunks) {
        chunk.floats.set(row);
        scoreRows(chunk, 1, prepareQuery(new Float32Array(row.length).fill(1)), out);
        expect(out[0], `${chunk.kernel.kind} ${row.join()}`).toBe(expected);
      }
    }
  });

  it("[Q1] runs WebAssembly where the runtime has it", () => {
    expect(small.kernel.kind).toBe("wasm");
  });

  it("[Q1] WebAssembly and TypeScript answer the same bits for rows of any dimensions and magnitude", () => {
    const random = seededRandom(1);
    for (const dimensions of DIMENSIONS) {
      const chunk = dimensions > 300 ? large : small;
      const rows = rowsOf(chunk, dimensions, 37);
      fillHostile(chunk.floats.subarray(0, rows * dimensions), random);
      const query = prepareQuery(hostileVector(dimensions, random));
      const seen = new Float64Array(rows);
      const expected = new Float64Array(rows);
      scoreRows(chunk, rows, query, seen);
      fallbackKernel.scoreRows(chunk, rows, query, expected);
      expect(firstDifference(seen, expected), `dimensions ${dimensions}`).toBe(-1);
      expect(seen.every(Number.isFinite)).toBe(true);
    }
  });

  it("[Q1] a row's score is the same alone, among others and by slot", () => {
    const random = seededRandom(2);
    for (const dimensions of [1, 2, 3, 5, 96, 383, 384, 1536]) {
      const rows = rowsOf(large, dimensions, 500);
      fillHostile(large.floats.subarray(0, rows * dimensions), random);
      const query = prepareQuery(hostileVector(dimensions, random));
      const all = new Float64Array(rows);
      scoreRows(large, rows, query, all);
      for (const count of [1, 2, 3, 4, 5, 6, 7, 102, rows - 1]) {
        const some = new Float64Array(count);
        scoreRows(large, count, query, some);
        expect(firstDifference(some, all.slice(0, count))).toBe(-1);
        const slots = Uint32Array.from({ length: count }, () => Math.floor(random() * rows));
        scoreSlots(large, slots, query, some);
        expect(
          firstDifference(
            some,
            Float64Array.from(slots, (slot) => all[slot] ?? Number.NaN),
          ),
        ).toBe(-1);
      }
    }
  });

  it("[Q1] scores more rows than one call holds", () => {
    const rows = 20_000;
    const dimensions = 3;
    fillHostile(large.floats.subarray(0, rows * dimensions), seededRandom(3));
    const query = prepareQuery(new Float32Array([1, -2, 3]));
    const expected = new Float64Array(rows);
    fallbackKernel.scoreRows(large, rows, query, expected);
    const seen = new Float64Array(rows);
    scoreRows(large, rows, query, seen);
    expect(firstDifference(seen, expected)).toBe(-1);
    const slots = Uint32Array.from({ length: rows }, (_, index) => rows - 1 - index);
    scoreSlots(large, slots, query, seen);
    expect(firstDifference(seen, expected.slice().reverse())).toBe(-1);
  });

  it("[Q1] norms are the roots of the row's product with itself, the same bits on both", () => {
    const random = seededRandom(4);
    for (const dimensions of DIMENSIONS) {
      const rows = rowsOf(small, dimensions, 9);
      fillHostile(small.floats.subarray(0, rows * dimensions), random);
      const seen = new Float64Array(rows).fill(-7);
      norms(small, { from: 1, to: rows, dimensions }, seen);
      expect(seen[0]).toBe(rows > 1 ? -7 : seen[0]);
      const expected = new Float64Array(rows).fill(-7);
      fallbackKernel.norms(small, { from: 1, to: rows, dimensions }, expected);
      expect(firstDifference(seen, expected)).toBe(-1);
      const last = small.floats.slice((rows - 1) * dimensions, rows * dimensions);
      if (rows > 1) expect(seen[rows - 1]).toBe(prepareQuery(last).norm);
    }
  });

  it("[Q1] computes norms of more rows than one call holds", () => {
    const rows = 20_000;
    fillHostile(large.floats.subarray(0, rows * 2), seededRandom(5));
    const seen = new Float64Array(rows);
    const expected = new Float64Array(rows);
    norms(large, { from: 3, to: rows, dimensions: 2 }, seen);
    fallbackKernel.norms(large, { from: 3, to: rows, dimensions: 2 }, expected);
    expect(firstDifference(seen, expected)).toBe(-1);
  });

  it("[Q1] keeps subnormal float32 values exact", () => {
    const tiny = 2 ** -149;
    small.floats.set([tiny, -tiny, 3 * tiny, tiny, 5 * tiny]);
    const out = new Float64Array(1);
    scoreRows(small, 1, prepareQuery(new Float32Array([1, 1, 1, 1, tiny])), out);
    expect(out[0]).toBe(4 * tiny + 5 * tiny * tiny);
    norms(small, { from: 0, to: 1, dimensions: 1 }, out);
    expect(out[0]).toBe(tiny);
  });
});

describe("queries and bounds", () => {
  it("[Q1] alternating queries each get their own scores, in every memory", () => {
    const pool2 = new ChunkPool({ memoryBytesMax: 8 * 1024 * 1024 });
    const chunks = [pool2.allocate("large"), pool2.allocate("large")];
    expect(new Set(chunks.map(({ memory }) => memory)).size).toBe(2);
    const queries = [prepareQuery(new Float32Array([1, 2])), prepareQuery(new Float32Array([3, -4, 5]))];
    const out = new Float64Array(1);
    for (const chunk of chunks) chunk.floats.set([1, 1, 1]);
    for (const expected of [3, 4, 3, 4]) {
      for (const chunk of chunks) {
        scoreRows(chunk, 1, queries[expected - 3] ?? prepareQuery(out), out);
        expect(out[0]).toBe(expected);
      }
    }
  });

  it("[Q1] a prepared query does not follow later changes of the caller's array", () => {
    const vector = new Float32Array([1, 2]);
    const query = prepareQuery(vector);
    vector.fill(9);
    small.floats.set([1, 1]);
    const out = new Float64Array(1);
    scoreRows(small, 1, query, out);
    expect(out[0]).toBe(3);
  });

  it("[Q8] refuses rows, slots and ranges outside the chunk, and arrays too short for the answer", () => {
    const query = prepareQuery(new Float32Array(384).fill(1));
    const fits = Math.floor(small.byteLength / (384 * 4));
    const out = new Float64Array(fits + 1);
    expect(() => scoreRows(small, fits, query, out)).not.toThrow();
    expect(() => scoreRows(small, fits + 1, query, out)).toThrow(/outside its chunk/);
    expect(() => scoreRows(small, 2, query, new Float64Array(1))).toThrow(/too short/);
    expect(() => scoreRows(small, 1.5, query, out)).toThrow(/fractional/);
    expect(() => scoreSlots(small, Uint32Array.of(0, fits), query, out)).toThrow(/outside its chunk/);
    expect(() => scoreSlots(small, Uint32Array.of(0, 2 ** 32 - 1), query, out)).toThrow(/outside its chunk/);
    expect(() => scoreSlots(small, Uint32Array.of(0, 1), query, new Float64Array(1))).toThrow(/too short/);
    expect(() => norms(small, { from: 0, to: fits + 1, dimensions: 384 }, out)).toThrow(/outside its chunk/);
    expect(() => norms(small, { from: -1, to: 1, dimensions: 384 }, out)).toThrow(/negative/);
    expect(() => prepareQuery(new Float32Array(0))).toThrow(/dimensions/);
    expect(() => prepareQuery(new Float32Array(16_385))).toThrow(/dimensions/);
  });

  it("[Q1] no rows and no slots are no work", () => {
    const out = new Float64Array(0);
    scoreRows(small, 0, prepareQuery(new Float32Array([1])), out);
    scoreSlots(small, new Uint32Array(0), prepareQuery(new Float32Array([1])), out);
    norms(small, { from: 0, to: 0, dimensions: 1 }, out);
  });
});

describe("where the kernel comes from", () => {
  it("[Q1] the module was built from the kernel.c beside it", () => {
    const source = readFileSync(new URL("../../../src/backends/embedded/kernel/kernel.c", import.meta.url));
    expect(KERNEL_SOURCE_SHA256, "run: node scripts/build-kernel.js").toBe(
      createHash("sha256").update(source).digest("hex"),
    );
  });

  it.each([
    ["WebAssembly", "WebAssembly", undefined],
    ["SIMD", "WebAssembly", { validate: () => false }],
    ["shared memories", "SharedArrayBuffer", undefined],
  ])("[Q1] without %s chunks are on the heap and scores are the same", async (_what, name, value) => {
    vi.stubGlobal(name, value);
    const pools = await import("../../../src/backends/embedded/kernel/chunk-pool.ts");
    const chunk = new pools.ChunkPool().allocate("small");
    expect(chunk.kernel.kind).toBe("fallback");
    fillHostile(chunk.floats, seededRandom(6));
    small.bytes.set(chunk.bytes);
    const query = prepareQuery(hostileVector(101, seededRandom(8)));
    const seen = new Float64Array(100);
    const expected = new Float64Array(100);
    scoreRows(chunk, 100, query, seen);
    scoreRows(small, 100, query, expected);
    expect(firstDifference(seen, expected)).toBe(-1);
  });

  it("[Q1] one product of two rows has the same bits as a query against a row", () => {
    const random = seededRandom(9);
    const a = hostileVector(777, random);
    const b = hostileVector(777, random);
    small.floats.set(a);
    const out = new Float64Array(1);
    scoreRows(small, 1, prepareQuery(b), out);
    expect(dotProduct(a, 0, b)).toBe(out[0]);
  });
});
