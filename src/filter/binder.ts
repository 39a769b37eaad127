import type { FieldReference, Filter, FilterOperator, Literal } from "../contract/filter-tree.ts";
import type { PropertyKind } from "../contract/properties.ts";
import { type BoundValue, bindUserValue, bindValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundField, BoundFilter, BoundKind } from "./bound-filter.ts";
import { canonicalNumber, readTree } from "./canonical.ts";
import { type FilterSchema, resolveField } from "./filter-schema.ts";
import { invalidFilter } from "./invalid-filter.ts";
import { mergeEquals } from "./merge-equals.ts";

/**
 * Binds a tree to a schema (F4): every field known, every value of its field's type, constants folded (F3).
 *
 * @throws UNDECLARED_PROPERTY, PROPERTY_TYPE_MISMATCH, INVALID_TEXT, INVALID_FILTER, UNSUPPORTED_FILTER
 */
export function bindFilter(filter: Filter, schema: FilterSchema): BoundFilter {
  return bindNode(readTree(filter), schema);
}

function bindNode(filter: Filter, schema: FilterSchema): BoundFilter {
  assertSupported(filter.op, schema);
  switch (filter.op) {
    case "all":
    case "none":
      return filter;
    case "equals": {
      const { field, kind, values } = bindValues(filter.field, [filter.value], schema);
      return equalsAny(field, kind, values);
    }
    case "in":
      return bindIn(filter.field, filter.values, schema);
    case "ordering":
      return bindOrdering(filter, schema);
    case "isNull":
      return { op: "isNull", field: resolveField(filter.field, schema).field };
    case "and":
    case "or":
      return foldConnective(filter, schema);
    case "not":
      return foldNot(bindNode(filter.operand, schema));
    default:
      return filter satisfies never;
  }
}

function bindIn(reference: FieldReference, literals: readonly Literal[], schema: FilterSchema): BoundFilter {
  if (literals.length === 0) {
    resolveField(reference, schema);
    return { op: "none" };
  }
  const { field, kind, values } = bindValues(reference, literals, schema);
  return equalsAny(field, kind, values);
}

function equalsAny(field: BoundField, kind: BoundKind, values: readonly BoundValue[]): BoundFilter {
  const [first] = values;
  return values.length === 1 && first !== undefined
    ? { op: "equals", field, kind, value: first }
    : { op: "in", field, kind, values };
}

function bindOrdering(filter: Extract<Filter, { op: "ordering" }>, schema: FilterSchema): BoundFilter {
  const { field, kind, values } = bindValues(filter.field, [filter.value], schema);
  const [value] = values;
  if (typeof value === "number" || typeof value === "bigint") {
    return { op: "ordering", field, kind, comparison: filter.comparison, value };
  }
  throw invalidFilter(
    `${shown(filter.field)} is compared with ${filter.comparison} as ${kind}: only numbers and datetimes have an order; use =, != or IN.`,
    { property: filter.field.name.slice(0, 64) },
  );
}

interface BoundValues {
  readonly field: BoundField;
  readonly kind: BoundKind;
  readonly values: readonly BoundValue[];
}

function bindValues(reference: FieldReference, literals: readonly Literal[], schema: FilterSchema): BoundValues {
  const { field, kind } = resolveField(reference, schema);
  const name = `filter's field ${shown(reference)}`;
  if (kind !== undefined) return { field, kind, values: literals.map((literal) => bindLiteral(kind, literal, name)) };
  const users = literals.map((literal) => bindUserValue(literal, name));
  const own = users[0]?.kind ?? "string";
  if (users.some((user) => user.kind !== own)) {
    throw invalidFilter(`The ${name} is compared with values of several types in one IN; write one IN a type.`);
  }
  const values = users.map(({ kind: userKind, value }) => (userKind === "number" ? canonicalNumber(value) : value));
  return { field, kind: own, values };
}

function bindLiteral(kind: PropertyKind, literal: Literal, name: string): BoundValue {
  if (kind === "datetime" && typeof literal === "string") {
    throw new HoldfastError(
      "PROPERTY_TYPE_MISMATCH",
      `The ${name} is declared datetime and compared with a plain string; write timestamp '2026-05-01T12:00:00Z', or { datetime: … } in a tree.`,
      { details: { kind } },
    );
  }
  return bindValue(kind, literal, name);
}

function foldConnective({ op, operands }: Extract<Filter, { op: "and" | "or" }>, schema: FilterSchema): BoundFilter {
  const neutral = op === "and" ? "all" : "none";
  const absorbing = op === "and" ? "none" : "all";
  const flat: BoundFilter[] = [];
  // Every operand is bound, also behind one that decides: what is refused does not depend on values.
  for (const operand of operands.map((node) => bindNode(node, schema))) {
    if (operand.op === op) for (const inner of operand.operands) flat.push(inner);
    else if (operand.op !== neutral) flat.push(operand);
  }
  if (flat.some((operand) => operand.op === absorbing)) return { op: absorbing };
  const mayMerge = schema.filterNodes === undefined || schema.filterNodes.includes("in");
  const kept = mayMerge ? mergeEquals(op, flat) : flat;
  const [first] = kept;
  if (first === undefined) return { op: neutral };
  return kept.length === 1 ? first : { op, operands: kept };
}

function foldNot(operand: BoundFilter): BoundFilter {
  switch (operand.op) {
    case "all":
      return { op: "none" };
    case "none":
      return { op: "all" };
    case "not":
      return operand.operand;
    default:
      return { op: "not", operand };
  }
}

/** Looked at before folding, so that what is refused does not depend on the values. */
function assertSupported(op: FilterOperator, schema: FilterSchema): void {
  if (schema.filterNodes === undefined || schema.filterNodes.includes(op)) return;
  throw new HoldfastError(
    "UNSUPPORTED_FILTER",
    `This backend cannot evaluate "${op}"; its capabilities list what it can.`,
    {
      details: { op },
    },
  );
}

function shown(reference: FieldReference): string {
  return `${reference.scope === "m" ? "m." : ""}${JSON.stringify(reference.name.slice(0, 64))}`;
}
