import type { Comparison } from "../contract/filter-tree.ts";
import type { BoundValue, UserValue } from "../contract/property-values.ts";
import type { BoundField, BoundFilter, BoundKind } from "./bound-filter.ts";

/** How the evaluator reads one record. */
export interface RecordLookup {
  /** The bound value of a declared or system field. */
  value(name: string): BoundValue | null | undefined;
  /** A user's own property. */
  userValue?(name: string): UserValue | null | undefined;
}

/**
 * Whether a record is admitted. This is the definition (F8): every other evaluator and compiler is compared with it.
 *
 * Two-valued (F2): a comparison with a record without a value is `false`, and so is one with a user's own value of
 * another kind (F11); `not` is the complement.
 */
export function evaluate(filter: BoundFilter, record: RecordLookup): boolean {
  switch (filter.op) {
    case "all":
      return true;
    case "none":
      return false;
    case "isNull":
      return !hasValue(filter.field, record);
    case "equals": {
      const value = comparable(filter.field, filter.kind, record);
      return value !== undefined && isSame(value, filter.value);
    }
    case "in": {
      const value = comparable(filter.field, filter.kind, record);
      return value !== undefined && filter.values.some((candidate) => isSame(value, candidate));
    }
    case "ordering": {
      const value = comparable(filter.field, filter.kind, record);
      return value !== undefined && isOrdered(value, filter.comparison, filter.value);
    }
    case "and":
      return filter.operands.every((operand) => evaluate(operand, record));
    case "or":
      return filter.operands.some((operand) => evaluate(operand, record));
    case "not":
      return !evaluate(filter.operand, record);
    default:
      return filter satisfies never;
  }
}

function hasValue(field: BoundField, record: RecordLookup): boolean {
  const value = field.scope === "m" ? record.userValue?.(field.name) : record.value(field.name);
  return value !== undefined && value !== null;
}

function comparable(field: BoundField, kind: BoundKind, record: RecordLookup): BoundValue | undefined {
  if (field.scope !== "m") return record.value(field.name) ?? undefined;
  const user = record.userValue?.(field.name);
  return user?.kind === kind ? user.value : undefined;
}

/** Equality by exact value: `===` never holds between a number and a bigint, `<` and `>` compare them exactly. */
function isSame(a: BoundValue, b: BoundValue): boolean {
  return isNumeric(a) && isNumeric(b) ? !(a < b) && !(a > b) : a === b;
}

function isOrdered(value: BoundValue, comparison: Comparison, limit: number | bigint): boolean {
  if (!isNumeric(value)) return false;
  switch (comparison) {
    case "<":
      return value < limit;
    case "<=":
      return value <= limit;
    case ">":
      return value > limit;
    case ">=":
      return value >= limit;
    default:
      return comparison satisfies never;
  }
}

function isNumeric(value: BoundValue): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
