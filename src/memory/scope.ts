import { assertId } from "../contract/names.ts";
import type { Where } from "../contract/where.ts";
import type { Connection } from "../database/connection.ts";
import { type BoundFilter, bindWhere, type FilterSchema } from "../filter/index.ts";
import { EVENT_FIELDS } from "../segments/sqlite/event-filter.ts";
import { endingSessions } from "./sessions.ts";
import type { TenantLife } from "./tenants.ts";

const FILTER_SCHEMA: FilterSchema = { declared: {}, system: EVENT_FIELDS, userKeys: true };

export interface ScopeInput {
  readonly where?: unknown;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
}

/** The caller's filter within a user and a session; `undefined` where every event is meant. */
export function bindScope({ where, user, session }: ScopeInput): BoundFilter | undefined {
  const scope: BoundFilter[] = [];
  for (const [name, value] of [
    ["user", user],
    ["session", session],
  ] as const) {
    if (value === undefined) continue;
    assertId(value, name);
    scope.push({ op: "equals", field: { scope: "system", name }, kind: "string", value });
  }
  const bound = where === undefined ? undefined : bindWhere(where as Where, FILTER_SCHEMA);
  if (bound?.op === "none") return bound;
  if (bound !== undefined && bound.op !== "all") scope.push(bound);
  return scope.length > 1 ? { op: "and", operands: scope } : scope[0];
}

/** The same without sessions that are being deleted: their events are on their way out, and no search answers them. */
export function withoutEnding(
  connection: Connection,
  tenant: TenantLife,
  filter: BoundFilter | undefined,
): BoundFilter | undefined {
  const ending = endingSessions(connection, tenant);
  if (ending.length === 0) return filter;
  const field = { scope: "system", name: "session" } as const;
  const gone = ending.map(
    (value): BoundFilter => ({ op: "not", operand: { op: "equals", field, kind: "string", value } }),
  );
  return { op: "and", operands: filter === undefined ? gone : [filter, ...gone] };
}
