import { type ReadOperation, readOperation } from "../database/operation.ts";
import { HoldfastError } from "../errors/index.ts";
import type { NewChange } from "./changes.ts";
import type { Change } from "./log-contract.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { requireTenant, type TenantLife } from "./tenants.ts";

export interface ChangesInput {
  readonly tenant: TenantLife;
  /** Only changes of this session. */
  readonly session: SessionLife | undefined;
  /** Only behind this sequence; `undefined` from the oldest on. */
  readonly after: number | undefined;
  readonly limit: number;
}

export interface ChangeRow extends Omit<NewChange, "session"> {
  readonly sequence: number;
  /** Microseconds since 1970. */
  readonly at: bigint;
}

export interface ChangesOutput {
  readonly rows: readonly ChangeRow[];
  readonly highWater: number;
  /** Where the next page begins: behind the last row that was looked at. */
  readonly last: number;
}

/** One page of the feed. */
export const readChanges: ReadOperation<ChangesInput, ChangesOutput> = readOperation(
  "memory.read-changes",
  (view, { tenant, session, after, limit }) => {
    const { connection } = view;
    if (session !== undefined) requireSession(connection, session);
    else requireTenant(connection, tenant);
    const floor = Number(
      connection.prepare("SELECT changes_floor FROM tenants WHERE tenant = ?").get(tenant.tenant)?.changes_floor ?? 0,
    );
    const newest = connection.prepare("SELECT max(sequence) AS last FROM changes WHERE tenant = ?").get(tenant.tenant);
    const highWater = Math.max(Number(newest?.last ?? 0), floor);
    // One beyond the newest is of another copy of the folder, such as one from before files were put back by hand.
    if (after !== undefined && (after < floor || after > highWater)) throw cursorExpired();
    const from = after ?? floor;
    const own = session === undefined ? [] : [session.session];
    const rows = connection
      .prepare(
        `SELECT sequence, session_id, event_id, kind, revision, at FROM changes
         WHERE tenant = ? ${session === undefined ? "" : "AND session = ?"} AND sequence > ? ORDER BY sequence LIMIT ?`,
        { bigints: true },
      )
      .all(tenant.tenant, ...own, from, limit);
    return {
      rows: rows.map((row) => ({
        sequence: Number(row.sequence),
        sessionId: String(row.session_id),
        ...(row.event_id !== null && { event: String(row.event_id) }),
        kind: row.kind as Change["kind"],
        ...(row.revision !== null && { revision: Number(row.revision) }),
        at: BigInt(row.at as bigint),
      })),
      highWater,
      // A page that is not full has looked at everything: what others did is behind the reader too.
      last: rows.length === limit ? Number(rows.at(-1)?.sequence ?? from) : highWater,
    };
  },
);

export function cursorExpired(): HoldfastError {
  const message =
    "What follows this cursor is not kept any more, or the tenant was made anew, or the folder restored from a backup; read everything once, and follow from the newest cursor.";
  return new HoldfastError("CURSOR_EXPIRED", message);
}
