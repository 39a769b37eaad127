import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import type { BoundFilter } from "../filter/index.ts";
import { findReceipt, forgetInReceipts, type KeyedCall, keepReceipt } from "../registry/receipts.ts";
import { countEvents, eventNumbers, lastEvent } from "../segments/sqlite/event-filter.ts";
import { deleteEvent, findEvent, placeOfEvent } from "../segments/sqlite/events.ts";
import { compactTextIndex } from "../segments/sqlite/text-index.ts";
import { changeOf, type NewChange, noteChanges } from "./changes.ts";
import { findInScope, requireScope } from "./event-rows.ts";
import { receiptOwner } from "./receipt-owners.ts";
import { revisionConflict } from "./revision-conflict.ts";
import { SegmentRecords } from "./segment-records.ts";
import type { SessionLife } from "./sessions.ts";
import { dropSummary } from "./summaries.ts";
import type { TenantLife } from "./tenants.ts";

/** Events of one commit: some tens of milliseconds of the writer, so that other writes go between. */
export const FORGOTTEN_PER_COMMIT = 200;

/** How far a forgetting has come: what its receipt says until it is done, so that a retry goes on from there. */
export interface ForgetProgress {
  /** Commits so far. */
  readonly steps: number;
  readonly forgotten: number;
  /** The newest event that is meant, so that whoever goes on remembering does not keep it going for ever. */
  readonly upTo: number;
  readonly isDone: boolean;
}

/** What is forgotten: events by their ids, or what a filter admits, the scope in it. */
export type ForgetSubject =
  | { readonly ids: readonly string[]; readonly expectedRevision: number | undefined }
  | { readonly filter: BoundFilter | undefined };

export interface ForgetScope {
  readonly tenant: TenantLife;
  /** Forgets only events of this session. */
  readonly session: SessionLife | undefined;
}

export interface ForgetInput extends ForgetScope {
  /** Of this step alone, where ids are given. */
  readonly subject: ForgetSubject;
  readonly progress: ForgetProgress;
  /** Whether no ids follow; a filter's step sees by itself that it is the last. */
  readonly isLast: boolean;
  readonly keyed: KeyedCall | undefined;
}

/**
 * One commit of forgetting: removes events with everything that was made of them; unknown ids are no error (S6, V16).
 * Answers how far it has come: with a key perhaps farther than this step, by another call with the same.
 */
export const forgetStep: WriteOperation<ForgetInput, ForgetProgress> = writeOperation(
  "memory.forget",
  (unit, input) => {
    requireScope(unit, input);
    const { keyed, progress } = input;
    const owner = receiptOwner(input);
    const found = keyed && findReceipt(unit.connection, owner, keyed);
    const stands = found === undefined ? undefined : (found.answer as ForgetProgress);
    if (stands !== undefined && (stands.isDone || stands.steps !== progress.steps)) return stands;
    const removed = removeEvents(unit, input.tenant, meantEvents(unit, input));
    const isDone = "ids" in input.subject ? input.isLast : removed < FORGOTTEN_PER_COMMIT;
    const next = { ...progress, steps: progress.steps + 1, forgotten: progress.forgotten + removed, isDone };
    if (keyed !== undefined) keepReceipt(unit.connection, owner, keyed, { answer: next });
    return next;
  },
);

function meantEvents(unit: WriteUnit, { tenant, session, subject, progress }: ForgetInput): readonly number[] {
  if (!("ids" in subject)) {
    const selection = { tenant: tenant.tenant, filter: subject.filter, upTo: progress.upTo };
    return eventNumbers(unit.connection, selection, FORGOTTEN_PER_COMMIT);
  }
  return subject.ids.flatMap((id) => {
    const found = findEvent(unit.connection, tenant.tenant, id);
    if (found === undefined || (session !== undefined && found.session !== session.session)) return [];
    if (subject.expectedRevision !== undefined) assertRevision(unit, { tenant, session, id }, subject.expectedRevision);
    return [found.event];
  });
}

function assertRevision(unit: WriteUnit, place: ForgetScope & { readonly id: string }, expected: number): void {
  const stored = findInScope(unit, place);
  if (stored === undefined || stored === "damaged" || stored.revision === expected) return;
  throw revisionConflict(place.id, stored.revision);
}

export interface ForgettableOutput {
  readonly events: number;
  readonly upTo: number;
}

/** How many events a filter admits now, and the newest event of all. */
export const countForgettable: ReadOperation<
  ForgetScope & { readonly filter: BoundFilter | undefined },
  ForgettableOutput
> = readOperation("memory.count-forgettable", (view, input) => {
  requireScope(view, input);
  const { tenant } = input.tenant;
  return {
    events: countEvents(view.connection, { tenant, filter: input.filter }),
    upTo: lastEvent(view.connection, tenant),
  };
});

export interface CountIdsInput extends ForgetScope {
  readonly events: readonly string[];
}

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
      forgetInReceipts(unit.connection, tenant.tenant, place.id);
    }
    records.remove(event);
    deleteEvent(unit.connection, event);
  }
  records.finish();
  noteChanges(unit, tenant.tenant, changes);
  return events.length;
}

/** Takes what FTS5 keeps of removed words, their beginnings, out of the text index: part of erasing (E14). */
export const compactWords: WriteOperation<null, null> = writeOperation("memory.compact-words", (unit) => {
  compactTextIndex(unit.connection);
  return null;
});
