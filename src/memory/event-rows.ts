import { type ReadOperation, type ReadView, readOperation } from "../database/operation.ts";
import type { BoundFilter } from "../filter/index.ts";
import { countEvents, type EventPlace, selectEvents } from "../segments/sqlite/event-filter.ts";
import { type EarlierRevision, revisionsOf } from "../segments/sqlite/event-revisions.ts";
import { readEvent, type StoredEvent, toWholeEvent } from "../segments/sqlite/events.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/** A tenant, or one session of it. */
export interface Scope {
  readonly tenant: TenantLife;
  readonly session?: SessionLife | undefined;
}

export interface EventInScope extends Scope {
  readonly id: string;
}

/** One event; an event of another session is none of this one's. */
export const readEventRow: ReadOperation<EventInScope, StoredEvent | "damaged" | undefined> = readOperation(
  "memory.read-event",
  (view, input) => findInScope(view, input),
);

export interface EventHistory {
  readonly event: StoredEvent | "damaged";
  readonly earlier: readonly (EarlierRevision | "damaged")[];
}

export const readHistory: ReadOperation<EventInScope, EventHistory | undefined> = readOperation(
  "memory.read-history",
  (view, input) => {
    const event = findInScope(view, input);
    if (event === undefined || event === "damaged") return event && { event, earlier: [] };
    return { event, earlier: revisionsOf(view.connection, event.event) };
  },
);

export interface ListEventsInput extends Scope {
  readonly filter: BoundFilter | undefined;
  readonly after: EventPlace | undefined;
  readonly limit: number;
}

export interface ListEventsOutput {
  readonly events: readonly StoredEvent[];
  readonly damaged: number;
  /** Of the last row, where more may follow. */
  readonly next: EventPlace | undefined;
}

export const listEventRows: ReadOperation<ListEventsInput, ListEventsOutput> = readOperation(
  "memory.list-events",
  (view, input) => {
    requireScope(view, input);
    const { tenant } = input.tenant;
    const rows = selectEvents(view.connection, { tenant, filter: input.filter }, input);
    const events: StoredEvent[] = [];
    for (const row of rows) {
      view.cancellation.assertLive();
      const event = toWholeEvent(view.connection, tenant, row);
      if (event !== "damaged") events.push(event);
    }
    const last = rows.length === input.limit ? rows.at(-1) : undefined;
    const next = last && { at: BigInt(last.at as bigint), event: Number(last.event) };
    return { events, damaged: rows.length - events.length, next };
  },
);

export interface CountEventsInput extends Scope {
  readonly filter: BoundFilter | undefined;
}

export const countEventRows: ReadOperation<CountEventsInput, number> = readOperation(
  "memory.count-events",
  (view, input) => {
    requireScope(view, input);
    return countEvents(view.connection, { tenant: input.tenant.tenant, filter: input.filter });
  },
);

/** An event of a tenant within one of its sessions; events of a session that is being deleted are gone. */
export function findInScope(
  view: Pick<ReadView, "connection">,
  { tenant, session, id }: EventInScope,
): StoredEvent | "damaged" | undefined {
  requireScope(view, { tenant, session });
  const event = readEvent(view.connection, tenant.tenant, id);
  if (event === undefined || event === "damaged") return event;
  if (session !== undefined) return event.session === session.id ? event : undefined;
  return event;
}

/** Raises STALE when the life of the scope has ended. */
export function requireScope(view: Pick<ReadView, "connection">, { tenant, session }: Scope): void {
  if (session !== undefined) requireSession(view.connection, session);
  else requireTenant(view.connection, tenant);
}
