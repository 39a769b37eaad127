import type { Connection, SqlRow, SqlValue } from "../../database/connection.ts";
import { HoldfastError } from "../../errors/index.ts";
import { type BoundFilter, compileSqlite } from "../../filter/index.ts";
import { EVENT_COLUMNS } from "./events.ts";

/** The types of the fields of an event that a filter may name. */
export type EventFields = {
  readonly event: "string";
  readonly session: "string";
  readonly user: "string";
  readonly producer: "string";
  readonly role: "string";
  readonly kind: "string";
  readonly at: "datetime";
  readonly created_at: "datetime";
  readonly revision: "int";
};

/** The closed table of fields that a filter on events may name beside users' own keys (FILTERS). */
export const EVENT_FIELDS: EventFields = {
  event: "string",
  session: "string",
  user: "string",
  producer: "string",
  role: "string",
  kind: "string",
  at: "datetime",
  created_at: "datetime",
  revision: "int",
};

const COLUMNS: ReadonlyMap<string, string> = new Map([
  ["event", "e.id"],
  ["session", "n.id"],
  ["user", "n.user"],
  ["producer", "e.producer"],
  ["role", "e.role"],
  ["kind", "e.kind"],
  ["at", "e.at"],
  ["created_at", "e.created_at"],
  ["revision", "e.revision"],
]);

const FROM = "FROM segments AS s JOIN events AS e ON e.event = s.event JOIN sessions AS n ON n.session = e.session";

/** Tells for single segments whether a filter admits them, on system fields and users' own keys alike (S4). */
export function segmentFilter(connection: Connection, filter: BoundFilter): (segment: number) => boolean {
  const { sql, parameters } = compileEvents(filter);
  const select = connection.prepare(`SELECT 1 AS admitted ${FROM} WHERE s.segment = ? AND (${sql})`);
  return (segment) => select.get(segment, ...parameters) !== undefined;
}

/** The numbers of all admitted segments of a tenant. */
export function admittedSegments(connection: Connection, tenant: number, filter: BoundFilter): ReadonlySet<number> {
  const { sql, parameters, fields } = compileEvents(filter);
  // Events are walked in a covering index and segments looked up for the admitted alone; one row for the whole list.
  const sessions =
    fields.has("session") || fields.has("user") ? "CROSS JOIN sessions AS n ON n.session = e.session" : "";
  const row = connection
    .prepare(
      `SELECT json_group_array(s.segment) AS segments FROM events AS e ${sessions}
       CROSS JOIN segments AS s ON s.event = e.event WHERE e.tenant = ? AND (${sql})`,
    )
    .get(tenant, ...parameters);
  const segments: readonly number[] = JSON.parse(String(row?.segments ?? "[]"));
  return new Set(segments);
}

/** Events of one tenant that a filter admits; those of a session that is being deleted are none. */
export interface EventSelection {
  readonly tenant: number;
  readonly filter: BoundFilter | undefined;
  /** Only events up to this number. */
  readonly upTo?: number;
}

const EVENTS = "FROM events AS e JOIN sessions AS n ON n.session = e.session";

export function countEvents(connection: Connection, { tenant, filter }: EventSelection): number {
  const { sql, parameters } = admittedBy(filter);
  const select = connection.prepare(
    `SELECT count(*) AS count ${EVENTS} WHERE e.tenant = ? AND n.ending = 0 AND (${sql})`,
  );
  return Number(select.get(tenant, ...parameters)?.count ?? 0);
}

/** Numbers of the first `limit` admitted events. */
export function eventNumbers(
  connection: Connection,
  { tenant, filter, upTo }: EventSelection & { readonly upTo: number },
  limit: number,
): readonly number[] {
  const { sql, parameters } = admittedBy(filter);
  const select = connection.prepare(
    `SELECT e.event ${EVENTS} WHERE e.tenant = ? AND e.event <= ? AND n.ending = 0 AND (${sql}) LIMIT ?`,
  );
  return select.all(tenant, upTo, ...parameters, limit).map(({ event }) => Number(event));
}

/** The number of the tenant's newest event, 0 where there is none. */
export function lastEvent(connection: Connection, tenant: number): number {
  return Number(connection.prepare("SELECT max(event) AS last FROM events WHERE tenant = ?").get(tenant)?.last ?? 0);
}

/** Where an event stands among those of its session or tenant. */
export interface EventPlace {
  readonly at: bigint;
  readonly event: number;
}

/**
 * Events before or after a place, nearest first. First those of the same time: an index is not entered at a pair, and
 * whoever remembers without times has many of one moment.
 *
 * @param sql - the statement with a condition on `e.at` and `e.event`, and the order of both; its parameters are
 *   `parameters`, the condition's, and a limit
 */
export function nearestEvents(
  connection: Connection,
  sql: (condition: string, order: "ASC" | "DESC") => string,
  request: {
    readonly parameters: readonly SqlValue[];
    readonly place: EventPlace;
    readonly side: "before" | "after";
    readonly limit: number;
  },
): readonly SqlRow[] {
  const { parameters, place, side, limit } = request;
  const [compare, order] = side === "before" ? (["<", "DESC"] as const) : ([">", "ASC"] as const);
  const select = (condition: string) => connection.prepare(sql(condition, order), { bigints: true });
  const same = select(`e.at = ? AND e.event ${compare} ?`).all(...parameters, place.at, place.event, limit);
  if (same.length >= limit) return same;
  const others = select(`e.at ${compare} ?`).all(...parameters, place.at, limit - same.length);
  return [...same, ...others];
}

/** One page of admitted events by time, behind `after`. */
export function selectEvents(
  connection: Connection,
  { tenant, filter }: EventSelection,
  page: { readonly after: EventPlace | undefined; readonly limit: number },
): readonly SqlRow[] {
  const { sql, parameters } = admittedBy(filter);
  const select = (condition: string): string =>
    `SELECT ${EVENT_COLUMNS} ${EVENTS} WHERE e.tenant = ? AND n.ending = 0 AND (${sql}) AND ${condition} ORDER BY e.at, e.event LIMIT ?`;
  const all = [tenant, ...parameters];
  if (page.after === undefined) return connection.prepare(select("1"), { bigints: true }).all(...all, page.limit);
  return nearestEvents(connection, select, { parameters: all, place: page.after, side: "after", limit: page.limit });
}

const OF_SESSION = `SELECT ${EVENT_COLUMNS} ${EVENTS} WHERE e.session = ?`;

/** The newest events of one session, newest first. */
export function newestEvents(connection: Connection, session: number, limit: number): readonly SqlRow[] {
  const sql = `${OF_SESSION} ORDER BY e.at DESC, e.event DESC LIMIT ?`;
  return connection.prepare(sql, { bigints: true }).all(session, limit);
}

/** Events of one session by time, behind a place where one is given. */
export function sessionEventsBehind(
  connection: Connection,
  session: number,
  { place, limit }: { readonly place: EventPlace | undefined; readonly limit: number },
): readonly SqlRow[] {
  const select = (condition: string): string => `${OF_SESSION} AND ${condition} ORDER BY e.at, e.event LIMIT ?`;
  if (place === undefined) return connection.prepare(select("1"), { bigints: true }).all(session, limit);
  return nearestEvents(connection, select, { parameters: [session], place, side: "after", limit });
}

/** How many segments the admitted events have. */
export function countSegmentsIn(connection: Connection, { tenant, filter }: EventSelection): number {
  const { sql, parameters } = admittedBy(filter);
  const select = connection.prepare(
    `SELECT count(*) AS count FROM segments AS s JOIN events AS e ON e.event = s.event
     JOIN sessions AS n ON n.session = e.session WHERE s.tenant = ? AND n.ending = 0 AND (${sql})`,
  );
  return Number(select.get(tenant, ...parameters)?.count ?? 0);
}

/** How many segments of admitted events have no vector, by state. */
export function pendingByState(
  connection: Connection,
  { tenant, filter }: EventSelection,
): readonly { readonly state: string; readonly count: number }[] {
  const { sql, parameters } = admittedBy(filter);
  const select = connection.prepare(
    `SELECT p.state, count(*) AS count FROM pending_vectors AS p JOIN segments AS s ON s.segment = p.segment JOIN events AS e ON e.event = s.event
     JOIN sessions AS n ON n.session = e.session WHERE p.tenant = ? AND n.ending = 0 AND (${sql}) GROUP BY p.state`,
  );
  return select.all(tenant, ...parameters).map(({ state, count }) => ({ state: String(state), count: Number(count) }));
}

function admittedBy(filter: BoundFilter | undefined): ReturnType<typeof compileEvents> {
  return filter === undefined ? { sql: "1", parameters: [], fields: new Set() } : compileEvents(filter);
}

interface CompiledFilter {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** System fields that it names. */
  readonly fields: ReadonlySet<string>;
}

function compileEvents(filter: BoundFilter): CompiledFilter {
  const fields = new Set<string>();
  const column = (name: string): string => {
    fields.add(name);
    return eventColumn(name);
  };
  const compiled = compileSqlite(filter, { column, userKeys: { table: "event_properties", owner: "e.event" } });
  return { ...compiled, fields };
}

function eventColumn(name: string): string {
  const column = COLUMNS.get(name);
  if (column === undefined) throw new HoldfastError("BUG", `Events have no column for ${name}.`);
  return column;
}

/** Numbers of some events of a tenant, whatever has become of its sessions. */
export function eventsOfTenant(connection: Connection, tenant: number, limit: number): readonly number[] {
  return connection
    .prepare("SELECT event FROM events WHERE tenant = ? LIMIT ?")
    .all(tenant, limit)
    .map(({ event }) => Number(event));
}

export function eventsOfSession(connection: Connection, session: number, limit: number): readonly number[] {
  return connection
    .prepare("SELECT event FROM events WHERE session = ? LIMIT ?")
    .all(session, limit)
    .map(({ event }) => Number(event));
}
