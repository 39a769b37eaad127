import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import type { BoundFilter } from "../filter/index.ts";
import { countEvents, eventNumbers, lastEvent } from "../segments/sqlite/event-filter.ts";
import { deleteEvent, findEvent, placeOfEvent } from "../segments/sqlite/events.ts";
import { compactTextIndex } from "../segments/sqlite/text-index.ts";
import { changeOf, type NewChange, noteChanges } from "./changes.ts";
import { SegmentRecords } from "./segment-records.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { dropSummary } from "./summaries.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

/** Events of one commit: some tens of milliseconds of the writer, so that other writes go between. */
export const FORGOTTEN_PER_COMMIT = 200;

export interface ForgetInput {
  readonly tenant: TenantLife;
  /** Forgets only events of this session. */
  readonly session: SessionLife | undefined;
  readonly events: readonly string[];
}

/** Removes events with everything that was made of them in one commit; unknown ids are no error (S6, V16). */
export const forgetEvents: WriteOperation<ForgetInput, number> = writeOperation("memory.forget", (unit, input) => {
  requireScope(unit, input);
  const numbers = input.events.flatMap((id) => {
    const found = findEvent(unit.connection, input.tenant.tenant, id);
    const isMeant = found !== undefined && (input.session === undefined || found.session === input.session.session);
    return isMeant ? [found.event] : [];
  });
  return removeEvents(unit, input.tenant, numbers);
});

export interface ForgetWhereInput {
  readonly tenant: TenantLife;
  readonly session: SessionLife | undefined;
  /** Over the fields of events, the scope in it. */
  readonly filter: BoundFilter | undefined;
  /** The newest event that is meant, so that whoever goes on remembering does not keep it going for ever. */
  readonly upTo: number;
}

/** Removes some of the events that a filter admits; answers how many. Below {@link FORGOTTEN_PER_COMMIT} all are gone. */
export const forgetSome: WriteOperation<ForgetWhereInput, number> = writeOperation(
  "memory.forget-some",
  (unit, input) => {
    requireScope(unit, input);
    const selection = { tenant: input.tenant.tenant, filter: input.filter, upTo: input.upTo };
    return removeEvents(unit, input.tenant, eventNumbers(unit.connection, selection, FORGOTTEN_PER_COMMIT));
  },
);

export interface ForgettableOutput {
  readonly events: number;
  readonly upTo: number;
}

/** How many events a filter admits now, and the newest event of all. */
export const countForgettable: ReadOperation<Omit<ForgetWhereInput, "upTo">, ForgettableOutput> = readOperation(
  "memory.count-forgettable",
  (view, input) => {
    requireScope(view, input);
    const { tenant } = input.tenant;
    return {
      events: countEvents(view.connection, { tenant, filter: input.filter }),
      upTo: lastEvent(view.connection, tenant),
    };
  },
);

export interface CountIdsInput extends ForgetInput {}

/** How many of these events are there. */
export const countKnown: ReadOperation<CountIdsInput, number> = readOperation("memory.count-known", (view, input) => {
  requireScope(view, input);
  return input.events.filter((id) => {
    const found = findEvent(view.connection, input.tenant.tenant, id);
    return found !== undefined && (input.session === undefined || found.session === input.session.session);
  }).length;
});

/** Removes events by their numbers; answers how many. */
export function removeEvents(unit: WriteUnit, tenant: TenantLife, events: readonly number[]): number {
  if (events.length === 0) return 0;
  const records = new SegmentRecords(unit, tenant);
  const changes: NewChange[] = [];
  for (const event of events) {
    unit.cancellation.assertLive();
    const place = placeOfEvent(unit.connection, event);
    if (place !== undefined) {
      dropSummary(unit.connection, place.session, place);
      changes.push(changeOf("forgotten", place, place.id));
    }
    records.remove(event);
    deleteEvent(unit.connection, event);
  }
  records.finish();
  noteChanges(unit, tenant.tenant, changes);
  return events.length;
}

function requireScope(
  view: Pick<WriteUnit, "connection">,
  { tenant, session }: { readonly tenant: TenantLife; readonly session: SessionLife | undefined },
): void {
  if (session !== undefined) requireSession(view.connection, session);
  else requireTenant(view.connection, tenant);
}

/** Takes what FTS5 keeps of removed words, their beginnings, out of the text index: part of erasing (E14). */
export const compactWords: WriteOperation<null, null> = writeOperation("memory.compact-words", (unit) => {
  compactTextIndex(unit.connection);
  return null;
});
