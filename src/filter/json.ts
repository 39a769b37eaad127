import type { Comparison, FieldReference, Filter, Literal } from "../contract/filter-tree.ts";
import type { PropertyKind } from "../contract/properties.ts";
import { describeValue } from "../contract/property-values.ts";
import { readTree } from "./canonical.ts";
import { type FilterSchema, resolveField } from "./filter-schema.ts";
import { FilterBudget, invalidFilter } from "./invalid-filter.ts";
import { isPlainObject, readJsonLiteral, readOperand } from "./json-literal.ts";

const ORDERINGS: Readonly<Record<string, Comparison>> = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" };

/**
 * Reads a filter written as a JSON object. Every key must hold; the operators on one field must all hold.
 * The schema says how a value is meant: an RFC 3339 text on a datetime key, a decimal string beyond the safe
 * integers on an int key.
 *
 * @param json - own enumerable keys of plain objects are read, nothing else
 * @throws INVALID_FILTER, UNDECLARED_PROPERTY, PROPERTY_TYPE_MISMATCH
 */
export function fromJson(json: unknown, schema: FilterSchema): Filter {
  return readTree(new JsonReader(schema).object(json, 1));
}

class JsonReader {
  readonly #schema: FilterSchema;
  readonly #budget = new FilterBudget();

  constructor(schema: FilterSchema) {
    this.#schema = schema;
  }

  object(json: unknown, depth: number): Filter {
    this.#budget.spend(depth);
    if (!isPlainObject(json)) throw invalidFilter(`A JSON filter must be an object; got ${describeValue(json)}.`);
    return and(Object.keys(json).map((key) => this.#entry(key, json[key], depth)));
  }

  #entry(key: string, value: unknown, depth: number): Filter {
    switch (key) {
      case "$and":
        return and(this.#list(key, value, depth));
      case "$or":
        return { op: "or", operands: this.#list(key, value, depth) };
      case "$nor":
        return not({ op: "or", operands: this.#list(key, value, depth) });
      case "$not":
        return not(this.object(value, depth + 1));
      default:
        return key.startsWith("$") ? unknownOperator(key) : this.#field(key, value, depth);
    }
  }

  #list(operator: string, value: unknown, depth: number): readonly Filter[] {
    if (!Array.isArray(value)) throw invalidFilter(`${operator} takes an array of filters.`);
    return Array.from(value, (item: unknown) => this.object(item, depth + 1));
  }

  #field(key: string, value: unknown, depth: number): Filter {
    if ((key === "m" || key === "metadata") && isPlainObject(value)) return this.#userKeys(value, depth);
    const prefix = /^(?:m|metadata)\./.exec(key)?.[0];
    return prefix === undefined
      ? this.#condition({ scope: "declared", name: key }, value, depth)
      : this.#condition({ scope: "m", name: key.slice(prefix.length) }, value, depth);
  }

  /** `{ "m": { "topic": "home" } }`; an operator there would be one on nothing. */
  #userKeys(keys: Readonly<Record<string, unknown>>, depth: number): Filter {
    const names = Object.keys(keys);
    if (names.length === 0) throw invalidFilter('"m" holds no key to compare.');
    const operator = names.find((name) => name.startsWith("$"));
    if (operator !== undefined) return unknownOperator(operator);
    return and(names.map((name) => this.#condition({ scope: "m", name }, keys[name], depth)));
  }

  #condition(field: FieldReference, value: unknown, depth: number): Filter {
    this.#budget.spend(depth);
    const { kind } = resolveField(field, this.#schema);
    const literal = readJsonLiteral(value, kind);
    if (literal === null) return { op: "isNull", field };
    if (literal !== undefined) return { op: "equals", field, value: literal };
    if (!isPlainObject(value)) {
      const hint = Array.isArray(value) ? "write { $in: [...] }" : "write a value, null or an operator";
      throw invalidFilter(`${JSON.stringify(field.name.slice(0, 64))} cannot equal ${describeValue(value)}: ${hint}.`);
    }
    const operators = Object.keys(value);
    if (operators.length === 0)
      throw invalidFilter(`${JSON.stringify(field.name.slice(0, 64))} has an empty object of operators.`);
    return and(operators.map((operator) => readOperator({ field, kind, operator, operand: value[operator] })));
  }
}

interface Operation {
  readonly field: FieldReference;
  readonly kind: PropertyKind | undefined;
  readonly operator: string;
  readonly operand: unknown;
}

function readOperator(operation: Operation): Filter {
  const { field, kind, operator, operand } = operation;
  switch (operator) {
    case "$eq":
      return equalsOrNull(field, readOperand(operand, kind, operator));
    case "$ne":
      return not(equalsOrNull(field, readOperand(operand, kind, operator)));
    case "$in":
      return { op: "in", field, values: readList(operation) };
    case "$nin":
      return not({ op: "in", field, values: readList(operation) });
    case "$between":
      return readBetween(operation);
    case "$isNull":
      return readFlag(operation) ? { op: "isNull", field } : not({ op: "isNull", field });
    case "$exists":
      return readFlag(operation) ? not({ op: "isNull", field }) : { op: "isNull", field };
    default: {
      const comparison = Object.hasOwn(ORDERINGS, operator) ? ORDERINGS[operator] : undefined;
      if (comparison === undefined) return unknownOperator(operator);
      return { op: "ordering", field, comparison, value: notNull(readOperand(operand, kind, operator), operator) };
    }
  }
}

function readList({ kind, operator, operand }: Operation): readonly Literal[] {
  if (!Array.isArray(operand)) throw invalidFilter(`${operator} takes an array of values.`);
  FilterBudget.assertValues(operand.length);
  return Array.from(operand, (item: unknown) => notNull(readOperand(item, kind, operator), operator));
}

function readBetween(operation: Operation): Filter {
  const { field, operator } = operation;
  const [low, high, ...rest] = readList(operation);
  if (low === undefined || high === undefined || rest.length > 0) {
    throw invalidFilter(`${operator} takes an array of two values, both included.`);
  }
  return and([
    { op: "ordering", field, comparison: ">=", value: low },
    { op: "ordering", field, comparison: "<=", value: high },
  ]);
}

function readFlag({ operator, operand }: Operation): boolean {
  if (typeof operand === "boolean") return operand;
  throw invalidFilter(`${operator} takes true or false; got ${describeValue(operand)}.`);
}

function equalsOrNull(field: FieldReference, value: Literal | null): Filter {
  return value === null ? { op: "isNull", field } : { op: "equals", field, value };
}

function notNull(value: Literal | null, operator: string): Literal {
  if (value !== null) return value;
  throw invalidFilter(`${operator} takes values, got null; ask for records without a value with $isNull.`);
}

function unknownOperator(operator: string): never {
  throw invalidFilter(
    `Unknown operator ${JSON.stringify(operator.slice(0, 64))}; there are $eq $ne $gt $gte $lt $lte $in $nin $between $isNull $exists on fields and $and $or $not $nor between.`,
  );
}

function and(operands: readonly Filter[]): Filter {
  return { op: "and", operands };
}

function not(operand: Filter): Filter {
  return { op: "not", operand };
}
