import type { Connection } from "../../database/connection.ts";
import { type EventPlace, nearestEvents } from "./event-filter.ts";
import { EVENT_COLUMNS, type StoredEvent, toWholeEvent } from "./events.ts";

/** Where a segment stands, and who said it. */
export interface SegmentPlace {
  readonly session: number;
  readonly producer: string | undefined;
}

/** One statement for all of them: a search asks for hundreds. Segments that are gone have no place. */
export function segmentPlaces(connection: Connection, segments: readonly number[]): ReadonlyMap<number, SegmentPlace> {
  const rows = connection
    .prepare(
      `SELECT s.segment, e.session, e.producer FROM json_each(?) AS wanted
       JOIN segments AS s ON s.segment = wanted.value JOIN events AS e ON e.event = s.event`,
    )
    .all(JSON.stringify(segments));
  return new Map(
    rows.map(({ segment, session, producer }) => [
      Number(segment),
      { session: Number(session), producer: producer === null ? undefined : String(producer) },
    ]),
  );
}

/** Segments of one session that follow one another, and the place of one of them. */
export interface SegmentLine {
  readonly segments: readonly number[];
  readonly at: number;
}

/** A session of up to so many segments for each one that is asked about is read whole, in one statement. */
const WHOLE_SEGMENTS_PER_ONE = 64;

const WHOLE = `SELECT s.segment FROM events AS e JOIN segments AS s ON s.event = e.event
WHERE e.session = ? ORDER BY e.at, e.event, s.segment LIMIT ?`;

/** Segments of one session with up to `reach` places before and after each. */
export function segmentLines(
  connection: Connection,
  session: number,
  { segments, reach }: { readonly segments: readonly number[]; readonly reach: number },
): ReadonlyMap<number, SegmentLine> {
  const most = segments.length * WHOLE_SEGMENTS_PER_ONE;
  const whole = connection.prepare(WHOLE).all(session, most + 1);
  if (whole.length > most) return new Map(segments.map((segment) => [segment, lineAround(connection, segment, reach)]));
  const ordered = whole.map(({ segment }) => Number(segment));
  const places = new Map(ordered.map((segment, at) => [segment, at]));
  return new Map(
    segments.flatMap((segment) => {
      const at = places.get(segment);
      if (at === undefined) return [];
      const from = Math.max(0, at - reach);
      return [[segment, { segments: ordered.slice(from, at + reach + 1), at: at - from }] as const];
    }),
  );
}

const PLACE =
  "SELECT e.session, e.at, e.event FROM segments AS s JOIN events AS e ON e.event = s.event WHERE s.segment = ?";

function lineAround(connection: Connection, segment: number, reach: number): SegmentLine {
  const row = connection.prepare(PLACE, { bigints: true }).get(segment);
  if (row === undefined) return { segments: [segment], at: 0 };
  const place = { at: BigInt(row.at as bigint), event: Number(row.event) };
  const beside = (side: "before" | "after"): readonly number[] => {
    const found = nearestSegments(connection, place.event, { from: segment, side, limit: reach });
    for (const event of nearestEventNumbers(connection, row.session as bigint, { place, side, limit: reach })) {
      if (found.length === reach) break;
      const from = side === "before" ? Number.MAX_SAFE_INTEGER : 0;
      found.push(...nearestSegments(connection, event, { from, side, limit: reach - found.length }));
    }
    return found;
  };
  const before = [...beside("before")].reverse();
  return { segments: [...before, segment, ...beside("after")], at: before.length };
}

interface Reach {
  readonly side: "before" | "after";
  readonly limit: number;
}

/** Segments of one event before or after one, nearest first: an event may have thousands, and few of them are looked at. */
function nearestSegments(
  connection: Connection,
  event: number,
  { from, side, limit }: Reach & { readonly from: number },
): number[] {
  const [compare, order] = side === "before" ? ["<", "DESC"] : [">", "ASC"];
  return connection
    .prepare(`SELECT segment FROM segments WHERE event = ? AND segment ${compare} ? ORDER BY segment ${order} LIMIT ?`)
    .all(event, from, limit)
    .map((row) => Number(row.segment));
}

function nearestEventNumbers(
  connection: Connection,
  session: bigint,
  { place, side, limit }: Reach & { readonly place: EventPlace },
): readonly number[] {
  return nearestEvents(
    connection,
    (condition, order) =>
      `SELECT e.event FROM events AS e WHERE e.session = ? AND ${condition} ORDER BY e.at ${order}, e.event ${order} LIMIT ?`,
    { parameters: [session], place, side, limit },
  ).map(({ event }) => Number(event));
}

/** The events before and after one in its session, both in the order of time; damaged ones are left out. */
export function neighbourEvents(
  connection: Connection,
  tenant: number,
  event: StoredEvent,
  reach: { readonly before: number; readonly after: number },
): { readonly before: readonly StoredEvent[]; readonly after: readonly StoredEvent[] } {
  const session = connection.prepare("SELECT session FROM events WHERE event = ?").get(event.event)?.session;
  const read = (side: "before" | "after"): readonly StoredEvent[] => {
    if (reach[side] === 0 || session === undefined) return [];
    const rows = nearestEvents(
      connection,
      (condition, order) =>
        `SELECT ${EVENT_COLUMNS} FROM events AS e CROSS JOIN sessions AS n ON n.session = e.session
         WHERE e.session = ? AND ${condition} ORDER BY e.at ${order}, e.event ${order} LIMIT ?`,
      { parameters: [session], place: event, side, limit: reach[side] },
    );
    return rows.map((row) => toWholeEvent(connection, tenant, row)).filter((whole) => whole !== "damaged");
  };
  return { before: [...read("before")].reverse(), after: read("after") };
}
