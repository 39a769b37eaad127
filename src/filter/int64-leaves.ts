import type { Comparison } from "../contract/filter-tree.ts";
import { INT64_MAX } from "../contract/property-values.ts";
import { bytesEqual } from "./code-leaves.ts";
import { type ColumnNode, constantNode } from "./column-node.ts";
import { type Int64Storage, splitInt64 } from "./column-storage.ts";
import { int32Below, int32Equals, presentAnd } from "./int32-leaves.ts";
import { hashPair, PairSet } from "./pair-set.ts";

/**
 * The loops below copy what they read into locals: read through the closure, each array would be fetched again in
 * every turn, which costs a quarter of the time.
 */
type Int64Arrays = Pick<Int64Storage, "high" | "low" | "present" | "isNarrow" | "isComplete">;

export function int64Equals(arrays: Int64Arrays, value: bigint): ColumnNode {
  if (arrays.isNarrow) return narrowEquals(arrays, value);
  const { high, low, present } = arrays;
  const { high: wantedHigh, low: wantedLow } = splitInt64(value);
  return {
    fill(from, to, { bytes }) {
      const [lows, highs, presence, lowHalf, highHalf] = [low, high, present, wantedLow, wantedHigh];
      for (let row = from; row < to; row += 1) {
        const isSame = Number(lows[row] === lowHalf) & Number(highs[row] === highHalf);
        bytes[row - from] = isSame & (presence[row] as number);
      }
    },
    admits: (row) => low[row] === wantedLow && high[row] === wantedHigh && present[row] === 1,
  };
}

export function int64In({ high, low, present }: Int64Arrays, values: readonly bigint[]): ColumnNode {
  const set = new PairSet(values.length);
  for (const value of values) {
    const wanted = splitInt64(value);
    set.add(wanted.high, wanted.low | 0);
  }
  return {
    fill(from, to, { bytes }) {
      const [lows, highs, presence, { used, mask }] = [low, high, present, set];
      for (let row = from; row < to; row += 1) {
        const first = highs[row] as number;
        const second = (lows[row] as number) | 0;
        const isLikely = used[hashPair(first, second) & mask] === 1;
        bytes[row - from] = isLikely ? set.has(first, second) & (presence[row] as number) : 0;
      }
    },
    admits: (row) => present[row] === 1 && set.has(high[row] as number, (low[row] as number) | 0) === 1,
  };
}

/** All four orders are "below" one limit, or not: x <= v is x < v + 1. */
export function int64Ordering(arrays: Int64Arrays, comparison: Comparison, value: bigint): ColumnNode {
  const isBelow = comparison === "<" || comparison === "<=";
  if (comparison === "<" || comparison === ">=") return int64Below(arrays, value, isBelow);
  if (value < INT64_MAX) return int64Below(arrays, value + 1n, isBelow);
  return everyPresent(arrays, isBelow);
}

function everyPresent({ present }: Int64Arrays, admitted: boolean): ColumnNode {
  return admitted ? bytesEqual(present, 1) : constantNode(false);
}

function int64Below(arrays: Int64Arrays, limit: bigint, wanted: boolean): ColumnNode {
  if (arrays.isNarrow) return narrowBelow(arrays, limit, wanted);
  const { high, low, present } = arrays;
  const { high: limitHigh, low: limitLow } = splitInt64(limit);
  const flip = wanted ? 0 : 1;
  return {
    fill(from, to, { bytes }) {
      const [lows, highs, presence, lowLimit, highLimit] = [low, high, present, limitLow, limitHigh];
      const flipped = flip;
      for (let row = from; row < to; row += 1) {
        const half = highs[row] as number;
        const lowIsBelow = Number(half === highLimit) & Number((lows[row] as number) < lowLimit);
        bytes[row - from] = ((Number(half < highLimit) | lowIsBelow) ^ flipped) & (presence[row] as number);
      }
    },
    admits(row) {
      const half = high[row] as number;
      const isBelow = half < limitHigh || (half === limitHigh && (low[row] as number) < limitLow);
      return isBelow === wanted && present[row] === 1;
    },
  };
}

/** Literals beyond are answered without a loop, which is compiled for int32 on both sides and stays so. */
const INT32_MIN = -2_147_483_648n;
const INT32_MAX = 2_147_483_647n;

/** As {@link int64Equals} where every value is an int32: half of the bytes are read. */
function narrowEquals(arrays: Int64Arrays, value: bigint): ColumnNode {
  if (value < INT32_MIN || value > INT32_MAX) return constantNode(false);
  return wherePresent(arrays, int32Equals(signedOf(arrays), Number(value)));
}

/** As {@link int64Below} where every value is an int32. */
function narrowBelow(arrays: Int64Arrays, limit: bigint, wanted: boolean): ColumnNode {
  if (limit <= INT32_MIN) return everyPresent(arrays, !wanted);
  if (limit > INT32_MAX) return everyPresent(arrays, wanted);
  return wherePresent(arrays, int32Below(signedOf(arrays), Number(limit), wanted));
}

function signedOf({ low }: Int64Arrays): Int32Array {
  return new Int32Array(low.buffer, low.byteOffset, low.length);
}

function wherePresent({ present, isComplete }: Int64Arrays, operand: ColumnNode): ColumnNode {
  return isComplete ? operand : presentAnd(present, operand);
}
