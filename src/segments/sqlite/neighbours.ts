import type { Connection, SqlRow } from "../../database/connection.ts";
import { EVENT_COLUMNS, type StoredEvent, toWholeEvent } from "./events.ts";

/** A segment's place in its session: by time, then by event, then within it. */
const PLACE =
  "SELECT e.session, e.at, e.event FROM segments AS s JOIN events AS e ON e.event = s.event WHERE s.segment = ?";

const BEFORE = `
SELECT s.segment FROM events AS e JOIN segments AS s ON s.event = e.event
WHERE e.session = ? AND (e.at, e.event) <= (?, ?) AND (e.event <> ? OR s.segment < ?)
ORDER BY e.at DESC, e.event DESC, s.segment DESC LIMIT ?`;

const AFTER = `
SELECT s.segment FROM events AS e JOIN segments AS s ON s.event = e.event
WHERE e.session = ? AND (e.at, e.event) >= (?, ?) AND (e.event <> ? OR s.segment > ?)
ORDER BY e.at, e.event, s.segment LIMIT ?`;

export interface NeighbourSegments {
  /** Nearest first. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** The segments up to `reach` places before and after one in its session. */
export function neighbourSegments(connection: Connection, segment: number, reach: number): NeighbourSegments {
  const place = connection.prepare(PLACE, { bigints: true }).get(segment);
  if (place === undefined) return { before: [], after: [] };
  const { session, at, event } = place as Record<"session" | "at" | "event", bigint>;
  const list = (sql: string): readonly number[] =>
    connection
      .prepare(sql)
      .all(session, at, event, event, segment, reach)
      .map((row) => Number(row.segment));
  return { before: list(BEFORE), after: list(AFTER) };
}

const EVENTS = `SELECT ${EVENT_COLUMNS} FROM events AS e JOIN sessions AS n ON n.session = e.session
WHERE e.session = (SELECT session FROM events WHERE event = ?)`;

/** The events before and after one in its session, both in the order of time; damaged ones are left out. */
export function neighbourEvents(
  connection: Connection,
  tenant: number,
  event: StoredEvent,
  reach: { readonly before: number; readonly after: number },
): { readonly before: readonly StoredEvent[]; readonly after: readonly StoredEvent[] } {
  const whole = (rows: readonly SqlRow[]): readonly StoredEvent[] =>
    rows.map((row) => toWholeEvent(connection, tenant, row)).filter((read) => read !== "damaged");
  const before = connection.prepare(`${EVENTS} AND (e.at, e.event) < (?, ?) ORDER BY e.at DESC, e.event DESC LIMIT ?`, {
    bigints: true,
  });
  const after = connection.prepare(`${EVENTS} AND (e.at, e.event) > (?, ?) ORDER BY e.at, e.event LIMIT ?`, {
    bigints: true,
  });
  return {
    before:
      reach.before === 0 ? [] : [...whole(before.all(event.event, event.at, event.event, reach.before))].reverse(),
    after: reach.after === 0 ? [] : whole(after.all(event.event, event.at, event.event, reach.after)),
  };
}
