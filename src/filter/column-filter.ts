import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "./bound-filter.ts";
import { prepareLeaf } from "./column-leaves.ts";
import { AndNode, type ColumnNode, constant, NotNode, OrNode } from "./column-node.ts";
import type { Columns } from "./columns.ts";

/** Rows of one step: the masks of a compound filter stay in the first cache. */
const BLOCK_ROWS = 8_192;

/**
 * A bound filter made ready for columns: literals split and looked up once. It answers for the rows that were
 * there when it was prepared, also while more are appended.
 */
export interface ColumnFilter {
  /** Writes 1 or 0 for the rows `from` … `to − 1` into `mask[0 … to − from − 1]`. */
  fill(from: number, to: number, mask: Uint8Array): void;
  /** Whether one row is admitted. */
  admits(row: number): boolean;
}

/** Evaluates once: 1 or 0 for the rows `from` … `to − 1` into `mask[0 … to − from − 1]`. */
export function evaluateColumns(
  filter: BoundFilter,
  columns: Columns,
  range: { readonly from: number; readonly to: number },
  mask: Uint8Array,
): void {
  prepareColumnFilter(filter, columns).fill(range.from, range.to, mask);
}

export function prepareColumnFilter(filter: BoundFilter, columns: Columns): ColumnFilter {
  const rows = columns.length;
  const root = prepareNode(filter, columns, new Scratch(), 0);
  return {
    fill(from, to, mask) {
      assertRange(from, to, rows, mask);
      for (let start = from; start < to; start += BLOCK_ROWS) {
        root.fill(start, Math.min(start + BLOCK_ROWS, to), mask, start - from);
      }
    },
    admits: (row) => root.admits(row),
  };
}

function prepareNode(filter: BoundFilter, columns: Columns, scratch: Scratch, depth: number): ColumnNode {
  switch (filter.op) {
    case "all":
      return constant(true);
    case "none":
      return constant(false);
    case "not":
      return new NotNode(prepareNode(filter.operand, columns, scratch, depth));
    case "and":
    case "or": {
      // The first operand writes where this node writes; the others write one level down.
      const nodes = filter.operands.map((operand, index) =>
        prepareNode(operand, columns, scratch, depth + (index === 0 ? 0 : 1)),
      );
      const block = scratch.at(depth);
      return filter.op === "and" ? new AndNode(nodes, block) : new OrNode(nodes, block);
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

/** One block of mask for each level of a tree. */
class Scratch {
  readonly #blocks: Uint8Array[] = [];

  at(depth: number): Uint8Array {
    const block = this.#blocks[depth] ?? new Uint8Array(BLOCK_ROWS);
    this.#blocks[depth] = block;
    return block;
  }
}

function assertRange(from: number, to: number, rows: number, mask: Uint8Array): void {
  if (from >= 0 && from <= to && to <= rows && mask.length >= to - from) return;
  throw new HoldfastError(
    "BUG",
    "A column filter was asked for rows that it does not have, or with a mask too short; please report it.",
    {
      details: { from, to, rows, mask: mask.length },
    },
  );
}
