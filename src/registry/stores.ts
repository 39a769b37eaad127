import { assertSchema, type PropertyKind, type PropertySchema } from "../contract/properties.ts";
import type { Connection } from "../database/connection.ts";
import { HoldfastError } from "../errors/index.ts";

/** A store as its row says. `properties` keeps the order in which keys were declared. */
export interface StoreRow {
  readonly store: number;
  readonly name: string;
  readonly dimensions: number;
  readonly properties: PropertySchema;
}

export function findStore(connection: Connection, name: string): StoreRow | undefined {
  const row = connection.prepare("SELECT store, dimensions, properties FROM stores WHERE name = ?").get(name);
  return (
    row && {
      store: Number(row.store),
      name,
      dimensions: Number(row.dimensions),
      properties: parseSchema(String(row.properties), name),
    }
  );
}

export function storeById(connection: Connection, store: number): StoreRow | undefined {
  const row = connection.prepare("SELECT name, dimensions, properties FROM stores WHERE store = ?").get(store);
  return (
    row && {
      store,
      name: String(row.name),
      dimensions: Number(row.dimensions),
      properties: parseSchema(String(row.properties), String(row.name)),
    }
  );
}

export function insertStore(
  connection: Connection,
  name: string,
  dimensions: number,
  properties: PropertySchema,
): StoreRow {
  const insert = connection.prepare("INSERT INTO stores (name, dimensions, properties) VALUES (?, ?, ?)");
  const { lastInsertRowid } = insert.run(name, dimensions, JSON.stringify(Object.entries(properties)));
  return { store: lastInsertRowid, name, dimensions, properties };
}

/** Declares further keys; the types of those that stand are fixed (P1). */
export function extendStore(connection: Connection, row: StoreRow, properties: PropertySchema): StoreRow {
  connection
    .prepare("UPDATE stores SET properties = ? WHERE store = ?")
    .run(JSON.stringify(Object.entries(properties)), row.store);
  return { ...row, properties };
}

/** Raises STORE_MISMATCH or PARTITION_SCHEMA_MISMATCH; answers the keys that are not declared yet. */
export function undeclaredKeys(
  row: StoreRow,
  dimensions: number,
  properties: PropertySchema,
): readonly [string, PropertyKind][] {
  if (row.dimensions !== dimensions) {
    const message = `The store "${row.name}" has ${row.dimensions} dimensions, not ${dimensions}; open it with these or choose another name.`;
    throw new HoldfastError("STORE_MISMATCH", message, {
      details: { store: row.name, dimensions: row.dimensions, asked: dimensions },
    });
  }
  return Object.entries(properties).filter(([key, kind]) => {
    const declared = Object.hasOwn(row.properties, key) ? row.properties[key] : undefined;
    if (declared !== undefined && declared !== kind) {
      const message = `The store "${row.name}" declares "${key}" as ${declared}, not ${kind}; types are fixed when a key is declared.`;
      throw new HoldfastError("PARTITION_SCHEMA_MISMATCH", message, {
        details: { store: row.name, key, declared, asked: kind },
      });
    }
    return declared === undefined;
  });
}

/** Damage of the row is named as such: a key of another kind would give every value another meaning. */
function parseSchema(text: string, store: string): PropertySchema {
  try {
    const schema: unknown = Object.fromEntries(JSON.parse(text) as [string, PropertyKind][]);
    assertSchema(schema);
    return schema;
  } catch (cause) {
    const message = `The row of the store "${store}" is damaged; it is left as it is.`;
    throw new HoldfastError("DAMAGED", message, { cause, details: { store } });
  }
}
