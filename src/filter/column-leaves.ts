import type { BoundValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "./bound-filter.ts";
import { bytesEqual, bytesNotEqual, codesIn } from "./code-leaves.ts";
import { type ColumnNode, constantNode } from "./column-node.ts";
import type { BoolStorage, FloatStorage, Int64Storage, StringStorage } from "./column-storage.ts";
import type { Columns } from "./columns.ts";
import { floatEquals, floatIn, floatIsNull, floatOrdering } from "./float-leaves.ts";
import { int32Equals } from "./int32-leaves.ts";
import { int64Equals, int64In, int64Ordering } from "./int64-leaves.ts";

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

function int64Leaf(leaf: Leaf, { high, low, present, isNarrow, isComplete }: Int64Storage): ColumnNode {
  const arrays = { high, low, present, isNarrow, isComplete };
  switch (leaf.op) {
    case "isNull":
      return bytesEqual(present, 0);
    case "equals":
      return int64Equals(arrays, toBigint(leaf.value));
    case "in":
      return int64In(arrays, leaf.values.map(toBigint));
    case "ordering":
      return int64Ordering(arrays, leaf.comparison, toBigint(leaf.value));
    default:
      return leaf satisfies never;
  }
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

function stringLeaf(leaf: Leaf, storage: StringStorage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return int32Equals(storage.codes, -1);
    case "equals": {
      const code = codeOf(storage, leaf.value);
      return code === undefined ? constantNode(false) : int32Equals(storage.codes, code);
    }
    case "in":
      return codesIn(
        storage.codes,
        storage.distinct,
        leaf.values.map((value) => codeOf(storage, value)),
      );
    case "ordering":
      throw mistyped();
    default:
      return leaf satisfies never;
  }
}

function boolLeaf(leaf: Leaf, { values }: BoolStorage): ColumnNode {
  switch (leaf.op) {
    case "isNull":
      return bytesEqual(values, 2);
    case "equals":
      return bytesEqual(values, leaf.value === true ? 1 : 0);
    case "in": {
      const [hasFalse, hasTrue] = [leaf.values.includes(false), leaf.values.includes(true)];
      return hasFalse && hasTrue ? bytesNotEqual(values, 2) : bytesEqual(values, hasTrue ? 1 : 0);
    }
    case "ordering":
      throw mistyped();
    default:
      return leaf satisfies never;
  }
}

function codeOf(storage: StringStorage, value: BoundValue): number | undefined {
  if (typeof value === "string") return storage.codeOf(value);
  throw mistyped();
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
