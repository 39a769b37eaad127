import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "./bound-filter.ts";
import { prepareLeaf } from "./column-leaves.ts";
import { andNode, BLOCK_ROWS, type ColumnNode, constantNode, MaskBlock, notNode, orNode } from "./column-node.ts";
import type { Columns } from "./columns.ts";

/** Rows `from` … `to − 1`. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/**
 * A bound filter made ready for columns: literals split and looked up once. It answers for the rows that were
 * there when it was prepared, also while more are appended.
 */
export interface ColumnFilter {
  /** Writes 1 or 0 for each row of the range to the front of `mask`. */
  fill(range: RowRange, mask: Uint8Array): void;
  /** Whether one row is admitted. */
  admits(row: number): boolean;
}

/** Evaluates a filter on declared fields once: 1 or 0 for each row of the range, to the front of `mask`. */
export function evaluateColumns(filter: BoundFilter, columns: Columns, range: RowRange, mask: Uint8Array): void {
  prepareColumnFilter(filter, columns).fill(range, mask);
}

export function prepareColumnFilter(filter: BoundFilter, columns: Columns): ColumnFilter {
  const rows = columns.length;
  const root = prepareNode(filter, columns, 1);
  const block = scratchAt(0);
  return {
    fill({ from, to }, mask) {
      assertRange({ from, to }, rows, mask);
      for (let start = from; start < to; start += BLOCK_ROWS) {
        const end = Math.min(start + BLOCK_ROWS, to);
        root.fill(start, end, block);
        mask.set(block.bytes.subarray(0, end - start), start - from);
      }
    },
    admits: (row) => root.admits(row),
  };
}

function prepareNode(filter: BoundFilter, columns: Columns, depth: number): ColumnNode {
  switch (filter.op) {
    case "all":
      return constantNode(true);
    case "none":
      return constantNode(false);
    case "not":
      return notNode(prepareNode(filter.operand, columns, depth));
    case "and":
    case "or": {
      // Operands are asked one after another, each done with its scratch when it answers: one a level is enough.
      const nodes = filter.operands.map((operand) => prepareNode(operand, columns, depth + 1));
      return filter.op === "and" ? andNode(nodes, scratchAt(depth)) : orNode(nodes, scratchAt(depth));
    }
    case "isNull":
    case "equals":
    case "ordering":
    case "in":
      return prepareLeaf(filter, columns);
    default:
      return filter satisfies never;
  }
}

/**
 * One mask for each level of a tree, for all filters of a thread: a `fill` ends before another begins, and a search
 * prepares its filter anew for each block of rows.
 */
const scratch: MaskBlock[] = [];

function scratchAt(depth: number): MaskBlock {
  const block = scratch[depth] ?? new MaskBlock();
  scratch[depth] = block;
  return block;
}

function assertRange({ from, to }: RowRange, rows: number, mask: Uint8Array): void {
  if (from >= 0 && from <= to && to <= rows && mask.length >= to - from) return;
  throw new HoldfastError("BUG", "A column filter was asked for rows that it does not have; please report it.", {
    details: { from, to, rows, mask: mask.length },
  });
}
