import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { dropReceiptsOf } from "../registry/receipts.ts";
import { eventsOfSession, eventsOfTenant } from "../segments/sqlite/event-filter.ts";
import { FORGOTTEN_PER_COMMIT, removeEvents } from "./forget.ts";
import { dropAbandonedImport } from "./imports.ts";
import { dropSummaryOf } from "./summaries.ts";
import type { TenantLife } from "./tenants.ts";

/** Narrow rows of one commit. */
const ROWS_PER_COMMIT = 2_000;

/** Whether ended tenants or sessions have left something: an open without any begins no write. */
export const hasReclaimable: ReadOperation<null, boolean> = readOperation("memory.has-reclaimable", (view) => {
  const select = view.connection.prepare(
    "SELECT EXISTS (SELECT 1 FROM ended_tenants) OR EXISTS (SELECT 1 FROM sessions WHERE ending = 1) OR EXISTS (SELECT 1 FROM imports) AS found",
  );
  return select.get()?.found === 1;
});

/**
 * One bounded step of removing what ended tenants and sessions left; answers whether more remains. Any process may
 * take any step, so that a deletion goes on after a crash (G1).
 */
export const reclaimMemory: WriteOperation<null, boolean> = writeOperation("memory.reclaim", (unit) => {
  const tenant = unit.connection.prepare("SELECT tenant FROM ended_tenants ORDER BY tenant LIMIT 1").get()?.tenant;
  if (tenant !== undefined) {
    reclaimTenant(unit, Number(tenant));
    return true;
  }
  const ending = unit.connection.prepare("SELECT session FROM sessions WHERE ending = 1 LIMIT 1").get()?.session;
  if (ending === undefined) return dropAbandonedImport(unit);
  reclaimSession(unit, Number(ending));
  return true;
});

/** The same for one ended tenant; answers whether something of it remains. */
export const reclaimEndedTenant: WriteOperation<number, boolean> = writeOperation(
  "memory.reclaim-tenant",
  (unit, tenant) => reclaimTenant(unit, tenant),
);

/** The same for one session that is being deleted. */
export const reclaimEndingSession: WriteOperation<number, boolean> = writeOperation(
  "memory.reclaim-session",
  (unit, session) => reclaimSession(unit, session),
);

function reclaimTenant(unit: WriteUnit, tenant: number): boolean {
  const { connection } = unit;
  const ended = connection.prepare("SELECT 1 AS found FROM ended_tenants WHERE tenant = ?").get(tenant);
  if (ended === undefined) return false;
  const events = eventsOfTenant(connection, tenant, FORGOTTEN_PER_COMMIT);
  removeEvents(unit, endedLife(tenant), events);
  if (events.length === FORGOTTEN_PER_COMMIT) return true;
  const sessions = connection
    .prepare("DELETE FROM sessions WHERE session IN (SELECT session FROM sessions WHERE tenant = ? LIMIT ?)")
    .run(tenant, FORGOTTEN_PER_COMMIT);
  if (sessions.changes === FORGOTTEN_PER_COMMIT) return true;
  for (const table of [
    "changes",
    "summaries",
    "pending_vectors",
    "declared_exceptions",
    "receipt_events",
    "receipts",
  ]) {
    const rows = connection
      .prepare(`DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE tenant = ? LIMIT ?)`)
      .run(tenant, ROWS_PER_COMMIT);
    if (rows.changes === ROWS_PER_COMMIT) return true;
  }
  connection.prepare("DELETE FROM ended_tenants WHERE tenant = ?").run(tenant);
  return false;
}

function reclaimSession(unit: WriteUnit, session: number): boolean {
  const { connection } = unit;
  const row = connection
    .prepare(
      "SELECT t.tenant, t.id, t.incarnation FROM sessions AS n JOIN tenants AS t ON t.tenant = n.tenant WHERE n.session = ? AND n.ending = 1",
    )
    .get(session);
  // Its tenant may have ended meanwhile, and takes it along.
  if (row === undefined) return false;
  const life = { tenant: Number(row.tenant), id: String(row.id), incarnation: String(row.incarnation) };
  const events = eventsOfSession(connection, session, FORGOTTEN_PER_COMMIT);
  removeEvents(unit, life, events);
  if (events.length === FORGOTTEN_PER_COMMIT) return true;
  if (dropReceiptsOf(connection, { kind: "session", number: session }, ROWS_PER_COMMIT) === ROWS_PER_COMMIT)
    return true;
  dropSummaryOf(connection, session);
  connection.prepare("DELETE FROM sessions WHERE session = ?").run(session);
  return false;
}

/** Of a tenant whose row is gone: its partition's life has ended with it, and nothing is counted any more. */
function endedLife(tenant: number): TenantLife {
  return { tenant, id: "", incarnation: "" };
}
