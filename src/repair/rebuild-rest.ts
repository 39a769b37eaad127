import type { SqlRow } from "../database/connection.ts";
import type { Steps } from "../verify/verification.ts";
import { columnsOf, type Rebuild, remake, setAside } from "./rebuild.ts";
import { nameOf } from "./staging.ts";

/** Tables that have a way of their own, or are made anew with what they are of. */
const HANDLED: ReadonlySet<string> = new Set([
  "holdfast",
  nameOf("sqlite_sequence"),
  "stores",
  "spaces",
  "partitions",
  "tombstones",
  "tenants",
  "ended_tenants",
  "sessions",
  "events",
  "event_properties",
  "event_revisions",
  "segments",
  "pending_vectors",
  "changes",
  "summaries",
  "declared_keys",
  "declared_fill",
  "declared_exceptions",
  "indexed_",
]);

/** The feed, summaries, and every other table as it is. */
export function* rebuildRest(all: Rebuild): Steps {
  yield* restoreChanges(all);
  for (const row of all.staging.rows("summaries")) {
    yield;
    restoreSummary(all, row);
  }
  const tables = all.staging.connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) {
    const table = String(name);
    if (!HANDLED.has(table) && !/^(records|vectors)_\d+$/.test(table)) yield* restoreTable(all, table);
  }
}

function* restoreChanges(all: Rebuild): Steps {
  const { staging, target, ledger } = all;
  const counts = new Map<number, number>();
  for (const row of staging.rows("changes")) {
    yield;
    const tenant = Number(row.tenant);
    if (all.ended.has(tenant)) continue;
    const reason = all.tenants.has(tenant) ? target.insert("changes", columnsOf(row)) : "its tenant is not there";
    if (reason !== undefined) {
      setAside(all, "changes", row, reason);
      continue;
    }
    ledger.kept("changes");
    counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  }
  const note = target.connection.prepare("UPDATE tenants SET changes = ? WHERE tenant = ?");
  for (const [tenant, count] of counts) note.run(count, tenant);
  if (!all.damaged.has("changes")) return;
  for (const row of staging.lost("changes"))
    ledger.miss({ table: "changes", row, fate: "lost", reason: "the row's page is damaged" });
  // Whoever followed the feed may have missed something: an old cursor is refused, and everything read once.
  target.connection.exec(
    "UPDATE tenants SET changes_floor = coalesce((SELECT max(sequence) FROM changes WHERE changes.tenant = tenants.tenant), changes_floor)",
  );
  ledger.notes.push("The change feed has lost rows: cursors from before are refused.");
}

/** A summary is made anew where it does not fit any more. */
function restoreSummary(all: Rebuild, row: SqlRow): void {
  if (all.ended.has(Number(row.tenant))) return;
  const covered = all.target.connection
    .prepare(
      `SELECT 1 AS found FROM events AS e JOIN sessions AS n ON n.session = e.session
       WHERE e.event = ? AND e.session = ? AND e.at = ? AND n.tenant = ?`,
    )
    .get(row.to_event ?? null, row.session ?? null, row.to_at ?? null, row.tenant ?? null);
  const reason =
    covered === undefined
      ? "what it covers is not there any more; it is made anew"
      : all.target.insert("summaries", columnsOf(row));
  if (reason === undefined) all.ledger.kept("summaries");
  else remake(all, "summaries", row, reason);
}

function* restoreTable(all: Rebuild, table: string): Steps {
  for (const row of all.staging.rows(table)) {
    yield;
    const columns = columnsOf(row);
    const tenant = "tenant" in columns ? Number(columns.tenant) : undefined;
    if (tenant !== undefined && all.ended.has(tenant)) continue;
    const isOrphan = tenant !== undefined && !all.tenants.has(tenant);
    const reason = isOrphan ? "its tenant is not there" : all.target.insert(table, columns, "INSERT OR REPLACE");
    if (reason === undefined) all.ledger.kept(table);
    else setAside(all, table, row, reason);
  }
}
