import type { Comparison } from "../contract/filter-tree.ts";
import { type BoundValue, INT64_MAX } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "./bound-filter.ts";
import { type ColumnNode, constant } from "./column-node.ts";
import {
  type BoolStorage,
  type FloatStorage,
  type Int64Storage,
  type StringStorage,
  splitInt64,
} from "./column-storage.ts";
import type { Columns } from "./columns.ts";
import { PairSet } from "./pair-set.ts";

type Leaf = Extract<BoundFilter, { op: "isNull" | "equals" | "ordering" | "in" }>;

/**
 * A leaf over one column: a tight loop over typed arrays, constant work a row. The arrays are held, not the
 * storage, so that a column that grows meanwhile moves nothing under a running filter.
 */
export function prepareLeaf(leaf: Leaf, columns: Columns): ColumnNode {
  const storage = columns.storage(leaf.field.name);
  switch (storage.type) {
    case "int64":
      return int64Leaf(leaf, storage);
    case "float":
      return floatLeaf(leaf, storage);
    case "string":
      return stringLeaf(leaf, storage);
    case "bool":
      return boolLeaf(leaf, storage);
    default:
      return storage satisfies never;
  }
}

function int64Leaf(leaf: Leaf, { high, low, present }: Int64Storage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return byteEquals(present, 0);
    case "equals":
      return int64Equals({ high, low, present }, toBigint(leaf.value));
    case "in":
      return int64In({ high, low, present }, leaf.values.map(toBigint));
    case "ordering":
      return int64Ordering({ high, low, present }, leaf.comparison, toBigint(leaf.value));
    default:
      return leaf satisfies never;
  }
}

type Int64Arrays = Pick<Int64Storage, "high" | "low" | "present">;

function int64Equals({ high, low, present }: Int64Arrays, value: bigint): ColumnNode {
  const wanted = splitInt64(value);
  const wantedHigh = wanted.high;
  const wantedLow = wanted.low;
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) {
        mask[row + shift] = low[row] === wantedLow && high[row] === wantedHigh ? (present[row] as number) : 0;
      }
    },
    admits: (row) => low[row] === wantedLow && high[row] === wantedHigh && present[row] === 1,
  };
}

function int64In({ high, low, present }: Int64Arrays, values: readonly bigint[]): ColumnNode {
  const set = new PairSet(values.length);
  for (const value of values) {
    const wanted = splitInt64(value);
    set.add(wanted.high, wanted.low | 0);
  }
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) {
        mask[row + shift] = set.has(high[row] as number, (low[row] as number) | 0) ? (present[row] as number) : 0;
      }
    },
    admits: (row) => present[row] === 1 && set.has(high[row] as number, (low[row] as number) | 0),
  };
}

/** All four orders are "below" one limit, or not: x <= v is x < v + 1. */
function int64Ordering(arrays: Int64Arrays, comparison: Comparison, value: bigint): ColumnNode {
  const inclusive = comparison === "<=" || comparison === ">";
  const wanted = comparison === "<" || comparison === "<=";
  if (!inclusive) return int64Below(arrays, value, wanted);
  if (value < INT64_MAX) return int64Below(arrays, value + 1n, wanted);
  return wanted ? byteEquals(arrays.present, 1) : constant(false);
}

function int64Below({ high, low, present }: Int64Arrays, limit: bigint, wanted: boolean): ColumnNode {
  const { high: limitHigh, low: limitLow } = splitInt64(limit);
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) {
        const half = high[row] as number;
        const isBelow = half < limitHigh || (half === limitHigh && (low[row] as number) < limitLow);
        mask[row + shift] = isBelow === wanted ? (present[row] as number) : 0;
      }
    },
    admits(row) {
      const half = high[row] as number;
      const isBelow = half < limitHigh || (half === limitHigh && (low[row] as number) < limitLow);
      return isBelow === wanted && present[row] === 1;
    },
  };
}

function floatLeaf(leaf: Leaf, { values }: FloatStorage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return floatIsNull(values);
    case "equals":
      return floatEquals(values, toNumber(leaf.value));
    case "in":
      return floatIn(values, leaf.values.map(toNumber));
    case "ordering":
      return floatOrdering(values, leaf.comparison, toNumber(leaf.value));
    default:
      return leaf satisfies never;
  }
}

function floatIsNull(values: Float64Array): ColumnNode {
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = Number.isNaN(values[row] as number) ? 1 : 0;
    },
    admits: (row) => Number.isNaN(values[row]),
  };
}

function floatEquals(values: Float64Array, wanted: number): ColumnNode {
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = values[row] === wanted ? 1 : 0;
    },
    admits: (row) => values[row] === wanted,
  };
}

/** By bits: there is one zero, and the NaN of an absent value is in no set. */
function floatIn(values: Float64Array, wanted: readonly number[]): ColumnNode {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const wantedBits = new Int32Array(new Float64Array(wanted.map((value) => (value === 0 ? 0 : value))).buffer);
  const set = new PairSet(wanted.length);
  for (let index = 0; index < wantedBits.length; index += 2)
    set.add(wantedBits[index] as number, wantedBits[index + 1] as number);
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) {
        mask[row + shift] = set.has(bits[row * 2] as number, bits[row * 2 + 1] as number) ? 1 : 0;
      }
    },
    admits: (row) => set.has(bits[row * 2] as number, bits[row * 2 + 1] as number),
  };
}

/** x <= v is x < the next float above v; every comparison with NaN, the absent value, is false. */
function floatOrdering(values: Float64Array, comparison: Comparison, value: number): ColumnNode {
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
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = (values[row] as number) < limit ? 1 : 0;
    },
    admits: (row) => (values[row] as number) < limit,
  };
}

function floatAbove(values: Float64Array, limit: number): ColumnNode {
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = (values[row] as number) > limit ? 1 : 0;
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

function stringLeaf(leaf: Leaf, storage: StringStorage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return codeEquals(storage.codes, -1);
    case "equals": {
      const code = typeof leaf.value === "string" ? storage.codeOf(leaf.value) : undefined;
      return code === undefined ? constant(false) : codeEquals(storage.codes, code);
    }
    case "in":
      return stringIn(storage, leaf.values);
    case "ordering":
      throw mistyped();
    default:
      return leaf satisfies never;
  }
}

function codeEquals(codes: Int32Array, wanted: number): ColumnNode {
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = codes[row] === wanted ? 1 : 0;
    },
    admits: (row) => codes[row] === wanted,
  };
}

function stringIn(storage: StringStorage, values: readonly BoundValue[]): ColumnNode {
  const { codes } = storage;
  // One byte a code, moved by one so that the absent value's −1 has its own, which stays 0.
  const admitted = new Uint8Array(storage.distinct + 1);
  for (const value of values) {
    const code = typeof value === "string" ? storage.codeOf(value) : undefined;
    if (code !== undefined) admitted[code + 1] = 1;
  }
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = admitted[(codes[row] as number) + 1] as number;
    },
    admits: (row) => admitted[(codes[row] as number) + 1] === 1,
  };
}

function boolLeaf(leaf: Leaf, { values }: BoolStorage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return byteEquals(values, 2);
    case "equals":
      return byteEquals(values, leaf.value === true ? 1 : 0);
    case "in":
      return boolIn(values, leaf.values.includes(false), leaf.values.includes(true));
    case "ordering":
      throw mistyped();
    default:
      return leaf satisfies never;
  }
}

function boolIn(values: Uint8Array, hasFalse: boolean, hasTrue: boolean): ColumnNode {
  if (hasFalse !== hasTrue) return byteEquals(values, hasTrue ? 1 : 0);
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = values[row] === 2 ? 0 : 1;
    },
    admits: (row) => values[row] !== 2,
  };
}

function byteEquals(bytes: Uint8Array, wanted: number): ColumnNode {
  return {
    fill(from, to, mask, at) {
      const shift = at - from;
      for (let row = from; row < to; row += 1) mask[row + shift] = bytes[row] === wanted ? 1 : 0;
    },
    admits: (row) => bytes[row] === wanted,
  };
}

function toBigint(value: BoundValue): bigint {
  if (typeof value === "bigint") return value;
  throw mistyped();
}

function toNumber(value: BoundValue): number {
  if (typeof value === "number") return value;
  throw mistyped();
}

function mistyped(): HoldfastError {
  return new HoldfastError("BUG", "A bound filter compares a column with a value of another type; please report it.");
}
