import type { Comparison } from "../contract/filter-tree.ts";
import type { PropertyKind } from "../contract/properties.ts";
import type { BoundValue } from "../contract/property-values.ts";

/** A field that the schema knows (`declared`, `system`), or a user's own key (`m`). */
export interface BoundField {
  readonly scope: "declared" | "system" | "m";
  readonly name: string;
}

/** The type of a leaf's values: the declared one, or on a user's own key the one that the literal has. */
export type BoundKind = PropertyKind | "number";

/**
 * A filter bound to a schema: what evaluators and compilers read. Plain data that survives a structured clone.
 *
 * A value is a `bigint` for int and datetime (microseconds since 1970, UTC), a `number` for float, and itself
 * for string and bool; of kind `number` (users' own keys) it is a `number`, or a `bigint` beyond the safe integers.
 * Constants are folded: `all` and `none` stand at the root or nowhere, an `in` has two values or more.
 */
export type BoundFilter =
  | { readonly op: "all" }
  | { readonly op: "none" }
  | { readonly op: "equals"; readonly field: BoundField; readonly kind: BoundKind; readonly value: BoundValue }
  | {
      readonly op: "ordering";
      readonly field: BoundField;
      readonly kind: BoundKind;
      readonly comparison: Comparison;
      readonly value: number | bigint;
    }
  | { readonly op: "in"; readonly field: BoundField; readonly kind: BoundKind; readonly values: readonly BoundValue[] }
  | { readonly op: "isNull"; readonly field: BoundField }
  | { readonly op: "and"; readonly operands: readonly BoundFilter[] }
  | { readonly op: "or"; readonly operands: readonly BoundFilter[] }
  | { readonly op: "not"; readonly operand: BoundFilter };

/** True when the filter admits every record whatever it holds (F3): what a delete refuses. */
export function foldsToAll(bound: BoundFilter): boolean {
  return bound.op === "all";
}

/** True when the filter admits no record whatever it holds. */
export function foldsToNone(bound: BoundFilter): boolean {
  return bound.op === "none";
}
