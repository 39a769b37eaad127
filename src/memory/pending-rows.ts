import type { Connection } from "../database/connection.ts";
import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import type { BoundFilter } from "../filter/index.ts";
import { pendingByState } from "../segments/sqlite/event-filter.ts";
import { EVENT_COLUMNS, type StoredEvent, toWholeEvent } from "../segments/sqlite/events.ts";
import type { PendingRow, PendingState } from "../segments/sqlite/pending-vectors.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";
import { PAUSE_MS_MAX } from "./backoff.ts";
import { requireScope, type Scope } from "./event-rows.ts";
import { bindScope } from "./scope.ts";
import type { TenantLife } from "./tenants.ts";

/** Which pending segments are meant: those of a tenant or of one session, or of all that are due. */
export interface PendingSelection {
  readonly scope: Scope | undefined;
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
  (view, { scope, dueAt, includeParked, after, limit }) => {
    if (scope !== undefined) requireScope(view, scope);
    // One that is due further ahead than any pause was noted before the clock was set back.
    const due = dueAt === undefined ? "" : "AND p.next_at NOT BETWEEN ? + 1 AND ?";
    const pauses = dueAt === undefined ? [] : [dueAt, dueAt + PAUSE_MS_MAX * 1_000];
    const states = includeParked ? "p.state IN ('waiting', 'parked')" : "p.state = 'waiting'";
    const whose = scope === undefined ? undefined : ownedBy(scope);
    const rows = view.connection
      .prepare(
        // What an ended tenant left is reclaimed, and not embedded any more.
        `SELECT p.segment, p.tenant, p.state, p.attempts, s.event, s.start, s."end" FROM pending_vectors AS p
         JOIN segments AS s ON s.segment = p.segment JOIN tenants AS t ON t.tenant = p.tenant
         WHERE p.segment > ? AND t.import IS NULL AND ${states} ${due} ${whose?.sql ?? ""} ORDER BY p.segment LIMIT ?`,
      )
      .all(after, ...pauses, ...(whose?.parameters ?? []), limit);
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

/** The condition on `pending_vectors AS p` and `segments AS s` that a scope is. */
function ownedBy({ tenant, session }: Scope): { readonly sql: string; readonly parameters: readonly number[] } {
  const sql = "AND p.tenant = ?";
  if (session === undefined) return { sql, parameters: [tenant.tenant] };
  const within = "AND (SELECT o.session FROM events AS o WHERE o.event = s.event) = ?";
  return { sql: `${sql} ${within}`, parameters: [tenant.tenant, session.session] };
}

export interface PendingPageInput {
  readonly scope: Scope;
  readonly state: PendingRow["state"] | undefined;
  readonly after: number;
  readonly limit: number;
}

export interface ListedPending extends PendingRow {
  readonly event: string;
  readonly session: string;
  readonly range: SegmentRange;
}

/** One page of the pending segments of a tenant or a session, by number. */
export const listPendingRows: ReadOperation<PendingPageInput, readonly ListedPending[]> = readOperation(
  "memory.list-pending",
  (view, { scope, state, after, limit }) => {
    requireScope(view, scope);
    const { connection } = view;
    const whose = ownedBy(scope);
    const states = state === undefined ? "" : `AND p.state = '${state === "parked" ? "parked" : "waiting"}'`;
    const rows = connection
      .prepare(
        `SELECT p.segment, p.tenant, p.state, p.attempts, p.next_at, p.reason, s.start, s."end", e.id AS event, n.id AS session
         FROM pending_vectors AS p JOIN segments AS s ON s.segment = p.segment JOIN events AS e ON e.event = s.event
         JOIN sessions AS n ON n.session = e.session
         WHERE p.segment > ? AND n.ending = 0 ${whose.sql} ${states} ORDER BY p.segment LIMIT ?`,
      )
      .all(after, ...whose.parameters, limit);
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

/** The counts of a tenant or a session; refuses an embedder whose vectors do not belong here, before anything is embedded. */
export const countPendingRows: ReadOperation<
  { readonly scope: Scope; readonly space: SpaceIdentity },
  Readonly<Record<PendingState, number>>
> = readOperation("memory.count-pending", (view, { scope, space }) => {
  requireScope(view, scope);
  const { connection } = view;
  const stored = currentSpace(connection);
  if (stored !== undefined) assertSameSpace(stored, space);
  return countPending(connection, scope.tenant, bindScope({ session: scope.session?.id }));
});
