import { LIMITS } from "../../../contract/limits.ts";
import { HoldfastError } from "../../../errors/index.ts";
import type { Chunk, PreparedQuery, RowRange } from "./chunk.ts";
import { cosineErrorMax, underflowErrorMax } from "./estimate.ts";
import { normOf } from "./kernel-fallback.ts";

export type { Kernel, PreparedQuery, RowRange } from "./chunk.ts";

/**
 * A copy of `vector`, ready to be scored against many chunks.
 *
 * @param vector - shape [dimensions], 1…16,384 finite values that are float32 (rounded before, V10)
 */
export function prepareQuery(vector: Float32Array | Float64Array): PreparedQuery {
  assertDimensions(vector.length);
  const values = new Float64Array(vector);
  return { dimensions: values.length, values, singles: new Float32Array(vector), norm: normOf(values) };
}

/**
 * Dot products of `query` with the first `rows` rows of `chunk`, in float64 and one fixed order of
 * additions, the same bits whatever computes them (Q1).
 *
 * @param out - shape [≥ rows]; `out[slot]` is the dot product with row `slot`
 */
export function scoreRows(chunk: Chunk, rows: number, query: PreparedQuery, out: Float64Array): void {
  assertRows(chunk, rows, query.dimensions);
  assertRoom(out, rows);
  chunk.kernel.scoreRows(chunk, rows, query, out);
}

/**
 * Dot products of `query` with the rows that `slots` names, the same bits as {@link scoreRows}.
 * Above about a third of a chunk's rows, {@link scoreRows} over all of them is faster.
 *
 * @param slots - any order, repetitions allowed; fastest when ascending
 * @param out - shape [≥ slots.length]; `out[i]` belongs to `slots[i]`
 */
export function scoreSlots(chunk: Chunk, slots: Uint32Array, query: PreparedQuery, out: Float64Array): void {
  let rows = 0;
  for (let i = 0; i < slots.length; i += 1) {
    const slot = slots[i] as number;
    if (slot >= rows) rows = slot + 1;
  }
  // Each slot is checked: one past the chunk would read another partition's rows.
  assertRows(chunk, rows, query.dimensions);
  assertRoom(out, slots.length);
  chunk.kernel.scoreSlots(chunk, slots, query, out);
}

/** Which rows are looked for. */
export interface Reach {
  /** The first so many rows of a chunk. */
  readonly rows: number;
  /** In [−1, 1]. */
  readonly minCosine: number;
  /** By slot. */
  readonly norms: Float64Array;
}

/**
 * Slots of the rows whose cosine with `query` may reach `minCosine`: all that do, and a few that fall short by less
 * than the error of a float32 sum. Much faster than {@link scoreRows}, so that only what may win is scored.
 *
 * @param out - shape [≥ rows]; the slots, ascending
 * @returns how many, or `undefined` where this kernel scores as fast as it would select
 */
export function selectRows(
  chunk: Chunk,
  query: PreparedQuery,
  { rows, minCosine, norms }: Reach,
  out: Uint32Array,
): number | undefined {
  assertRows(chunk, rows, query.dimensions);
  assertRoom(norms, rows);
  assertRoom(out, rows);
  const scale = (minCosine - cosineErrorMax(query.dimensions)) * query.norm;
  const absolute = underflowErrorMax(query.dimensions);
  let selected = 0;
  const selects = chunk.kernel.estimateRows(chunk, rows, query, (estimates, from) => {
    for (let i = 0; i < estimates.length; i += 1) {
      const estimate = estimates[i] as number;
      // Infinite and NaN sums have overflowed on the way and say nothing: such rows are scored.
      if (estimate < scale * (norms[from + i] as number) - absolute && estimate > Number.NEGATIVE_INFINITY) continue;
      out[selected] = from + i;
      selected += 1;
    }
  });
  return selects ? selected : undefined;
}

/**
 * Norms of the rows of `range`, in float64.
 *
 * @param out - shape [≥ range.to]; `out[slot]` is the norm of row `slot`, others stay as they are
 */
export function norms(chunk: Chunk, range: RowRange, out: Float64Array): void {
  const { from, to, dimensions } = range;
  assertDimensions(dimensions);
  assertRows(chunk, to, dimensions);
  assertCount(from);
  assertRoom(out, to);
  chunk.kernel.norms(chunk, range, out);
}

function assertDimensions(dimensions: number): void {
  if (Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= LIMITS.dimensionsMax) return;
  throw new HoldfastError("BUG", "A vector of the kernel has no, too many or fractional dimensions.", {
    details: { dimensions, dimensionsMax: LIMITS.dimensionsMax },
  });
}

function assertRows(chunk: Chunk, rows: number, dimensions: number): void {
  assertCount(rows);
  if (rows * dimensions * 4 <= chunk.byteLength) return;
  throw new HoldfastError("BUG", "A row lies outside its chunk.", {
    details: { rows, dimensions, byteLength: chunk.byteLength },
  });
}

function assertCount(count: number): void {
  if (Number.isInteger(count) && count >= 0) return;
  throw new HoldfastError("BUG", "A count of rows is negative or fractional.", { details: { count } });
}

function assertRoom(out: Float64Array | Uint32Array, count: number): void {
  if (out.length >= count) return;
  throw new HoldfastError("BUG", "The array for scores is too short.", { details: { count, length: out.length } });
}
