import { formatDatetime } from "../contract/datetime.ts";
import type { Comparison, FieldReference, Filter, FilterOperator, Literal } from "../contract/filter-tree.ts";
import { describeValue, isInt64, toInstant, toSafeNumber } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import { FilterBudget, invalidFilter } from "./invalid-filter.ts";

/** The closed union (F1): every node with the keys that it has. */
export const NODE_KEYS: Readonly<Record<FilterOperator, readonly string[]>> = {
  all: ["op"],
  none: ["op"],
  equals: ["op", "field", "value"],
  ordering: ["op", "field", "comparison", "value"],
  in: ["op", "field", "values"],
  isNull: ["op", "field"],
  and: ["op", "operands"],
  or: ["op", "operands"],
  not: ["op", "operand"],
};

const COMPARISONS: readonly unknown[] = ["<", "<=", ">", ">="] satisfies Comparison[];

/**
 * The canonical form of a tree: connectives have two operands or more and are flattened, double negation is gone,
 * an `in` of one value is `equals`, an instant is its canonical text, and of the spellings of one number one is left
 * (a `number`; a `bigint` where it is integral, unsafe and of 64 bits).
 *
 * @throws INVALID_FILTER for anything but a well-formed tree within the limits, PROPERTY_TYPE_MISMATCH
 */
export function canonicalise(filter: Filter): Filter {
  return new TreeReader(canonicalNumber).read(filter, 1);
}

/**
 * The same with numbers as they were written, for the binder: on an int key an unsafe `number` is refused,
 * because it may have been rounded before we saw it, and a `bigint` is taken.
 */
export function readTree(filter: unknown): Filter {
  return new TreeReader((value) => value).read(filter, 1);
}

export function isFilterOperator(op: unknown): op is FilterOperator {
  return typeof op === "string" && Object.hasOwn(NODE_KEYS, op);
}

/** Copies a tree that anyone may have made, reading each part once. */
class TreeReader {
  readonly #budget = new FilterBudget();
  readonly #number: (value: number | bigint) => number | bigint;

  constructor(number: (value: number | bigint) => number | bigint) {
    this.#number = number;
  }

  read(node: unknown, depth: number): Filter {
    this.#budget.spend(depth);
    const { op, parts } = partsOf(node);
    switch (op) {
      case "all":
      case "none":
        return { op };
      case "equals":
        return { op, field: readField(parts.field), value: this.#literal(parts.value) };
      case "ordering":
        return {
          op,
          field: readField(parts.field),
          comparison: readComparison(parts.comparison),
          value: this.#literal(parts.value),
        };
      case "in":
        return this.#in(readField(parts.field), parts.values);
      case "isNull":
        return { op, field: readField(parts.field) };
      case "and":
      case "or":
        return this.#connective(op, parts.operands, depth);
      case "not": {
        const operand = this.read(parts.operand, depth + 1);
        return operand.op === "not" ? operand.operand : { op, operand };
      }
      default:
        return op satisfies never;
    }
  }

  #connective(op: "and" | "or", operands: unknown, depth: number): Filter {
    if (!Array.isArray(operands)) throw invalidFilter(`The operands of "${op}" must be an array of filters.`);
    const flat: Filter[] = [];
    for (const operand of operands) {
      const read = this.read(operand, depth + 1);
      if (read.op === op) for (const inner of read.operands) flat.push(inner);
      else flat.push(read);
    }
    const [first] = flat;
    if (first === undefined) return { op: op === "and" ? "all" : "none" };
    return flat.length === 1 ? first : { op, operands: flat };
  }

  #in(field: FieldReference, values: unknown): Filter {
    if (!Array.isArray(values)) throw invalidFilter('The values of "in" must be an array.');
    FilterBudget.assertValues(values.length);
    const literals = Array.from(values, (value: unknown) => this.#literal(value));
    const [first] = literals;
    return literals.length === 1 && first !== undefined
      ? { op: "equals", field, value: first }
      : { op: "in", field, values: literals };
  }

  #literal(value: unknown): Literal {
    if (typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value))) return this.#number(value);
    const instant = toInstant(value);
    if (instant !== undefined) return { datetime: formatDatetime(instant.microseconds) };
    throw unfit(value);
  }
}

function partsOf(node: unknown): { readonly op: FilterOperator; readonly parts: Readonly<Record<string, unknown>> } {
  if (typeof node !== "object" || node === null || Array.isArray(node)) {
    throw invalidFilter(`A filter must be a node of the tree; got ${describeValue(node)}.`);
  }
  const parts: Readonly<Record<string, unknown>> = { ...node };
  const op = parts.op;
  if (!isFilterOperator(op))
    throw invalidFilter(`A filter node must have an "op" of ${Object.keys(NODE_KEYS).join(", ")}.`);
  const keys = NODE_KEYS[op];
  const given = Object.keys(parts);
  if (given.length !== keys.length || !keys.every((key) => Object.hasOwn(parts, key))) {
    throw invalidFilter(`A filter node "${op}" has exactly the keys ${keys.join(", ")}.`, { op });
  }
  return { op, parts };
}

function readField(field: unknown): FieldReference {
  const { scope, name } = (typeof field === "object" && field !== null ? field : {}) as Record<string, unknown>;
  if ((scope === "declared" || scope === "m") && typeof name === "string") return { scope, name };
  throw invalidFilter('The field of a filter node is { scope: "declared" or "m", name: <text> }.');
}

function readComparison(comparison: unknown): Comparison {
  if (COMPARISONS.includes(comparison)) return comparison as Comparison;
  throw invalidFilter("The comparison of an ordering is <, <=, > or >=.");
}

function unfit(value: unknown): HoldfastError {
  if (value === null || value === undefined) {
    return invalidFilter(`A filter compares with a value, got ${value}; ask for records without a value with isNull.`);
  }
  const named = typeof value === "object" && (value instanceof Date || Object.hasOwn(value, "datetime"));
  if (typeof value === "number" || named) {
    return new HoldfastError(
      "PROPERTY_TYPE_MISMATCH",
      "A number in a filter must be finite, and a datetime an instant of the years 0001 to 9999 to the microsecond.",
    );
  }
  return invalidFilter(
    `A filter compares with a string, number, bigint, boolean or datetime; got ${describeValue(value)}.`,
  );
}

/** Of the spellings of one number the one that is left; they compare as equal. */
export function canonicalNumber(value: number | bigint): number | bigint {
  if (typeof value === "bigint") return toSafeNumber(value);
  if (value === 0) return 0;
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return value;
  const exact = BigInt(value);
  return isInt64(exact) ? exact : value;
}
