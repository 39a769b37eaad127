import type { SqlRow, SqlValue } from "../database/connection.ts";
import type { StoreRow } from "../registry/stores.ts";
import type { Ledger } from "./ledger.ts";
import type { Staging } from "./staging.ts";
import type { Target } from "./target.ts";

/** What a repair has at hand while it makes the new database. */
export interface Rebuild {
  readonly staging: Staging;
  readonly target: Target;
  readonly ledger: Ledger;
  /** Stores whose rows say what their records are. */
  readonly stores: readonly StoreRow[];
  /** Tables of which rows may be missing without a trace. */
  readonly damaged: ReadonlySet<string>;
  /** Lives of the tenants that are there again, by number. */
  readonly tenants: Map<number, string>;
  /** Tenants that have ended: nothing of theirs is brought back. */
  readonly ended: Set<number>;
}

/** A staged row's columns, without those that are the staging's own. */
export function columnsOf(row: SqlRow): Readonly<Record<string, SqlValue>> {
  const { rowid_: _rowid, place_: _place, ...columns } = row;
  return columns;
}

/** Lists a row that is not brought back. */
export function setAside(all: Rebuild, table: string, row: SqlRow, reason: string): void {
  all.ledger.miss({ table, row: row.rowid_ ?? null, fate: "set-aside", reason, values: columnsOf(row) });
}

/** Lists a row that is made anew of what it was derived from. */
export function remake(all: Rebuild, table: string, row: SqlRow, reason: string): void {
  all.ledger.miss({ table, row: row.rowid_ ?? null, fate: "remade", reason, values: columnsOf(row) });
}
