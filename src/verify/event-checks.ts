import type { SqlRow } from "../database/connection.ts";
import { digestOf } from "../memory/event-input.ts";
import { LOST_REVISION, revisionsOf } from "../segments/sqlite/event-revisions.ts";
import { EVENT_COLUMNS, FIRST_REVISION, type StoredEvent, toWholeEvent } from "../segments/sqlite/events.ts";
import { EventSegments } from "./segment-checks.ts";
import { tenantLookup } from "./stored-tenants.ts";
import { overRanges } from "./structure-checks.ts";
import type { Check, Steps, Verification } from "./verification.ts";

/** Each event with its checksum, its history, its segments, their words and their vectors. */
export const eventChecks: Check = {
  stage: "events",
  *run(verification) {
    const { connection } = verification;
    const tenants = tenantLookup(connection);
    const segments = new EventSegments(verification);
    const byId = connection.prepare("SELECT event FROM events WHERE tenant = ? AND id = ?");
    for (const row of verification.walk(EVENTS)) {
      yield;
      const number = String(row.event);
      verification.counts.events += 1;
      const tenant = Number(row.tenant);
      if (tenants.stateOf(tenant) === "ended") continue;
      if (tenants.stateOf(tenant) === "missing")
        verification.report("orphan-event", "events", number, `The event's tenant ${tenant} is not there.`);
      if (row.session === null) {
        verification.report(
          "orphan-event",
          "events",
          number,
          `The event's session ${row.session_number} is not there.`,
        );
        continue;
      }
      const event = verification.attempt("events", number, () => toWholeEvent(connection, tenant, row));
      if (event === undefined) continue;
      if (event === "damaged") {
        verification.report(
          "event",
          "events",
          number,
          "The event's checksum does not hold: its text, session, a label or a property was changed.",
        );
        continue;
      }
      verification.attempt("events", number, () => {
        if (Number(byId.get(tenant, event.id)?.event) !== event.event)
          verification.report("index", "events", number, "The event is not found by its id.");
        checkHistory(verification, event, row);
        segments.check(tenant, event);
      });
    }
    yield* orphans(verification);
  },
};

const EVENTS = {
  table: "events",
  sql: `SELECT e.event AS key, e.tenant, e.session AS session_number, e.first_digest, ${EVENT_COLUMNS}
    FROM events AS e LEFT JOIN sessions AS n ON n.session = e.session WHERE e.event > ? ORDER BY e.event`,
  seek: "SELECT min(event) AS key FROM events WHERE event >= ?",
};

function checkHistory(verification: Verification, event: StoredEvent, row: SqlRow): void {
  const number = String(event.event);
  const report = (message: string): void => verification.report("event", "events", number, message);
  if (digestOf({ ...event, atGiven: true }) !== event.digest) report("The event's digest is not that of what it says.");
  const earlier = revisionsOf(verification.connection, event.event);
  verification.counts.revisions += earlier.length;
  for (const [index, revision] of earlier.entries()) {
    if (revision !== "damaged" || isKnownLost(verification, event.event, index)) continue;
    const key = `${number}, ${index + FIRST_REVISION}`;
    verification.report("revision", "event_revisions", key, "The checksum of an earlier revision does not hold.");
  }
  const expected = event.revision - FIRST_REVISION;
  if (earlier.length !== expected)
    verification.report(
      "revision",
      "event_revisions",
      number,
      `The event has ${earlier.length} earlier revisions, and should have ${expected}.`,
    );
  const [first = event] = earlier;
  if (first === "damaged" || earlier.length !== expected) return;
  const { text, blocks, properties } = first;
  if (digestOf({ ...event, atGiven: true, text, blocks, properties }) !== row.first_digest)
    report("The digest of what was first given is not that of the first revision.");
}

/** A repair has told of it. */
function isKnownLost({ connection }: Verification, event: number, index: number): boolean {
  const select = connection.prepare(
    "SELECT checksum FROM event_revisions WHERE event = ? ORDER BY revision LIMIT 1 OFFSET ?",
  );
  return Number(select.get(event, index)?.checksum) === LOST_REVISION;
}

/** Rows that belong to events, or to sessions, that are not there. */
function* orphans(verification: Verification): Steps {
  const { connection } = verification;
  const properties = connection.prepare(
    `SELECT p.event, p.name FROM event_properties AS p LEFT JOIN events AS e ON e.event = p.event
     WHERE p.event >= ? AND p.event < ? AND e.event IS NULL`,
  );
  yield* overRanges(verification, { table: "event_properties", key: "event" }, (from, to) => {
    for (const { event } of properties.iterate(from, to))
      verification.report("property", "event_properties", `${event}`, "A property belongs to no event.");
  });
  const revisions = connection.prepare(
    `SELECT r.event, r.revision FROM event_revisions AS r LEFT JOIN events AS e ON e.event = r.event
     WHERE r.event >= ? AND r.event < ? AND e.event IS NULL`,
  );
  yield* overRanges(verification, { table: "event_revisions", key: "event" }, (from, to) => {
    for (const { event, revision } of revisions.iterate(from, to))
      verification.report("revision", "event_revisions", `${event}, ${revision}`, "A revision belongs to no event.");
  });
}
