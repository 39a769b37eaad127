import type { Connection, SqlValue } from "../../database/connection.ts";
import { HoldfastError } from "../../errors/index.ts";
import { type BoundFilter, compileSqlite } from "../../filter/index.ts";

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
  const { sql, parameters } = compileEvents(filter);
  const rows = connection
    .prepare(`SELECT s.segment ${FROM} WHERE s.tenant = ? AND (${sql})`)
    .all(tenant, ...parameters);
  return new Set(rows.map((row) => Number(row.segment)));
}

function compileEvents(filter: BoundFilter): { readonly sql: string; readonly parameters: readonly SqlValue[] } {
  return compileSqlite(filter, { column: eventColumn, userKeys: { table: "event_properties", owner: "e.event" } });
}

function eventColumn(name: string): string {
  const column = COLUMNS.get(name);
  if (column === undefined) throw new HoldfastError("BUG", `Events have no column for ${name}.`);
  return column;
}
