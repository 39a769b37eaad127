import type { Connection } from "../database/connection.ts";

/** `ended`: what is left of it is being reclaimed, and is nobody's. */
export type TenantState = "live" | "ended" | "missing";

export interface TenantLookup {
  stateOf(tenant: number): TenantState;
}

export function tenantLookup(connection: Connection): TenantLookup {
  const known = new Map<number, TenantState>();
  const live = connection.prepare("SELECT 1 AS found FROM tenants WHERE tenant = ?");
  const ended = connection.prepare("SELECT 1 AS found FROM ended_tenants WHERE tenant = ?");
  const find = (tenant: number): TenantState => {
    if (live.get(tenant) !== undefined) return "live";
    return ended.get(tenant) === undefined ? "missing" : "ended";
  };
  return {
    stateOf(tenant) {
      const state = known.get(tenant) ?? find(tenant);
      known.set(tenant, state);
      return state;
    },
  };
}
