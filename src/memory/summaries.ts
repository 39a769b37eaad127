import type { Connection, SqlRow } from "../database/connection.ts";
import {
  type ReadOperation,
  type ReadView,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { type EventPlace, newestEvents, sessionEventsBehind } from "../segments/sqlite/event-filter.ts";
import { type StoredEvent, toWholeEvent } from "../segments/sqlite/events.ts";
import { requireSession, type SessionLife } from "./sessions.ts";

/** A session's rolling summary and the last event that it covers; everything up to that one is covered. */
export const SUMMARIES_SCHEMA = `
CREATE TABLE summaries (
  session INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  text TEXT NOT NULL,
  from_id TEXT NOT NULL,
  from_at INTEGER NOT NULL,
  to_id TEXT NOT NULL,
  to_at INTEGER NOT NULL,
  to_event INTEGER NOT NULL,
  events INTEGER NOT NULL,
  version TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;`;

export interface SummaryRow {
  readonly text: string;
  readonly from: { readonly id: string; readonly at: bigint };
  readonly to: { readonly id: string; readonly at: bigint; readonly event: number };
  readonly events: number;
  /** Another one with each commit. */
  readonly version: string;
  /** Microseconds since 1970. */
  readonly updatedAt: bigint;
}

/** A summary quotes what it covers: when that changes or goes, or something is told between, it goes (S6, S13). */
export function dropSummary(connection: Connection, session: number, { at, event }: EventPlace): void {
  connection.prepare("DELETE FROM summaries WHERE session = ? AND (to_at, to_event) >= (?, ?)").run(session, at, event);
}

export function dropSummaryOf(connection: Connection, session: number): void {
  connection.prepare("DELETE FROM summaries WHERE session = ?").run(session);
}

export function findSummary(connection: Connection, session: number): SummaryRow | undefined {
  const row = connection.prepare("SELECT * FROM summaries WHERE session = ?", { bigints: true }).get(session);
  return row && toSummaryRow(row);
}

/** @param row - read with bigints */
export function toSummaryRow(row: SqlRow): SummaryRow {
  return {
    text: String(row.text),
    from: { id: String(row.from_id), at: BigInt(row.from_at as bigint) },
    to: { id: String(row.to_id), at: BigInt(row.to_at as bigint), event: Number(row.to_event) },
    events: Number(row.events),
    version: String(row.version),
    updatedAt: BigInt(row.updated_at as bigint),
  };
}

/** Writes a session's summary in the place of the one before it. */
export function putSummary(
  connection: Connection,
  owner: { readonly session: number; readonly tenant: number },
  { text, from, to, events, version, updatedAt }: SummaryRow,
): void {
  connection
    .prepare(
      `INSERT OR REPLACE INTO summaries (session, tenant, text, from_id, from_at, to_id, to_at, to_event, events, version, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(owner.session, owner.tenant, text, from.id, from.at, to.id, to.at, to.event, events, version, updatedAt);
}

export const readSummary: ReadOperation<SessionLife, SummaryRow | undefined> = readOperation(
  "memory.read-summary",
  (view, life) => {
    requireSession(view.connection, life);
    return findSummary(view.connection, life.session);
  },
);

export interface SummaryWorkInput {
  readonly session: SessionLife;
  readonly keepEvents: number;
  readonly limit: number;
}

export interface SummaryWork {
  readonly summary: SummaryRow | undefined;
  /** The next events to cover, by time; none when the summary is up to date. */
  readonly events: readonly StoredEvent[];
}

/** What a summary lacks. Damaged events are passed over, as every reader does. */
export const readSummaryWork: ReadOperation<SummaryWorkInput, SummaryWork> = readOperation(
  "memory.read-summary-work",
  (view, { session, keepEvents, limit }) => {
    requireSession(view.connection, session);
    const summary = findSummary(view.connection, session.session);
    let place: EventPlace | undefined = summary && { at: summary.to.at, event: summary.to.event };
    for (;;) {
      const rows = sessionEventsBehind(view.connection, session.session, { place, limit: limit + keepEvents });
      const due = rows.slice(0, Math.max(0, Math.min(limit, rows.length - keepEvents)));
      const events = due
        .map((row) => toWholeEvent(view.connection, session.tenant.tenant, row))
        .filter((event) => event !== "damaged");
      const last = due.at(-1);
      if (events.length > 0 || last === undefined) return { summary, events };
      // Damaged ones alone: the summary goes on behind them.
      place = { at: BigInt(last.at as bigint), event: Number(last.event) };
    }
  },
);

export interface CommitSummaryInput {
  readonly session: SessionLife;
  /** The version that the text was made of; absent for a first summary. */
  readonly base: string | undefined;
  readonly version: string;
  readonly text: string;
  readonly events: readonly Pick<StoredEvent, "event" | "id" | "at" | "revision">[];
}

/** Stores a summary whose events still say what it was made of; answers false when they do not, or another came first. */
export const commitSummary: WriteOperation<CommitSummaryInput, boolean> = writeOperation(
  "memory.commit-summary",
  (unit, input) => {
    const { connection } = unit;
    requireSession(connection, input.session);
    const { session } = input.session;
    const base = findSummary(connection, session);
    if (base?.version !== input.base || !isUnchanged(unit, input, base)) return false;
    const [first] = input.events;
    const last = input.events.at(-1);
    if (first === undefined || last === undefined) return false;
    const owner = { session, tenant: input.session.tenant.tenant };
    putSummary(connection, owner, {
      text: input.text,
      from: base?.from ?? first,
      to: last,
      events: (base?.events ?? 0) + input.events.length,
      version: input.version,
      updatedAt: BigInt(unit.nowMicros),
    });
    return true;
  },
);

/** The same events with the same revisions follow the summary, and none has come between. Damaged ones were not given to the hook. */
function isUnchanged(unit: WriteUnit, { session, events }: CommitSummaryInput, base: SummaryRow | undefined): boolean {
  const rows = sessionEventsBehind(unit.connection, session.session, {
    place: base && { at: base.to.at, event: base.to.event },
    limit: events.length + DAMAGED_MAX,
  });
  const whole = rows
    .map((row) => toWholeEvent(unit.connection, session.tenant.tenant, row))
    .filter((event) => event !== "damaged");
  return events.every(({ event, revision }, index) => {
    const stored = whole[index];
    return stored?.event === event && stored.revision === revision;
  });
}

/** Damaged events among those of one call that are passed over. */
const DAMAGED_MAX = 1_000;

export interface RecentInput {
  readonly session: SessionLife;
  readonly maxEvents: number;
  readonly maxCharacters: number | undefined;
}

export interface RecentOutput {
  /** Oldest first. */
  readonly events: readonly StoredEvent[];
  readonly damaged: number;
  readonly summary: SummaryRow | undefined;
}

/** The newest events that fit; the newest of all is answered also when it alone does not. */
export const readRecent: ReadOperation<RecentInput, RecentOutput> = readOperation(
  "memory.read-recent",
  (view: ReadView, { session, maxEvents, maxCharacters = Number.POSITIVE_INFINITY }) => {
    requireSession(view.connection, session);
    const rows = newestEvents(view.connection, session.session, maxEvents);
    const events: StoredEvent[] = [];
    let damaged = 0;
    let characters = 0;
    for (const row of rows) {
      const event = toWholeEvent(view.connection, session.tenant.tenant, row);
      if (event === "damaged") {
        damaged += 1;
        continue;
      }
      characters += event.text.length;
      if (characters > maxCharacters && events.length > 0) break;
      events.push(event);
    }
    return { events: events.reverse(), damaged, summary: findSummary(view.connection, session.session) };
  },
);
