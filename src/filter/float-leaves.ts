import type { Comparison } from "../contract/filter-tree.ts";
import type { ColumnNode } from "./column-node.ts";
import { hashPair, PairSet } from "./pair-set.ts";

/** Values are finite, or the NaN of an absent one. `<=` and `>=` are used where `===` would do: they compile to half as much. */
export function floatIsNull(values: Float64Array): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      const floats = values;
      for (let row = from; row < to; row += 1) {
        bytes[row - from] = Number((floats[row] as number) <= Number.MAX_VALUE) ^ 1;
      }
    },
    admits: (row) => Number.isNaN(values[row]),
  };
}

export function floatEquals(values: Float64Array, wanted: number): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      const [floats, value] = [values, wanted];
      for (let row = from; row < to; row += 1) {
        const float = floats[row] as number;
        bytes[row - from] = Number(float >= value) & Number(float <= value);
      }
    },
    admits: (row) => values[row] === wanted,
  };
}

/** By bits: there is one zero, and the NaN of an absent value is in no set. */
export function floatIn(values: Float64Array, wanted: readonly number[]): ColumnNode {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const wantedBits = new Int32Array(new Float64Array(wanted.map((value) => (value === 0 ? 0 : value))).buffer);
  const set = new PairSet(wanted.length);
  for (let index = 0; index < wantedBits.length; index += 2) {
    set.add(wantedBits[index] as number, wantedBits[index + 1] as number);
  }
  return {
    fill(from, to, { bytes }) {
      const [halves, { used, mask }] = [bits, set];
      for (let row = from; row < to; row += 1) {
        const first = halves[row * 2] as number;
        const second = halves[row * 2 + 1] as number;
        bytes[row - from] = used[hashPair(first, second) & mask] === 1 ? set.has(first, second) : 0;
      }
    },
    admits: (row) => set.has(bits[row * 2] as number, bits[row * 2 + 1] as number) === 1,
  };
}

/** x <= v is x < the next float above v; every comparison with NaN, the absent value, is false. */
export function floatOrdering(values: Float64Array, comparison: Comparison, value: number): ColumnNode {
  switch (comparison) {
    case "<":
      return floatBelow(values, value);
    case "<=":
      return floatBelow(values, nextAbove(value));
    case ">":
      return floatAbove(values, value);
    case ">=":
      return floatAbove(values, -nextAbove(-value));
    default:
      return comparison satisfies never;
  }
}

function floatBelow(values: Float64Array, limit: number): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      for (let row = from; row < to; row += 1) bytes[row - from] = Number((values[row] as number) < limit);
    },
    admits: (row) => (values[row] as number) < limit,
  };
}

function floatAbove(values: Float64Array, limit: number): ColumnNode {
  return {
    fill(from, to, { bytes }) {
      for (let row = from; row < to; row += 1) bytes[row - from] = Number((values[row] as number) > limit);
    },
    admits: (row) => (values[row] as number) > limit,
  };
}

/** The smallest float above a finite one; Infinity above the largest. */
function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const float = new Float64Array([value]);
  const bits = new BigInt64Array(float.buffer);
  bits[0] = (bits[0] as bigint) + (value > 0 ? 1n : -1n);
  return float[0] as number;
}
