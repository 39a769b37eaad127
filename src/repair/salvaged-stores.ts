import { assertSchema, type PropertySchema } from "../contract/properties.ts";
import type { SqlRow } from "../database/connection.ts";
import { VECTOR_PROPERTIES } from "../memory/vector-records.ts";
import type { StoreRow } from "../registry/stores.ts";
import type { Staging } from "./staging.ts";

/** The stores as their rows say; those of the memory's spaces are known also where their own row is gone. */
export function storesFrom(staging: Staging): readonly StoreRow[] {
  const stores = new Map<number, StoreRow>();
  for (const row of staging.rows("stores")) {
    const store = toStore(row);
    if (store !== undefined) stores.set(store.store, store);
  }
  const declared = declaredColumnsFrom(staging);
  for (const row of staging.rows("spaces")) {
    const [store, dimensions] = [Number(row.store), Number(row.dimensions)];
    if (stores.has(store) || !(store > 0 && dimensions > 0)) continue;
    stores.set(store, {
      store,
      name: `memory:${row.space}`,
      dimensions,
      properties: { ...VECTOR_PROPERTIES, ...declared },
    });
  }
  return [...stores.values()].sort((a, b) => a.store - b.store);
}

function declaredColumnsFrom(staging: Staging): PropertySchema {
  const columns = [...staging.rows("declared_keys")].map(({ key, kind }) => [`own_${key}`, String(kind)]);
  const schema: unknown = Object.fromEntries(columns);
  try {
    assertSchema(schema);
    return schema;
  } catch {
    return {};
  }
}

function toStore(row: SqlRow): StoreRow | undefined {
  try {
    const properties: unknown = Object.fromEntries(JSON.parse(String(row.properties)) as [string, never][]);
    assertSchema(properties);
    const [store, dimensions] = [Number(row.store), Number(row.dimensions)];
    const isUsable = store > 0 && dimensions > 0 && typeof row.name === "string" && row.name !== "";
    return isUsable ? { store, name: String(row.name), dimensions, properties } : undefined;
  } catch {
    return undefined;
  }
}
