import type { Filter } from "./filter-tree.ts";
import type { PropertySchema } from "./properties.ts";

/** Placeholder for the builder's types: see filter/builder.ts. */
export type Where<_S extends PropertySchema = PropertySchema> = string | Filter;
