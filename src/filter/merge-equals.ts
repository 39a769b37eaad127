import { LIMITS } from "../contract/limits.ts";
import type { BoundValue } from "../contract/property-values.ts";
import type { BoundFilter } from "./bound-filter.ts";

type Membership = Extract<BoundFilter, { op: "equals" | "in" }>;

/**
 * Joins the comparisons of one field: `n = 1 OR n = 2` is `n IN (1, 2)`, and `n != 1 AND n != 2` is `n NOT IN (1, 2)`.
 * A list costs one pass over the rows however long it is; 5,000 equalities cost 5,000.
 *
 * @param operands - of an `op`, flat
 */
export function mergeEquals(op: "and" | "or", operands: readonly BoundFilter[]): readonly BoundFilter[] {
  const groups = new Map<string, BoundValue[]>();
  const merged: BoundFilter[] = [];
  for (const operand of operands) {
    const leaf = membershipOf(op, operand);
    if (leaf === undefined) {
      merged.push(operand);
      continue;
    }
    const key = JSON.stringify([leaf.field.scope, leaf.field.name, leaf.kind]);
    const values = leaf.op === "in" ? leaf.values : [leaf.value];
    const group = groups.get(key);
    if (group !== undefined && group.length + values.length <= LIMITS.filterInValuesMax) {
      group.push(...values);
      continue;
    }
    const own = [...values];
    groups.set(key, own);
    merged.push(negateWhere(op, { op: "in", field: leaf.field, kind: leaf.kind, values: own }));
  }
  return merged.map(unwrapSingle);
}

/** What can be joined under `op`: a comparison under `or`, a refused one under `and`. */
function membershipOf(op: "and" | "or", operand: BoundFilter): Membership | undefined {
  const leaf = op === "or" ? operand : operand.op === "not" ? operand.operand : undefined;
  return leaf?.op === "equals" || leaf?.op === "in" ? leaf : undefined;
}

function negateWhere(op: "and" | "or", leaf: BoundFilter): BoundFilter {
  return op === "and" ? { op: "not", operand: leaf } : leaf;
}

/** A group that stayed alone is an equality again. */
function unwrapSingle(filter: BoundFilter): BoundFilter {
  if (filter.op === "not") return { op: "not", operand: unwrapSingle(filter.operand) };
  const [value, ...rest] = filter.op === "in" ? filter.values : [];
  if (filter.op !== "in" || value === undefined || rest.length > 0) return filter;
  return { op: "equals", field: filter.field, kind: filter.kind, value };
}
