import { assertSchema, type PropertySchema } from "../contract/properties.ts";
import type { Connection } from "../database/connection.ts";
import type { StoreRow } from "../registry/stores.ts";

/** A store's row as it is found: `row` is absent when it says nothing that can be used. */
export interface StoredStore {
  readonly store: number;
  readonly row: StoreRow | undefined;
}

export function storesOf(connection: Connection): readonly StoredStore[] {
  const rows = connection.prepare("SELECT store, name, dimensions, properties FROM stores ORDER BY store").all();
  return rows.map(({ store, name, dimensions, properties }) => {
    const schema = toSchema(String(properties));
    const isUsable = schema !== undefined && Number(dimensions) >= 1;
    const row = { store: Number(store), name: String(name), dimensions: Number(dimensions), properties: schema ?? {} };
    return { store: Number(store), row: isUsable ? row : undefined };
  });
}

function toSchema(text: string): PropertySchema | undefined {
  try {
    const schema: unknown = Object.fromEntries(JSON.parse(text) as [string, never][]);
    assertSchema(schema);
    return schema;
  } catch {
    return undefined;
  }
}
