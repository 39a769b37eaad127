import type { FieldReference, FilterOperator } from "../contract/filter-tree.ts";
import { isId } from "../contract/names.ts";
import { kindOf, type PropertyKind, type PropertySchema } from "../contract/properties.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundField } from "./bound-filter.ts";
import { invalidFilter } from "./invalid-filter.ts";

/** What a filter may name, and which nodes may stand in it. */
export interface FilterSchema {
  readonly declared: PropertySchema;
  /** The closed table of the memory level: `session`, `at`, `revision`, … */
  readonly system?: PropertySchema;
  /** Whether users' own keys (`m.topic`) may be named. */
  readonly userKeys: boolean;
  /** The nodes that the backend evaluates; all when absent. */
  readonly filterNodes?: readonly FilterOperator[];
}

/** A field of the schema with its type; a user's own key has none. */
export interface ResolvedField {
  readonly field: BoundField;
  readonly kind: PropertyKind | undefined;
}

/**
 * Finds a field in the schema. `m.x` is the declared `x` where that is declared, else the user's own key.
 *
 * @throws UNDECLARED_PROPERTY, INVALID_FILTER
 */
export function resolveField(reference: FieldReference, schema: FilterSchema): ResolvedField {
  const { scope, name } = reference;
  const system = schema.system;
  if (scope === "declared" && system !== undefined) {
    const kind = kindOf(system, name);
    if (kind !== undefined) return { field: { scope: "system", name }, kind };
  }
  const kind = kindOf(schema.declared, name);
  if (kind !== undefined) return { field: { scope: "declared", name }, kind };
  if (scope === "m" && schema.userKeys) {
    if (!isId(name)) throw invalidFilter("A user's own key must be Unicode text of 1 to 512 UTF-8 bytes.");
    return { field: { scope: "m", name }, kind: undefined };
  }
  throw undeclared(reference, schema);
}

function undeclared(reference: FieldReference, schema: FilterSchema): HoldfastError {
  const shown = JSON.stringify(reference.name.slice(0, 64));
  const message = schema.userKeys
    ? `The filter names ${shown}, which is no field of an event: there are ${Object.keys(schema.system ?? {}).join(", ")}. A property of your own is written with m. before it.`
    : `The filter names the undeclared property ${shown}: declare it when the store is opened, or leave it out of the filter.`;
  return new HoldfastError("UNDECLARED_PROPERTY", message, { details: { property: reference.name.slice(0, 64) } });
}
