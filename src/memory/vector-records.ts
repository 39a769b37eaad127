import { ensureStore } from "../backends/embedded/lifecycle.ts";
import type { BoundProperties, PropertySchema } from "../contract/properties.ts";
import type { ReadView, WriteUnit } from "../database/operation.ts";
import { assertSameSpace, currentSpace, insertSpace, type Space, type SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { createLife, findLife, type Life } from "../registry/lives.ts";
import type { EventOwner, NewEvent } from "../segments/sqlite/events.ts";
import { declaredColumns, declaredValues } from "./declared-keys.ts";
import { noteStorage, partitionKey, storageOf, type TenantLife } from "./tenants.ts";

/** System fields that lie beside the vectors as columns, so that filters on them act during the scan (D4). */
export const VECTOR_PROPERTIES: PropertySchema = {
  session: "string",
  user: "string",
  producer: "string",
  role: "string",
  kind: "string",
  at: "datetime",
  created_at: "datetime",
};

/**
 * The values beside an event's vectors: {@link VECTOR_PROPERTIES}, then the keys that the database declares. The one way
 * to them, so that no write leaves a column behind that a filter relies on (S4).
 */
export function vectorValues(
  unit: WriteUnit,
  owner: EventOwner,
  event: Pick<NewEvent, "producer" | "role" | "kind" | "at" | "properties">,
  createdAt: bigint,
): BoundProperties {
  const own = declaredValues(unit, owner.tenant, event.properties);
  return [owner.sessionId, owner.user, event.producer, event.role, event.kind, event.at, createdAt, ...own];
}

/** The space that serves; made with its identity in the commit of the first vector (M1). */
export function ensureSpace(
  unit: WriteUnit,
  identity: SpaceIdentity,
  createdAt: bigint = BigInt(unit.nowMicros),
): Space {
  const found = currentSpace(unit.connection);
  if (found !== undefined) {
    assertSameSpace(found, identity);
    return found;
  }
  // A colon cannot stand in the name of a caller's own store (V12), so the two never meet.
  const properties = { ...VECTOR_PROPERTIES, ...declaredColumns(unit.connection) };
  const store = ensureStore(unit, { name: "memory:1", dimensions: identity.dimensions, properties });
  return insertSpace(unit.connection, { ...identity, store: store.store }, createdAt);
}

/** The tenant's partition in the space's store; made with its first vector, which the tenant's row notes (S2). */
export function ensureTenantPartition(unit: WriteUnit, space: Space, tenant: TenantLife): Life {
  const found = tenantPartition(unit, space, tenant);
  if (found !== undefined) return found;
  noteStorage(unit.connection, tenant, space.space);
  return createLife(unit.connection, space.store, partitionKey(tenant), unit.nowMicros);
}

/**
 * The tenant's partition, or `undefined` before its first vector.
 *
 * @throws STORAGE_MISSING when it had one: such a tenant is broken, not new (S2)
 */
export function tenantPartition(
  view: Pick<ReadView, "connection">,
  space: Space,
  tenant: TenantLife,
): Life | undefined {
  const life = findLife(view.connection, space.store, partitionKey(tenant));
  if (life !== undefined || storageOf(view.connection, tenant) !== space.space) return life;
  const message = `The vectors of tenant ${JSON.stringify(tenant.id)} are gone from the database; restore it from a backup, or rebuild them from the texts.`;
  throw new HoldfastError("STORAGE_MISSING", message, { details: { tenant: tenant.id } });
}
