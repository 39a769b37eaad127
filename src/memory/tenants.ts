import type { Connection } from "../database/connection.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";

/** One life of a tenant. */
export interface TenantLife {
  readonly tenant: number;
  readonly id: string;
  readonly incarnation: string;
}

export interface TenantState {
  /** Segments in the text index, and their words. */
  readonly documents: number;
  readonly tokens: number;
}

export function findTenant(connection: Connection, id: string): TenantLife | undefined {
  const row = connection.prepare("SELECT tenant, incarnation FROM tenants WHERE id = ?").get(id);
  return row && { tenant: Number(row.tenant), id, incarnation: String(row.incarnation) };
}

/** Racing equal creations all answer the one that stands (S1). */
export function ensureTenant(connection: Connection, id: string, nowMicros: number): TenantLife {
  connection
    .prepare(
      "INSERT INTO tenants (id, incarnation, documents, tokens, created_at) VALUES (?, ?, 0, 0, ?) ON CONFLICT (id) DO NOTHING",
    )
    .run(id, mintId(), nowMicros);
  const life = findTenant(connection, id);
  if (life === undefined) throw new HoldfastError("BUG", "A tenant was not there after its creation.");
  return life;
}

/** The tenant's counts, or STALE when its life has ended: the fence of every read and write (S11). */
export function requireTenant(connection: Connection, life: TenantLife): TenantState {
  const row = connection
    .prepare("SELECT documents, tokens FROM tenants WHERE tenant = ? AND incarnation = ?")
    .get(life.tenant, life.incarnation);
  if (row === undefined) throw new HoldfastError("STALE", "The tenant of this handle was deleted; ask for it anew.");
  return { documents: Number(row.documents), tokens: Number(row.tokens) };
}

/** Counts segments in, or out with negative numbers. */
export function countSegments(connection: Connection, tenant: number, documents: number, tokens: number): void {
  connection
    .prepare("UPDATE tenants SET documents = documents + ?, tokens = tokens + ? WHERE tenant = ?")
    .run(documents, tokens, tenant);
}
