import type { Chunk, Kernel, PreparedQuery, RowRange } from "./chunk.ts";

/**
 * The dot product of a float32 row and float64 values, in the lane order that defines every score (Q1):
 * element i is added to lane i mod 4, then (l0 + l2) + (l1 + l3). Bit for bit what kernel.c does.
 *
 * @param row - float32 or float64 values that are float32; `values.length` of them are read from `start`
 */
export function dotProduct(
  row: Float32Array | Float64Array,
  start: number,
  values: Float32Array | Float64Array,
): number {
  let lane0 = 0;
  let lane1 = 0;
  let lane2 = 0;
  let lane3 = 0;
  const dimensions = values.length;
  const whole = dimensions - (dimensions % 4);
  // Indexes are in range: callers check the row against its chunk once.
  for (let i = 0; i < whole; i += 4) {
    lane0 += (row[start + i] as number) * (values[i] as number);
    lane1 += (row[start + i + 1] as number) * (values[i + 1] as number);
    lane2 += (row[start + i + 2] as number) * (values[i + 2] as number);
    lane3 += (row[start + i + 3] as number) * (values[i + 3] as number);
  }
  if (whole < dimensions) lane0 += (row[start + whole] as number) * (values[whole] as number);
  if (whole + 1 < dimensions) lane1 += (row[start + whole + 1] as number) * (values[whole + 1] as number);
  if (whole + 2 < dimensions) lane2 += (row[start + whole + 2] as number) * (values[whole + 2] as number);
  return lane0 + lane2 + (lane1 + lane3);
}

/** The norm of a vector of float32 values, in float64 and the fixed lane order. */
export function normOf(vector: Float32Array | Float64Array): number {
  return Math.sqrt(dotProduct(vector, 0, vector));
}

/** The kernel in TypeScript: for runtimes without shared memories or SIMD, and the oracle of the tests. */
export const fallbackKernel: Kernel = {
  kind: "fallback",

  scoreRows(chunk: Chunk, rows: number, query: PreparedQuery, out: Float64Array): void {
    const { dimensions, values } = query;
    for (let row = 0; row < rows; row += 1) out[row] = dotProduct(chunk.floats, row * dimensions, values);
  },

  scoreSlots(chunk: Chunk, slots: Uint32Array, query: PreparedQuery, out: Float64Array): void {
    const { dimensions, values } = query;
    for (let i = 0; i < slots.length; i += 1) {
      out[i] = dotProduct(chunk.floats, (slots[i] as number) * dimensions, values);
    }
  },

  // In TypeScript float32 is no faster than float64.
  estimateRows: () => false,

  norms(chunk: Chunk, range: RowRange, out: Float64Array): void {
    const { from, to, dimensions } = range;
    for (let row = from; row < to; row += 1) {
      out[row] = normOf(chunk.floats.subarray(row * dimensions, (row + 1) * dimensions));
    }
  },
};
