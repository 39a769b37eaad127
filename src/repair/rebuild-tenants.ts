import type { SqlRow, SqlValue } from "../database/connection.ts";
import { isRowError } from "../database/errors.ts";
import { mintId } from "../io/ids.ts";
import type { Steps } from "../verify/verification.ts";
import { type Rebuild, setAside } from "./rebuild.ts";

/** The tenant that every memory makes first. */
const FIRST_TENANT = { tenant: 1, id: "default" };

/** Tenants and their sessions. One whose row is damaged gets its id from an index or, where that is gone, one that says so. */
export function* rebuildTenants(all: Rebuild): Steps {
  const { staging } = all;
  // A tenant ends in the commit that removes its row: one that has its row has not ended, whatever the list says.
  for (const { tenant = null } of staging.rows("ended_tenants"))
    if (staging.find("tenants", "rowid_", tenant).length === 0) all.ended.add(Number(tenant));
  for (const row of staging.rows("tenants")) {
    yield;
    if (!putTenant(all, Number(row.tenant), row))
      setAside(all, "tenants", row, "its id or life is damaged, or there twice");
  }
  for (const tenant of namedTenants(all)) recoverTenant(all, tenant);
  for (const row of staging.rows("sessions")) {
    yield;
    if (Number(row.ending) === 1) continue;
    restoreSession(all, row);
  }
  for (const session of all.damaged.has("sessions") ? staging.lost("sessions") : []) recoverSession(all, session);
}

function putTenant(all: Rebuild, tenant: number, row: Partial<SqlRow>): boolean {
  const { id, incarnation } = row;
  if (typeof id !== "string" || id === "" || !(tenant > 0)) return false;
  const life = typeof incarnation === "string" && incarnation !== "" ? incarnation : mintId();
  const reason = all.target.insert("tenants", {
    tenant: BigInt(tenant),
    id,
    incarnation: life,
    documents: 0n,
    tokens: 0n,
    changes: 0n,
    changes_floor: toCount(row.changes_floor),
    // One that is being taken in from an archive stays unseen.
    import: row.import ?? null,
    created_at: toCount(row.created_at) || BigInt(all.target.unit.nowMicros),
  });
  if (reason !== undefined) return false;
  all.tenants.set(tenant, life);
  all.ledger.kept("tenants");
  return true;
}

function toCount(value: SqlValue | undefined): bigint {
  return typeof value === "bigint" && value >= 0n ? value : 0n;
}

/** Tenants that sessions and events name and whose own row is not there. */
function namedTenants(all: Rebuild): readonly number[] {
  const named = new Set<number>();
  for (const table of ["sessions", "events"])
    for (const { tenant } of all.staging.connection.prepare(`SELECT DISTINCT tenant FROM ${table}`).all())
      named.add(Number(tenant));
  return [...named]
    .filter((tenant) => tenant > 0 && !all.tenants.has(tenant) && !all.ended.has(tenant))
    .sort((a, b) => a - b);
}

function recoverTenant(all: Rebuild, tenant: number): void {
  const known = all.staging.indexed("tenants", BigInt(tenant));
  if (putTenant(all, tenant, known)) return;
  if (all.damaged.has("ended_tenants")) {
    // What was deleted must not come back.
    all.ledger.miss({
      table: "tenants",
      row: BigInt(tenant),
      fate: "lost",
      reason: "its row is damaged, and whether it was deleted is not known any more",
    });
    return;
  }
  const id = tenant === FIRST_TENANT.tenant ? FIRST_TENANT.id : `recovered-${tenant}`;
  const isPut =
    putTenant(all, tenant, { ...known, id }) ||
    putTenant(all, tenant, { ...known, id: `recovered-${tenant}-${mintId()}` });
  if (isPut && id !== FIRST_TENANT.id)
    all.ledger.notes.push(`The row of tenant ${tenant} is damaged; what it remembers is in the tenant "${id}".`);
}

export function restoreSession(all: Rebuild, row: SqlRow): void {
  const tenant = Number(row.tenant);
  if (all.ended.has(tenant)) return;
  const { session = null, id, user, incarnation, created_at: createdAt = null } = row;
  if (!all.tenants.has(tenant) || typeof id !== "string" || id === "") {
    setAside(all, "sessions", row, "its tenant or its id is not known");
    return;
  }
  const life = typeof incarnation === "string" ? incarnation : mintId();
  const owner = typeof user === "string" ? user : null;
  const reason = all.target.insert("sessions", {
    session,
    tenant: BigInt(tenant),
    id,
    user: owner,
    incarnation: life,
    ending: 0n,
    created_at: createdAt,
  });
  if (reason === undefined) all.ledger.kept("sessions");
  else setAside(all, "sessions", row, reason);
}

/** An index still has the session's id; its user is found by the checksums of its events. */
function recoverSession(all: Rebuild, session: bigint): void {
  const { tenant, id } = all.staging.indexed("sessions", session);
  if (typeof tenant !== "bigint" || typeof id !== "string" || wasDeleted(all, session)) return;
  putSession(all, { session: Number(session), tenant: Number(tenant), id, user: undefined });
}

/** The feed tells which sessions were being deleted: those do not come back. */
export function wasDeleted({ staging }: Rebuild, session: bigint): boolean {
  return staging.find("changes", "session", session).some(({ kind }) => kind === "session-deleted");
}

export interface SessionIdentity {
  readonly session: number;
  readonly tenant: number;
  readonly id: string;
  readonly user: string | undefined;
}

/** Makes a session, or gives one that is there another id and user; answers whether that could be. */
export function putSession(all: Rebuild, { session, tenant, id, user }: SessionIdentity): boolean {
  const { target } = all;
  try {
    const { changes } = target.connection
      .prepare("UPDATE sessions SET id = ?, user = ? WHERE session = ?")
      .run(id, user ?? null, session);
    if (changes > 0) return true;
  } catch (error) {
    if (isRowError(error)) return false;
    throw error;
  }
  const made = { incarnation: mintId(), ending: 0n, created_at: BigInt(target.unit.nowMicros) };
  const reason = target.insert("sessions", {
    session: BigInt(session),
    tenant: BigInt(tenant),
    id,
    user: user ?? null,
    ...made,
  });
  if (reason === undefined) all.ledger.kept("sessions");
  return reason === undefined;
}
