import { addColumns } from "../backends/embedded/tables.ts";
import { LIMITS } from "../contract/limits.ts";
import {
  type BoundProperties,
  isPropertyKind,
  type PropertyKind,
  type PropertySchema,
} from "../contract/properties.ts";
import type { Connection } from "../database/connection.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { extendStore, storeById } from "../registry/stores.ts";
import type { UserProperties } from "../segments/sqlite/event-properties.ts";
import { toColumnValue } from "./declared-values.ts";

/**
 * Keys of events that lie beside the vectors, by the order of their declaration; whether every vector has its values by
 * now; how far the fill has come that sees to it; and which tenants hold a value that its key's column cannot (S4).
 */
export const DECLARED_KEYS_SCHEMA = `
CREATE TABLE declared_keys (
  key INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  complete INTEGER NOT NULL
) STRICT;
CREATE TABLE declared_fill (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  filled_to INTEGER NOT NULL,
  up_to INTEGER NOT NULL
) STRICT;
CREATE TABLE declared_exceptions (tenant INTEGER NOT NULL, key INTEGER NOT NULL, UNIQUE (tenant, key)) STRICT;`;

export interface DeclaredKey {
  readonly key: number;
  /** As events have it: `m.name` in a filter. */
  readonly name: string;
  readonly kind: PropertyKind;
  /** Whether the columns of all vectors hold their values. */
  readonly complete: boolean;
}

/** A key's column; numbered, so that no name of a user's key meets one of the memory's own. */
export function columnOf({ key }: Pick<DeclaredKey, "key">): string {
  return `own_${key}`;
}

/** What the database declares, in order; not what a handle was opened with: other processes declare too. */
export function declaredKeys(connection: Connection): readonly DeclaredKey[] {
  return connection
    .prepare("SELECT key, name, kind, complete FROM declared_keys ORDER BY key")
    .all()
    .map((row) => ({
      key: Number(row.key),
      name: String(row.name),
      kind: toKind(String(row.kind)),
      complete: Number(row.complete) === 1,
    }));
}

function toKind(kind: string): PropertyKind {
  if (isPropertyKind(kind)) return kind;
  throw new HoldfastError("DAMAGED", "The table of the memory's declared properties is damaged; it is left as it is.");
}

/** The columns of what is declared now, behind those of the memory's own fields. */
export function declaredColumns(connection: Connection): PropertySchema {
  return Object.fromEntries(declaredKeys(connection).map((key) => [columnOf(key), key.kind]));
}

/** An event's values in the order of {@link declaredColumns}; notes the keys whose column cannot hold what it says. */
export function declaredValues(unit: WriteUnit, tenant: number, properties: UserProperties): BoundProperties {
  return declaredKeys(unit.connection).map((key) => {
    const stored = properties.get(key.name);
    if (stored === undefined) return undefined;
    const value = toColumnValue(key.kind, stored);
    if (value === undefined) noteException(unit.connection, tenant, key.key);
    return value;
  });
}

function noteException(connection: Connection, tenant: number, key: number): void {
  connection.prepare("INSERT OR IGNORE INTO declared_exceptions (tenant, key) VALUES (?, ?)").run(tenant, key);
}

/** Keys of which the tenant has, or once had, a value that the column does not hold. */
export function exceptionsOf(connection: Connection, tenant: number): ReadonlySet<number> {
  const rows = connection.prepare("SELECT key FROM declared_exceptions WHERE tenant = ?").all(tenant);
  return new Set(rows.map(({ key }) => Number(key)));
}

/**
 * Whether some of these keys are yet to be declared: an open without any begins no write.
 *
 * @throws PARTITION_SCHEMA_MISMATCH, LIMIT_EXCEEDED
 */
export const hasUndeclared: ReadOperation<PropertySchema, boolean> = readOperation(
  "memory.has-undeclared",
  (view, asked) => undeclared(declaredKeys(view.connection), asked).length > 0,
);

/** Declares keys for all spaces and tenants in one commit; racing openers agree. */
export const declareKeys: WriteOperation<PropertySchema, null> = writeOperation("memory.declare", (unit, asked) => {
  const { connection } = unit;
  const declared = declaredKeys(connection);
  const last = Number(connection.prepare("SELECT max(segment) AS last FROM segments").get()?.last ?? 0);
  const complete = last === 0;
  const insert = connection.prepare("INSERT INTO declared_keys (key, name, kind, complete) VALUES (?, ?, ?, ?)");
  const columns: [string, PropertyKind][] = [];
  let next = (declared.at(-1)?.key ?? 0) + 1;
  for (const [name, kind] of undeclared(declared, asked)) {
    insert.run(next, name, kind, complete ? 1 : 0);
    columns.push([columnOf({ key: next }), kind]);
    next += 1;
  }
  if (columns.length === 0) return null;
  for (const { store } of connection.prepare("SELECT store FROM spaces").all()) {
    const row = storeById(connection, Number(store));
    if (row === undefined) continue;
    addColumns(connection, row.store, columns);
    extendStore(connection, row, { ...row.properties, ...Object.fromEntries(columns) });
  }
  if (complete) return null;
  // From the first segment again, also where a fill for other keys was under way.
  connection.prepare("INSERT OR REPLACE INTO declared_fill (one, filled_to, up_to) VALUES (1, 0, ?)").run(last);
  return null;
});

/** System fields have columns too: the rest of what a store may declare. */
const KEYS_MAX = LIMITS.propertiesPerStoreMax - 16;

function undeclared(declared: readonly DeclaredKey[], asked: PropertySchema): readonly [string, PropertyKind][] {
  const kinds = new Map(declared.map(({ name, kind }) => [name, kind]));
  const missing = Object.entries(asked).filter(([name, kind]) => {
    const stands = kinds.get(name);
    if (stands === undefined || stands === kind) return stands === undefined;
    const message = `The memory declares "${name}" as ${stands}, not ${kind}; types are fixed when a key is declared.`;
    throw new HoldfastError("PARTITION_SCHEMA_MISMATCH", message, {
      details: { key: name, declared: stands, asked: kind },
    });
  });
  const count = declared.length + missing.length;
  if (count <= KEYS_MAX) return missing;
  const message = `A memory declares at most ${KEYS_MAX} properties; with these it would be ${count}.`;
  throw new HoldfastError("LIMIT_EXCEEDED", message, { details: { limit: KEYS_MAX, count } });
}
