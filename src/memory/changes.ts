import type { WriteUnit } from "../database/operation.ts";
import type { EventOwner } from "../segments/sqlite/events.ts";
import type { Change } from "./log-contract.ts";

/**
 * What was committed, in the order of commits: there is one writer at a time, so that sequences ascend with them.
 * A tenant's row counts its changes and says up to which they were let go.
 */
export const CHANGES_SCHEMA = `
CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  session INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  event_id TEXT,
  kind TEXT NOT NULL,
  revision INTEGER,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_tenant ON changes (tenant, sequence);
CREATE INDEX changes_by_session ON changes (tenant, session, sequence);
CREATE TABLE change_feed (one INTEGER PRIMARY KEY CHECK (one = 1), kept INTEGER NOT NULL) STRICT;
INSERT INTO change_feed (one, kept) VALUES (1, 100000);`;

/** Old changes are let go in steps of this size. */
const PRUNED_AT_ONCE = 256;

/** What happened to an event. */
export function changeOf(
  kind: "written" | "changed" | "forgotten",
  { session, sessionId }: Pick<EventOwner, "session" | "sessionId">,
  event: string,
  revision?: number,
): NewChange {
  return { kind, session, sessionId, event, revision };
}

export interface NewChange {
  readonly kind: Change["kind"];
  readonly session: number;
  readonly sessionId: string;
  readonly event?: string | undefined;
  readonly revision?: number | undefined;
}

/** Tells the feed what the unit commits (S14). */
export function noteChanges(unit: WriteUnit, tenant: number, changes: readonly NewChange[]): void {
  const { connection, nowMicros } = unit;
  if (changes.length === 0) return;
  const counted = connection
    .prepare("UPDATE tenants SET changes = changes + ? WHERE tenant = ? RETURNING changes")
    .get(changes.length, tenant);
  // Of an ended tenant nobody reads a feed.
  if (counted === undefined) return;
  const total = Number(counted.changes);
  const insert = connection.prepare(
    "INSERT INTO changes (tenant, session, session_id, event_id, kind, revision, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  for (const { kind, session, sessionId, event = null, revision = null } of changes)
    insert.run(tenant, session, sessionId, event, kind, revision, nowMicros);
  const kept = Number(connection.prepare("SELECT kept FROM change_feed").get()?.kept);
  // In steps, so that no write pays for all; a batch lets go of as much as it brings.
  if (total >= kept + PRUNED_AT_ONCE) prune(unit, tenant, Math.min(total - kept, PRUNED_AT_ONCE + changes.length));
}

function prune({ connection }: WriteUnit, tenant: number, count: number): void {
  const last = connection
    .prepare("SELECT sequence FROM changes WHERE tenant = ? ORDER BY sequence LIMIT 1 OFFSET ?")
    .get(tenant, count - 1)?.sequence;
  if (last === undefined) return;
  const { changes } = connection
    .prepare("DELETE FROM changes WHERE tenant = ? AND sequence <= ?")
    .run(tenant, Number(last));
  connection
    .prepare("UPDATE tenants SET changes = changes - ?, changes_floor = ? WHERE tenant = ?")
    .run(changes, Number(last), tenant);
}
