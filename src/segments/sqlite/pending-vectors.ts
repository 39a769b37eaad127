import type { Connection } from "../../database/connection.ts";

/**
 * Segments that wait for their vectors (S7). A waiting one is tried again from `next_at` on, in microseconds since 1970;
 * a parked one failed by itself, again and again, and waits to be asked for. `reason` holds no text and no secret.
 */
export const PENDING_VECTORS_SCHEMA = `
CREATE TABLE pending_vectors (
  segment INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'parked')),
  attempts INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX pending_vectors_due ON pending_vectors (state, next_at);
CREATE INDEX pending_vectors_by_tenant ON pending_vectors (tenant, segment);`;

export type PendingState = "waiting" | "parked";

export interface PendingRow {
  readonly segment: number;
  readonly tenant: number;
  readonly state: PendingState;
  /** Attempts that failed because of the text itself. */
  readonly attempts: number;
  /** Microseconds since 1970. */
  readonly nextAt: number;
  readonly reason: string;
}

export function insertPending(
  connection: Connection,
  row: Pick<PendingRow, "segment" | "tenant" | "nextAt" | "reason"> & Partial<Pick<PendingRow, "state" | "attempts">>,
): void {
  const { segment, tenant, state = "waiting", attempts = 0, nextAt, reason } = row;
  connection
    .prepare(
      "INSERT INTO pending_vectors (segment, tenant, state, attempts, next_at, reason) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(segment, tenant, state, attempts, nextAt, reason);
}

export function findPending(connection: Connection, segment: number): PendingRow | undefined {
  const row = connection
    .prepare("SELECT segment, tenant, state, attempts, next_at, reason FROM pending_vectors WHERE segment = ?")
    .get(segment);
  return (
    row && {
      segment: Number(row.segment),
      tenant: Number(row.tenant),
      state: row.state === "parked" ? "parked" : "waiting",
      attempts: Number(row.attempts),
      nextAt: Number(row.next_at),
      reason: String(row.reason),
    }
  );
}

/** Notes one more attempt that failed. */
export function updatePending(
  connection: Connection,
  row: Pick<PendingRow, "segment" | "state" | "attempts" | "nextAt" | "reason">,
): void {
  connection
    .prepare("UPDATE pending_vectors SET state = ?, attempts = ?, next_at = ?, reason = ? WHERE segment = ?")
    .run(row.state, row.attempts, row.nextAt, row.reason, row.segment);
}

export function deletePending(connection: Connection, segment: number): void {
  connection.prepare("DELETE FROM pending_vectors WHERE segment = ?").run(segment);
}

export function hasPending(connection: Connection, tenant: number, eventId: string): boolean {
  const found = connection
    .prepare(
      `SELECT 1 AS found FROM events AS e JOIN segments AS s ON s.event = e.event
       JOIN pending_vectors AS p ON p.segment = s.segment WHERE e.tenant = ? AND e.id = ? LIMIT 1`,
    )
    .get(tenant, eventId);
  return found !== undefined;
}
