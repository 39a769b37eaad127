import { type WriteOperation, type WriteUnit, writeOperation } from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { findEvent, type NewEvent, readEvent, type StoredEvent } from "../segments/sqlite/events.ts";
import { rangesOf, type SegmentRange } from "../segments/sqlite/segments.ts";
import { backoffMs, type Missing, toMs } from "./pending.ts";
import { SegmentRecords } from "./segment-records.ts";
import type { TenantLife } from "./tenants.ts";

/** How often a text may fail while the embedder works for others before it is parked. */
const TEXT_FAILURES_MAX = 5;

/** Whoever claims a segment and dies keeps it from the others for so long. */
const CLAIM_MS = 60_000;

export interface ClaimInput {
  readonly limit: number;
  /** Only events behind this number. */
  readonly after: number;
  /** Also those whose time has not come, and parked ones. */
  readonly all: boolean;
}

/** An event with segments to embed, as it is now. */
export interface ClaimedEvent {
  readonly tenant: TenantLife;
  readonly event: StoredEvent;
  readonly ranges: readonly SegmentRange[];
  /** Positions in `ranges` of those without a vector. */
  readonly pending: readonly number[];
}

export interface ClaimOutput {
  readonly events: readonly ClaimedEvent[];
  /** The number of the last event that was looked at, or `undefined` when there was none. */
  readonly last: number | undefined;
  /** When the next one is due, in milliseconds since 1970; absent when nothing waits. */
  readonly nextAt: number | undefined;
}

/** Takes some events with due segments for a while, so that no two processes embed the same. */
export const claimPending: WriteOperation<ClaimInput, ClaimOutput> = writeOperation(
  "memory.claim-pending",
  (unit, { limit, after, all }) => {
    const { connection } = unit;
    const now = toMs(unit.nowMicros);
    const due = all ? "" : "AND state = 'waiting' AND next_at <= ?";
    const rows = connection
      .prepare(
        `SELECT DISTINCT event FROM pending_vectors WHERE event > ? AND claimed_until <= ? ${due} ORDER BY event LIMIT ?`,
      )
      .all(after, now, ...(all ? [] : [now]), limit);
    const claim = connection.prepare("UPDATE pending_vectors SET claimed_until = ? WHERE event = ?");
    const events = rows.flatMap((row) => {
      claim.run(now + CLAIM_MS, Number(row.event));
      return claimedEvent(unit, Number(row.event));
    });
    const next = connection
      .prepare("SELECT min(max(next_at, claimed_until)) AS next FROM pending_vectors WHERE state = 'waiting'")
      .get()?.next;
    const last = rows.at(-1)?.event;
    return {
      events,
      last: last === undefined ? undefined : Number(last),
      nextAt: next === null || next === undefined ? undefined : Number(next),
    };
  },
);

function claimedEvent(unit: WriteUnit, event: number): readonly ClaimedEvent[] {
  const { connection } = unit;
  const row = connection
    .prepare(
      "SELECT e.id, t.tenant, t.id AS tenant_id, t.incarnation FROM events AS e JOIN tenants AS t ON t.tenant = e.tenant WHERE e.event = ?",
    )
    .get(event);
  if (row === undefined) return [];
  const tenant = { tenant: Number(row.tenant), id: String(row.tenant_id), incarnation: String(row.incarnation) };
  const stored = readEvent(connection, tenant.tenant, String(row.id));
  // A damaged event is left to whoever verifies the memory; of a session that is being deleted nothing is embedded.
  if (stored === undefined || stored === "damaged") return [];
  const segments = rangesOf(connection, event);
  const waiting = new Set(
    connection
      .prepare("SELECT segment FROM pending_vectors WHERE event = ?")
      .all(event)
      .map(({ segment }) => Number(segment)),
  );
  const pending = segments.flatMap(({ segment }, index) => (waiting.has(segment) ? [index] : []));
  return [{ tenant, event: stored, ranges: segments, pending }];
}

/** What came of one claimed segment: its vector, or why it has none. */
export type SettledSegment =
  | { readonly vector: Float32Array }
  | {
      readonly reason: string;
      /** Whether the embedder works and this text is what it fails for. */
      readonly aboutText: boolean;
    };

export interface SettledEvent {
  readonly tenant: TenantLife;
  readonly event: NewEvent & Pick<StoredEvent, "event" | "revision" | "createdAt">;
  /** The segments as they are cut now, where the stored ones were cut without the embedder's tokens. */
  readonly recut: readonly SegmentRange[] | undefined;
  /** By position in `recut`, else in the stored segments. */
  readonly segments: ReadonlyMap<number, SettledSegment>;
}

export interface SettleInput {
  readonly space: SpaceIdentity;
  readonly events: readonly SettledEvent[];
}

export interface SettleOutput {
  readonly embedded: number;
  readonly failed: number;
  readonly parked: number;
}

/** Stores the vectors of segments that still say what was embedded; forgets nothing and overwrites nothing (S7). */
export const settlePending: WriteOperation<SettleInput, SettleOutput> = writeOperation(
  "memory.settle-pending",
  (unit, { space, events }) => {
    const stored = currentSpace(unit.connection);
    if (stored !== undefined) assertSameSpace(stored, space);
    const counts = { embedded: 0, failed: 0, parked: 0 };
    for (const settled of events) {
      unit.cancellation.assertLive();
      settle(unit, space, settled, counts);
    }
    return counts;
  },
);

function settle(
  unit: WriteUnit,
  space: SpaceIdentity,
  { tenant, event, recut, segments }: SettledEvent,
  counts: { embedded: number; failed: number; parked: number },
): void {
  const { connection } = unit;
  const found = findEvent(connection, tenant.tenant, event.id);
  // Forgotten, or updated: an update has embedded its own text, or noted it as pending anew.
  if (found === undefined || found.event !== event.event || found.revision !== event.revision) return;
  const session = connection.prepare("SELECT id, user FROM sessions WHERE session = ?").get(found.session);
  if (session === undefined) return;
  const user = session.user === null ? undefined : String(session.user);
  const owner = { tenant: tenant.tenant, session: found.session, sessionId: String(session.id), user };
  const row = { event: event.event, owner, revision: event.revision, createdAt: event.createdAt };
  const records = new SegmentRecords(unit, tenant, space);
  if (recut !== undefined) {
    records.remove(event.event);
    const dimensions = space.dimensions;
    const vectors = new Float32Array(recut.length * dimensions);
    const missing = new Map<number, Missing>();
    for (const [index] of recut.entries()) {
      const outcome = segments.get(index);
      if (outcome !== undefined && "vector" in outcome) vectors.set(outcome.vector, index * dimensions);
      else missing.set(index, { reason: outcome?.reason ?? "EMBEDDING_FAILED" });
    }
    records.write(row, { event, segments: recut, vectors, missing });
    counts.embedded += recut.length - missing.size;
    counts.failed += missing.size;
  } else {
    const kept = rangesOf(connection, event.event);
    for (const [index, outcome] of segments) {
      const segment = kept[index]?.segment;
      if (segment === undefined) continue;
      if ("vector" in outcome) {
        records.putVector(row, event, segment, outcome.vector);
        connection.prepare("DELETE FROM pending_vectors WHERE segment = ?").run(segment);
        counts.embedded += 1;
      } else if (noteFailure(unit, segment, outcome)) counts.parked += 1;
      else counts.failed += 1;
    }
  }
  records.finish();
}

/** Answers whether the segment is parked now. */
function noteFailure(
  unit: WriteUnit,
  segment: number,
  { reason, aboutText }: { readonly reason: string; readonly aboutText: boolean },
): boolean {
  const { connection } = unit;
  const row = connection
    .prepare("SELECT attempts, text_failures, state FROM pending_vectors WHERE segment = ?")
    .get(segment);
  if (row === undefined) return false;
  const attempts = Number(row.attempts) + 1;
  const textFailures = Number(row.text_failures) + (aboutText ? 1 : 0);
  const state = row.state === "parked" || textFailures >= TEXT_FAILURES_MAX ? "parked" : "waiting";
  connection
    .prepare(
      "UPDATE pending_vectors SET state = ?, attempts = ?, text_failures = ?, next_at = ?, claimed_until = 0, reason = ? WHERE segment = ?",
    )
    .run(state, attempts, textFailures, toMs(unit.nowMicros) + backoffMs(attempts), reason, segment);
  return state === "parked";
}
