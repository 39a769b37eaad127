import { ensureStore } from "../backends/embedded/lifecycle.ts";
import type { BoundProperties, PropertySchema } from "../contract/properties.ts";
import type { ReadView, WriteUnit } from "../database/operation.ts";
import { assertSameSpace, currentSpace, insertSpace, type Space, type SpaceIdentity } from "../embedding/spaces.ts";
import { createLife, findLife, type Life } from "../registry/lives.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import type { SessionLife } from "./sessions.ts";
import type { TenantLife } from "./tenants.ts";

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

/** In the order of {@link VECTOR_PROPERTIES}. */
export function vectorValues(session: SessionLife, event: NewEvent, nowMicros: number): BoundProperties {
  return [session.id, session.user, event.producer, event.role, event.kind, event.at, BigInt(nowMicros)];
}

/** The space that serves; made with its identity in the commit of the first vector (M1). */
export function ensureSpace(unit: WriteUnit, identity: SpaceIdentity): Space {
  const found = currentSpace(unit.connection);
  if (found !== undefined) {
    assertSameSpace(found, identity);
    return found;
  }
  // A colon cannot stand in the name of a caller's own store (V12), so the two never meet.
  const store = ensureStore(unit, { name: "memory:1", dimensions: identity.dimensions, properties: VECTOR_PROPERTIES });
  return insertSpace(unit.connection, { ...identity, store: store.store }, unit.nowMicros);
}

/** The tenant's partition in the space's store; made with its first vector. */
export function ensureTenantPartition(unit: WriteUnit, space: Space, tenant: TenantLife): Life {
  return (
    findLife(unit.connection, space.store, partitionKey(tenant)) ??
    createLife(unit.connection, space.store, partitionKey(tenant), unit.nowMicros)
  );
}

export function tenantPartition(
  view: Pick<ReadView, "connection">,
  space: Space,
  tenant: TenantLife,
): Life | undefined {
  return findLife(view.connection, space.store, partitionKey(tenant));
}

/** Minted from the tenant's number: its id is free text of any length (V12). */
export function partitionKey(tenant: TenantLife): string {
  return `tenant_${tenant.tenant}`;
}
