import type { Connection } from "../database/connection.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import { mintId } from "../io/ids.ts";
import { endLife } from "../registry/lives.ts";
import { type KeyedCall, once } from "../registry/receipts.ts";
import { FOLDER_RECEIPTS } from "./receipt-owners.ts";

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

export interface TenantInput {
  readonly id: string;
  readonly keyed: KeyedCall | undefined;
}

export interface CreateTenantOutput {
  readonly life: TenantLife;
  readonly created: boolean;
}

/** Racing equal creations all answer the one that stands (S1). */
export const createTenantRow: WriteOperation<TenantInput, CreateTenantOutput> = writeOperation(
  "memory.create-tenant",
  (unit, { id, keyed }) => once(unit, FOLDER_RECEIPTS, keyed, () => createTenant(unit, id)),
);

function createTenant(unit: WriteUnit, id: string): CreateTenantOutput {
  const insert = unit.connection.prepare(
    "INSERT INTO tenants (id, incarnation, documents, tokens, created_at) VALUES (?, ?, 0, 0, ?) ON CONFLICT (id) WHERE import IS NULL DO NOTHING",
  );
  const { changes } = insert.run(id, mintId(), unit.nowMicros);
  const life = findTenant(unit.connection, id);
  if (life === undefined) throw new HoldfastError("BUG", "A tenant was not there after its creation.");
  return { life, created: changes === 1 };
}

export const findTenantRow: ReadOperation<string, TenantLife | undefined> = readOperation(
  "memory.find-tenant",
  (view, id) => findTenant(view.connection, id),
);

export interface TenantRow {
  readonly id: string;
  /** Segments in the text index. */
  readonly segments: number;
  /** Microseconds since 1970. */
  readonly createdAt: bigint;
}

/** One page of tenants by id, behind `after`. */
export const listTenantRows: ReadOperation<{ readonly after: string; readonly limit: number }, readonly TenantRow[]> =
  readOperation("memory.list-tenants", (view, { after, limit }) => {
    const select = view.connection.prepare(
      "SELECT id, documents, created_at FROM tenants WHERE import IS NULL AND id > ? ORDER BY id LIMIT ?",
      { bigints: true },
    );
    return select.all(after, limit).map((row) => ({
      id: String(row.id),
      segments: Number(row.documents),
      createdAt: BigInt(row.created_at as bigint),
    }));
  });

/**
 * Ends a tenant's life in constant time: its row goes, so that nothing of it can be read any more, and what it left is
 * reclaimed in steps. Answers its number, or `undefined` when there is none.
 */
export const endTenant: WriteOperation<TenantInput, number | undefined> = writeOperation(
  "memory.end-tenant",
  (unit, { id, keyed }) => once(unit, FOLDER_RECEIPTS, keyed, () => end(unit, id)),
);

function end(unit: WriteUnit, id: string): number | undefined {
  const row = unit.connection.prepare("DELETE FROM tenants WHERE id = ? AND import IS NULL RETURNING tenant").get(id);
  if (row === undefined) return undefined;
  const tenant = Number(row.tenant);
  endLives(unit, tenant);
  return tenant;
}

/** Of a tenant whose row is gone: its partitions end, and what it left is reclaimed in steps. */
export function endLives({ connection, nowMicros }: WriteUnit, tenant: number): void {
  for (const { store } of connection.prepare("SELECT store FROM spaces").all())
    endLife(connection, Number(store), partitionKey({ tenant }), nowMicros);
  connection.prepare("INSERT INTO ended_tenants (tenant, ended_at) VALUES (?, ?)").run(tenant, nowMicros);
}

/** The key of a tenant's partitions. Minted from its number: its id is free text of any length (V12). */
export function partitionKey({ tenant }: Pick<TenantLife, "tenant">): string {
  return `tenant_${tenant}`;
}

export function findTenant(connection: Connection, id: string): TenantLife | undefined {
  const row = connection.prepare("SELECT tenant, incarnation FROM tenants WHERE id = ? AND import IS NULL").get(id);
  return row && { tenant: Number(row.tenant), id, incarnation: String(row.incarnation) };
}

/** The tenant's counts, or STALE when its life has ended: the fence of every read and write (S11). */
export function requireTenant(connection: Connection, life: TenantLife): TenantState {
  const row = connection
    .prepare("SELECT documents, tokens FROM tenants WHERE tenant = ? AND incarnation = ?")
    .get(life.tenant, life.incarnation);
  if (row === undefined) throw new HoldfastError("STALE", "The tenant of this handle was deleted; ask for it anew.");
  return { documents: Number(row.documents), tokens: Number(row.tokens) };
}

/** Notes that the tenant has storage in a space. */
export function noteStorage(connection: Connection, life: TenantLife, space: number): void {
  connection.prepare("UPDATE tenants SET storage_space = ? WHERE tenant = ?").run(space, life.tenant);
}

/** The space in which the tenant has storage, or `undefined` before its first vector. */
export function storageOf(connection: Connection, life: TenantLife): number | undefined {
  const row = connection.prepare("SELECT storage_space FROM tenants WHERE tenant = ?").get(life.tenant);
  const space = row?.storage_space;
  return space === null || space === undefined ? undefined : Number(space);
}

/** Counts segments in, or out with negative numbers. */
export function countSegments(connection: Connection, tenant: number, documents: number, tokens: number): void {
  connection
    .prepare("UPDATE tenants SET documents = documents + ?, tokens = tokens + ? WHERE tenant = ?")
    .run(documents, tokens, tenant);
}
