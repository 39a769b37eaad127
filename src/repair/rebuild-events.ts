import type { SqlRow, SqlValue } from "../database/connection.ts";
import { digestOf } from "../memory/event-input.ts";
import { eventChecksum, revisionChecksum } from "../segments/sqlite/checksums.ts";
import { propertiesFromText } from "../segments/sqlite/event-properties.ts";
import { LOST_REVISION } from "../segments/sqlite/event-revisions.ts";
import { FIRST_REVISION, type StoredEvent, toStoredEvent } from "../segments/sqlite/events.ts";
import type { Steps } from "../verify/verification.ts";
import { columnsOf, type Rebuild, setAside } from "./rebuild.ts";
import { SegmentRebuilder } from "./rebuild-segments.ts";
import { SessionFinder } from "./session-finder.ts";

/** Events whose checksum holds, with their properties, their history, and everything that is made of them. */
export function* rebuildEvents(all: Rebuild): Steps {
  const { staging, ledger } = all;
  const sessions = new SessionFinder(all);
  const segments = new SegmentRebuilder(all);
  all.target.beforeCommit = () => segments.flush();
  const restored = all.target.connection.prepare("SELECT 1 AS found FROM events WHERE event = ?");
  for (const row of staging.rows("events")) {
    yield;
    const tenant = Number(row.tenant);
    if (all.ended.has(tenant) || sessions.isDeleted(row)) continue;
    const event = wholeEvent(all, row, sessions);
    if (event === undefined) {
      setAside(
        all,
        "events",
        row,
        "its checksum does not hold: the text, the session, a label or a property was damaged",
      );
      for (const table of ["event_properties", "event_revisions"])
        for (const part of staging.find(table, "event", row.event ?? null))
          setAside(all, table, part, "its event is damaged");
      continue;
    }
    // A page that is there twice, of which one is old.
    if (restored.get(event.event) !== undefined) continue;
    const reason = all.target.insert("events", { ...columnsOf(row), ...digestsOf(all, event, row) });
    if (reason !== undefined) {
      setAside(all, "events", row, reason);
      continue;
    }
    ledger.kept("events");
    restoreParts(all, event);
    yield* segments.restore(event, { tenant, session: Number(row.session) });
  }
  segments.finish();
  all.target.beforeCommit = () => undefined;
  reportLost(all);
  reportUntold(all);
}

/** The event under the session that its checksum vouches for; `undefined` when it does not hold. */
function wholeEvent({ staging, tenants }: Rebuild, row: SqlRow, sessions: SessionFinder): StoredEvent | undefined {
  const tenant = Number(row.tenant);
  if (!tenants.has(tenant)) return undefined;
  return sessions.find(row, ({ id, user }) => {
    try {
      const event = toStoredEvent(staging.connection, { ...row, session: id, user: user ?? null });
      return eventChecksum(tenant, event) === Number(row.checksum) ? event : undefined;
    } catch {
      // A value that cannot be what its column says.
      return undefined;
    }
  });
}

/** Digests stand outside the checksum: they are made anew of what it vouches for. */
function digestsOf({ staging }: Rebuild, event: StoredEvent, row: SqlRow): Readonly<Record<string, SqlValue>> {
  const content = { ...event, atGiven: true };
  const digest = digestOf(content);
  if (event.revision === FIRST_REVISION) return { digest, first_digest: digest };
  const first = staging
    .find("event_revisions", "event", row.event ?? null)
    .find(({ revision }) => Number(revision) === FIRST_REVISION);
  if (first === undefined || !isWholeRevision(first)) return { digest };
  const blocks = first.blocks === null ? undefined : String(first.blocks);
  const properties = propertiesFromText(String(first.properties));
  return { digest, first_digest: digestOf({ ...content, text: String(first.text), blocks, properties }) };
}

function isWholeRevision(row: SqlRow): boolean {
  const blocks = row.blocks === null ? undefined : String(row.blocks);
  const revision = { revision: Number(row.revision), text: String(row.text), blocks };
  return revisionChecksum(Number(row.event), revision, String(row.properties)) === Number(row.checksum);
}

function restoreParts(all: Rebuild, event: StoredEvent): void {
  const { staging, target, ledger } = all;
  for (const row of staging.find("event_properties", "event", BigInt(event.event)))
    if (target.insert("event_properties", columnsOf(row)) === undefined) ledger.kept("event_properties");
  const rows = staging.find("event_revisions", "event", BigInt(event.event));
  for (let revision = FIRST_REVISION; revision < event.revision; revision += 1) {
    const found = rows.filter((row) => Number(row.revision) === revision);
    const whole = found.find(isWholeRevision);
    for (const row of found) if (row !== whole) setAside(all, "event_revisions", row, "its checksum does not hold");
    if (found.length === 0)
      ledger.miss({
        table: "event_revisions",
        row: `${event.event}, ${revision}`,
        fate: "lost",
        reason: "the revision is not there",
      });
    if (whole !== undefined) ledger.kept("event_revisions");
    // The history says that a revision was there and is damaged.
    const gap = {
      event: BigInt(event.event),
      revision: BigInt(revision),
      text: "",
      blocks: null,
      properties: "[]",
      checksum: BigInt(LOST_REVISION),
      replaced_at: found[0]?.replaced_at ?? 0n,
    };
    target.insert("event_revisions", whole === undefined ? gap : columnsOf(whole));
  }
}

/** Events whose own rows are gone without a trace, and of which something that was made of them is there. */
function reportUntold({ staging, ledger, ended }: Rebuild): void {
  const [counter] = staging.find("sqlite_sequence", "name", "events");
  const given = counter === undefined ? Number.MAX_SAFE_INTEGER : Number(counter.seq);
  const rows = staging.connection.prepare(
    `SELECT event, min(tenant) AS tenant FROM segments WHERE typeof(event) = 'integer' AND event <= ?
       AND event NOT IN (SELECT rowid_ FROM events)
       AND event NOT IN (SELECT rowid_ FROM indexed_ WHERE table_ = 'events') GROUP BY event`,
    { bigints: true },
  );
  for (const { event, tenant } of rows.iterate(given))
    if (!ended.has(Number(tenant)))
      ledger.miss({
        table: "events",
        row: event ?? null,
        fate: "lost",
        reason: "segments of it are there, and it is not",
      });
}

function reportLost(all: Rebuild): void {
  const { staging, ledger, damaged } = all;
  for (const table of ["events", "sessions", "tenants"])
    for (const row of damaged.has(table) ? staging.lost(table) : []) {
      const there = all.target.connection.prepare(`SELECT 1 AS found FROM ${table} WHERE rowid = ?`).get(row);
      if (there === undefined)
        ledger.miss({
          table,
          row,
          fate: "lost",
          reason: "the row's page is damaged",
          values: staging.indexed(table, row),
        });
    }
}
