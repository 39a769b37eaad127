import type { Connection } from "../database/connection.ts";
import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import type { BoundFilter } from "../filter/index.ts";
import { pendingByState } from "../segments/sqlite/event-filter.ts";
import { EVENT_COLUMNS, type StoredEvent, toWholeEvent } from "../segments/sqlite/events.ts";
import type { PendingRow, PendingState } from "../segments/sqlite/pending-vectors.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/** Which pending segments are meant: those of one tenant, or of all that are due. */
export interface PendingSelection {
  readonly tenant: TenantLife | undefined;
  /** Only waiting ones that are due by then, in microseconds since 1970; without it every waiting one. */
  readonly dueAt: number | undefined;
  readonly includeParked: boolean;
}

export interface PendingWindow extends PendingSelection {
  readonly after: number;
  readonly limit: number;
}

/** A pending segment with its event; `damaged` when the event's checksum does not hold. */
export interface PendingSegment extends Pick<PendingRow, "segment" | "state" | "attempts"> {
  readonly range: SegmentRange;
  readonly event: StoredEvent | "damaged";
}

/** The next pending segments in the order of their numbers, so that one pass meets each once. */
export const readPendingWindow: ReadOperation<PendingWindow, readonly PendingSegment[]> = readOperation(
  "memory.pending-window",
  (view, { tenant, dueAt, includeParked, after, limit }) => {
    if (tenant !== undefined) requireTenant(view.connection, tenant);
    const due = dueAt === undefined ? "" : "AND p.next_at <= ?";
    const states = includeParked ? "p.state IN ('waiting', 'parked')" : "p.state = 'waiting'";
    const whose = tenant === undefined ? "" : "AND p.tenant = ?";
    const rows = view.connection
      .prepare(
        // What an ended tenant left is reclaimed, and not embedded any more.
        `SELECT p.segment, p.tenant, p.state, p.attempts, s.event, s.start, s."end" FROM pending_vectors AS p
         JOIN segments AS s ON s.segment = p.segment JOIN tenants AS t ON t.tenant = p.tenant
         WHERE p.segment > ? AND ${states} ${due} ${whose} ORDER BY p.segment LIMIT ?`,
      )
      .all(after, ...(dueAt === undefined ? [] : [dueAt]), ...(tenant === undefined ? [] : [tenant.tenant]), limit);
    const events = new Map<number, StoredEvent | "damaged">();
    return rows.map((row) => {
      const number = Number(row.event);
      const event = events.get(number) ?? readByNumber(view, number);
      events.set(number, event);
      return {
        segment: Number(row.segment),
        state: row.state === "parked" ? ("parked" as const) : ("waiting" as const),
        attempts: Number(row.attempts),
        range: { start: Number(row.start), end: Number(row.end) },
        event,
      };
    });
  },
);

/** An event by its number; `damaged` also when it is not there, though its segment is. */
export function readByNumber({ connection }: Pick<ReadView, "connection">, event: number): StoredEvent | "damaged" {
  const row = connection
    .prepare(
      `SELECT ${EVENT_COLUMNS}, e.tenant FROM events AS e JOIN sessions AS n ON n.session = e.session WHERE e.event = ?`,
      { bigints: true },
    )
    .get(event);
  return row === undefined ? "damaged" : toWholeEvent(connection, Number(row.tenant), row);
}

export interface PendingPageInput {
  readonly tenant: TenantLife;
  readonly state: PendingRow["state"] | undefined;
  readonly after: number;
  readonly limit: number;
}

export interface ListedPending extends PendingRow {
  readonly event: string;
  readonly session: string;
  readonly range: SegmentRange;
}

/** One page of a tenant's pending segments, by number. */
export const listPendingRows: ReadOperation<PendingPageInput, readonly ListedPending[]> = readOperation(
  "memory.list-pending",
  ({ connection }, { tenant, state, after, limit }) => {
    requireTenant(connection, tenant);
    const states = state === undefined ? "" : `AND p.state = '${state === "parked" ? "parked" : "waiting"}'`;
    const rows = connection
      .prepare(
        `SELECT p.segment, p.tenant, p.state, p.attempts, p.next_at, p.reason, s.start, s."end", e.id AS event, n.id AS session
         FROM pending_vectors AS p JOIN segments AS s ON s.segment = p.segment JOIN events AS e ON e.event = s.event
         JOIN sessions AS n ON n.session = e.session
         WHERE p.tenant = ? AND p.segment > ? AND n.ending = 0 ${states} ORDER BY p.segment LIMIT ?`,
      )
      .all(tenant.tenant, after, limit);
    return rows.map((row) => ({
      segment: Number(row.segment),
      tenant: Number(row.tenant),
      state: row.state === "parked" ? ("parked" as const) : ("waiting" as const),
      attempts: Number(row.attempts),
      nextAt: Number(row.next_at),
      reason: String(row.reason),
      event: String(row.event),
      session: String(row.session),
      range: { start: Number(row.start), end: Number(row.end) },
    }));
  },
);

/** How many segments within a filter on events have no vector. */
export function countPending(
  connection: Connection,
  { tenant }: TenantLife,
  filter: BoundFilter | undefined,
): Readonly<Record<PendingState, number>> {
  const counts = { waiting: 0, parked: 0 };
  for (const { state, count } of pendingByState(connection, { tenant, filter }))
    counts[state === "parked" ? "parked" : "waiting"] = count;
  return counts;
}

/** A tenant's counts; refuses an embedder whose vectors do not belong here, before anything is embedded. */
export const countPendingRows: ReadOperation<
  { readonly tenant: TenantLife; readonly space: SpaceIdentity },
  Readonly<Record<PendingState, number>>
> = readOperation("memory.count-pending", ({ connection }, { tenant, space }) => {
  requireTenant(connection, tenant);
  const stored = currentSpace(connection);
  if (stored !== undefined) assertSameSpace(stored, space);
  return countPending(connection, tenant, undefined);
});
