import type { FilterBuilder } from "./filter-builder.ts";
import type { Filter } from "./filter-tree.ts";
import type { PropertySchema } from "./properties.ts";

export type JsonFilterValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | readonly JsonFilterValue[]
  | { readonly [key: string]: JsonFilterValue };

/** A filter as a JSON object: `{ year: { $gte: 2024 }, $or: [{ lang: "en" }, { draft: true }] }`. */
export interface JsonFilter {
  readonly [key: string]: JsonFilterValue;
}

/** A filter through any door: text, JSON object, tree, or a function of a typed builder. */
export type Where<S extends PropertySchema = PropertySchema> =
  | string
  | Filter
  | JsonFilter
  | ((f: FilterBuilder<S>) => Filter);
