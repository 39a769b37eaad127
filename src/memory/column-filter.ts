import type { PropertyKind } from "../contract/properties.ts";
import type { BoundValue, UserKind } from "../contract/property-values.ts";
import type { Connection } from "../database/connection.ts";
import type { BoundFilter } from "../filter/index.ts";
import { columnOf, declaredKeys, exceptionsOf } from "./declared-keys.ts";
import { storedKind, toColumnValue } from "./declared-values.ts";
import { VECTOR_PROPERTIES } from "./vector-records.ts";

/** A user's key whose column is complete. */
interface KeyColumn {
  readonly column: string;
  readonly kind: PropertyKind;
  /** Whether every value that the tenant has under the key is in the column. */
  readonly holdsAll: boolean;
}

/** The complete columns of a user's keys, by key, as of the transaction in which they are used (S4). */
export type KeyColumns = ReadonlyMap<string, KeyColumn>;

type Leaf = Extract<BoundFilter, { op: "equals" | "ordering" | "in" | "isNull" }>;
type Comparing = Exclude<Leaf, { op: "isNull" }>;

export function keyColumns(connection: Connection, tenant: number): KeyColumns {
  const complete = declaredKeys(connection).filter((key) => key.complete);
  if (complete.length === 0) return new Map();
  const exceptions = exceptionsOf(connection, tenant);
  return new Map(
    complete.map((key) => [key.name, { column: columnOf(key), kind: key.kind, holdsAll: !exceptions.has(key.key) }]),
  );
}

/** The filter over the columns beside the vectors, or `undefined` where these could answer otherwise than the events. */
export function toColumnFilter(filter: BoundFilter, keys: KeyColumns): BoundFilter | undefined {
  switch (filter.op) {
    case "all":
    case "none":
      return filter;
    case "equals":
    case "ordering":
    case "in":
    case "isNull":
      return toColumnLeaf(filter, keys);
    case "and":
    case "or": {
      const operands = filter.operands.map((operand) => toColumnFilter(operand, keys));
      return operands.every((operand) => operand !== undefined) ? { op: filter.op, operands } : undefined;
    }
    case "not": {
      const operand = toColumnFilter(filter.operand, keys);
      return operand && { op: "not", operand };
    }
    default:
      return filter satisfies never;
  }
}

function toColumnLeaf(leaf: Leaf, keys: KeyColumns): BoundFilter | undefined {
  const { scope, name } = leaf.field;
  if (scope === "system")
    return Object.hasOwn(VECTOR_PROPERTIES, name) ? { ...leaf, field: { scope: "declared", name } } : undefined;
  const key = keys.get(name);
  if (key === undefined) return undefined;
  // A value of another type is a value all the same: only where there is none does an empty column say so.
  if (leaf.op === "isNull")
    return key.holdsAll ? { op: "isNull", field: { scope: "declared", name: key.column } } : undefined;
  if (leaf.kind !== storedKind(key.kind)) return key.holdsAll ? { op: "none" } : undefined;
  return onColumn(leaf, key);
}

/** A comparison with values of the kind that the column holds. */
function onColumn(leaf: Comparing, { column, kind, holdsAll }: KeyColumn): BoundFilter | undefined {
  const field = { scope: "declared", name: column } as const;
  const convert = (value: BoundValue): BoundValue | undefined =>
    toColumnValue(kind, { kind: leaf.kind as UserKind, value });
  switch (leaf.op) {
    case "equals":
    case "in": {
      const literals = leaf.op === "in" ? leaf.values : [leaf.value];
      const values = literals.map(convert).filter((value) => value !== undefined);
      // What the column cannot hold no event says, unless it is one of the exceptions.
      if (values.length < literals.length && !holdsAll) return undefined;
      const [first] = values;
      if (first === undefined) return { op: "none" };
      return values.length === 1 ? { op: "equals", field, kind, value: first } : { op: "in", field, kind, values };
    }
    case "ordering": {
      const value = convert(leaf.value);
      const isExact = holdsAll || kind === "datetime";
      if (!isExact || (typeof value !== "number" && typeof value !== "bigint")) return undefined;
      return { op: "ordering", field, kind, comparison: leaf.comparison, value };
    }
    default:
      return leaf satisfies never;
  }
}
