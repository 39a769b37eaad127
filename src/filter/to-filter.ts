import type { Filter } from "../contract/filter-tree.ts";
import { kindOf, type PropertySchema } from "../contract/properties.ts";
import { describeValue } from "../contract/property-values.ts";
import type { Where } from "../contract/where.ts";
import { bindFilter } from "./binder.ts";
import type { BoundFilter } from "./bound-filter.ts";
import { createBuilder } from "./builder.ts";
import { isFilterOperator, NODE_KEYS, readTree } from "./canonical.ts";
import type { FilterSchema } from "./filter-schema.ts";
import { invalidFilter } from "./invalid-filter.ts";
import { fromJson } from "./json.ts";
import { parse } from "./parser.ts";

/**
 * Reads a filter through whichever door it comes: a text, a tree, a JSON object, a function of the builder.
 * An object that comes over a network is always JSON: read that with `fromJson`.
 *
 * @throws FILTER_SYNTAX, INVALID_FILTER, UNDECLARED_PROPERTY, PROPERTY_TYPE_MISMATCH
 */
export function toFilter<S extends PropertySchema>(where: Where<S>, schema: FilterSchema): Filter {
  if (typeof where === "string") return parse(where);
  if (typeof where === "function") return readTree(where(createBuilder(schema) as Parameters<typeof where>[0]));
  if (typeof where === "object" && where !== null) {
    return isTree(where, schema) ? readTree(where) : fromJson(where, schema);
  }
  throw invalidFilter(
    `A filter is a text, an object or a function; got ${describeValue(where)}. Leave it out for none.`,
  );
}

/** Reads and binds in one step. */
export function bindWhere<S extends PropertySchema>(where: Where<S>, schema: FilterSchema): BoundFilter {
  return bindFilter(toFilter(where, schema), schema);
}

/**
 * A node has an `op`. Where a property is called `op` too, an object is a node only if its other keys
 * hold what no JSON filter could hold there.
 */
function isTree(where: object, schema: FilterSchema): boolean {
  const node = where as Readonly<Record<string, unknown>>;
  const op = Object.hasOwn(node, "op") ? node.op : undefined;
  if (!isFilterOperator(op)) return false;
  const isProperty = kindOf(schema.declared, "op") ?? kindOf(schema.system ?? {}, "op");
  if (isProperty === undefined) return true;
  const others = NODE_KEYS[op].filter((key) => key !== "op");
  return others.length > 0 && others.every((key) => Object.hasOwn(node, key)) && holdsNodes(node);
}

function holdsNodes({ field, operands, operand }: Readonly<Record<string, unknown>>): boolean {
  const inner = field ?? operand;
  return (
    Array.isArray(operands) || (typeof inner === "object" && inner !== null && ("scope" in inner || "op" in inner))
  );
}
