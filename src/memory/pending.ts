import type { Connection } from "../database/connection.ts";
import { type ReadOperation, readOperation, type WriteUnit } from "../database/operation.ts";
import type { BoundFilter } from "../filter/index.ts";
import { pendingByState } from "../segments/sqlite/event-filter.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/**
 * Segments that have no vector yet (S7). `waiting` ones are tried again from `next_at` on; `parked` ones failed for what
 * they say and are tried again only when somebody asks. Whoever tries one claims it for a while. Times in milliseconds.
 */
export const PENDING_SCHEMA = `
CREATE TABLE pending_vectors (
  segment INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  event INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'parked')),
  attempts INTEGER NOT NULL,
  text_failures INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  claimed_until INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX pending_by_tenant ON pending_vectors (tenant, state);
CREATE INDEX pending_by_event ON pending_vectors (event);
CREATE INDEX pending_due ON pending_vectors (state, next_at);`;

export type PendingState = "waiting" | "parked";

const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 5 * 60_000;

/** Why a segment has no vector: a code of ours, no text and no secret. */
export interface Missing {
  readonly reason: string;
}

export function insertPending(
  { connection, nowMicros }: Pick<WriteUnit, "connection" | "nowMicros">,
  segment: { readonly segment: number; readonly tenant: number; readonly event: number },
  { reason }: Missing,
): void {
  connection
    .prepare(
      `INSERT INTO pending_vectors (segment, tenant, event, state, attempts, text_failures, next_at, claimed_until, reason)
       VALUES (?, ?, ?, 'waiting', 1, 0, ?, 0, ?)`,
    )
    .run(segment.segment, segment.tenant, segment.event, toMs(nowMicros) + backoffMs(1), reason);
}

export function removePending({ connection }: Pick<WriteUnit, "connection">, event: number): void {
  connection.prepare("DELETE FROM pending_vectors WHERE event = ?").run(event);
}

export interface PendingRow {
  readonly segment: number;
  readonly event: string;
  readonly session: string;
  readonly state: PendingState;
  readonly attempts: number;
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly nextAt: number;
}

export interface ListPendingInput {
  readonly tenant: TenantLife;
  readonly state: PendingState | undefined;
  readonly after: number;
  readonly limit: number;
}

export const listPending: ReadOperation<ListPendingInput, readonly PendingRow[]> = readOperation(
  "memory.list-pending",
  (view, { tenant, state, after, limit }) => {
    requireTenant(view.connection, tenant);
    const rows = view.connection
      .prepare(
        `SELECT p.segment, p.state, p.attempts, p.reason, p.next_at, e.id AS event, n.id AS session
         FROM pending_vectors AS p JOIN events AS e ON e.event = p.event JOIN sessions AS n ON n.session = e.session
         WHERE p.tenant = ? AND p.segment > ? AND (? IS NULL OR p.state = ?) ORDER BY p.segment LIMIT ?`,
      )
      .all(tenant.tenant, after, state ?? null, state ?? null, limit);
    return rows.map((row) => ({
      segment: Number(row.segment),
      event: String(row.event),
      session: String(row.session),
      state: row.state as PendingState,
      attempts: Number(row.attempts),
      reason: String(row.reason),
      nextAt: Number(row.next_at),
    }));
  },
);

/** How many segments within a filter on events have no vector. */
export function countPending(
  connection: Connection,
  { tenant }: TenantLife,
  filter: BoundFilter | undefined,
): Record<PendingState, number> {
  const counts = { waiting: 0, parked: 0 };
  for (const { state, count } of pendingByState(connection, { tenant, filter })) counts[state as PendingState] = count;
  return counts;
}

/** Whether any segment of any tenant waits. */
export const hasPending: ReadOperation<null, boolean> = readOperation("memory.has-pending", (view) => {
  const select = view.connection.prepare(
    "SELECT EXISTS (SELECT 1 FROM pending_vectors WHERE state = 'waiting') AS found",
  );
  return select.get()?.found === 1;
});

export function toMs(micros: number): number {
  return Math.floor(micros / 1_000);
}

/** How long a segment waits behind so many failed attempts. */
export function backoffMs(attempts: number): number {
  return Math.min(BACKOFF_MS * 2 ** Math.min(attempts - 1, 20), BACKOFF_MAX_MS);
}
