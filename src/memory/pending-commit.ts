import { type WriteOperation, type WriteUnit, writeOperation } from "../database/operation.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import { randomFraction } from "../io/ids.ts";
import { type EventOwner, findEvent, type StoredEvent } from "../segments/sqlite/events.ts";
import { findPending, updatePending } from "../segments/sqlite/pending-vectors.ts";
import { backoffMs } from "./backoff.ts";
import { LEASE_MS } from "./embedding-lease.ts";
import { readByNumber } from "./pending-rows.ts";
import { type EventPart, SegmentRecords, vectorRows } from "./segment-records.ts";
import type { TenantLife } from "./tenants.ts";
import { vectorValues } from "./vector-records.ts";

/** A text that failed so often because of itself is parked: it will not get better by being sent again. */
export const ATTEMPTS_MAX = 5;

export interface SettleInput {
  readonly space: SpaceIdentity;
  readonly holder: string;
  readonly embedded: readonly {
    readonly segment: number;
    readonly count: number;
    /** Shape [count × dimensions]. */
    readonly vectors: Float32Array;
  }[];
  readonly failed: readonly {
    readonly segment: number;
    readonly reason: string;
    /** The text itself failed while others were embedded: counts towards parking. */
    readonly byText: boolean;
  }[];
  /** Events that were cut while nobody could count tokens, cut anew; named by one of their old segments. */
  readonly recut: readonly { readonly segment: number; readonly part: EventPart }[];
}

export interface SettleOutput {
  readonly embedded: number;
  readonly parked: number;
}

/**
 * What became of some pending segments, in one commit. A segment's number is bound to its text for ever, so that vectors
 * are kept only of segments that are there, still pending, with the text that was embedded (M7).
 */
export const settlePending: WriteOperation<SettleInput, SettleOutput> = writeOperation(
  "memory.settle-pending",
  (unit, input) => {
    const records = new TenantRecords(unit, input.space);
    let embedded = 0;
    let parked = 0;
    for (const { segment, count, vectors } of input.embedded) {
      const found = findPlace(unit, segment);
      if (found === undefined) continue;
      const values = vectorValues(unit, found.owner, found.stored, found.stored.createdAt);
      records.of(found.tenant).embed(segment, values, vectorRows(vectors, count));
      embedded += 1;
    }
    for (const { segment, part } of input.recut) {
      const found = findPlace(unit, segment);
      if (found === undefined) continue;
      const { stored, owner } = found;
      const { event, revision, createdAt } = stored;
      const own = records.of(found.tenant);
      own.remove(event);
      own.write({ event, owner, revision, createdAt }, { ...part, event: { ...stored, atGiven: true } });
      embedded += part.segments.filter(({ vectors }) => vectors > 0).length;
    }
    for (const failure of input.failed) if (noteFailure(unit, failure)) parked += 1;
    records.finish();
    unit.connection
      .prepare("UPDATE embedding_lease SET until = ? WHERE holder = ?")
      .run(unit.nowMicros + LEASE_MS * 1_000, input.holder);
    return { embedded, parked };
  },
);

/** Answers whether the segment was parked now. */
function noteFailure(unit: WriteUnit, failure: SettleInput["failed"][number]): boolean {
  const { segment, reason, byText } = failure;
  const row = findPending(unit.connection, segment);
  if (row === undefined) return false;
  const attempts = row.attempts + (byText ? 1 : 0);
  const state = row.state === "parked" || attempts >= ATTEMPTS_MAX ? "parked" : "waiting";
  // The service's own pause is kept with the lease; a text waits for itself.
  const nextAt = byText ? unit.nowMicros + backoffMs(attempts, randomFraction()) * 1_000 : row.nextAt;
  updatePending(unit.connection, { segment, state, attempts, nextAt, reason });
  return state === "parked" && row.state !== "parked";
}

interface Place {
  readonly tenant: TenantLife;
  readonly owner: EventOwner;
  readonly stored: StoredEvent;
}

/** Where a pending segment belongs; `undefined` when it is gone, has its vectors, or its tenant has ended. */
function findPlace(unit: WriteUnit, segment: number): Place | undefined {
  const { connection } = unit;
  if (findPending(connection, segment) === undefined) return undefined;
  const row = connection
    .prepare(
      "SELECT s.event, t.tenant, t.id, t.incarnation FROM segments AS s JOIN tenants AS t ON t.tenant = s.tenant WHERE s.segment = ?",
    )
    .get(segment);
  if (row === undefined) return undefined;
  const stored = readByNumber(unit, Number(row.event));
  if (stored === "damaged") return undefined;
  const tenant = { tenant: Number(row.tenant), id: String(row.id), incarnation: String(row.incarnation) };
  const session = findEvent(connection, tenant.tenant, stored.id)?.session ?? 0;
  const owner = { tenant: tenant.tenant, session, sessionId: stored.session, user: stored.user };
  return { tenant, owner, stored };
}

/** Segment records of several tenants in one unit. */
class TenantRecords {
  readonly #unit: WriteUnit;
  readonly #space: SpaceIdentity;
  readonly #records = new Map<number, SegmentRecords>();

  constructor(unit: WriteUnit, space: SpaceIdentity) {
    this.#unit = unit;
    this.#space = space;
  }

  of(tenant: TenantLife): SegmentRecords {
    const found = this.#records.get(tenant.tenant) ?? new SegmentRecords(this.#unit, tenant, this.#space);
    this.#records.set(tenant.tenant, found);
    return found;
  }

  finish(): void {
    for (const records of this.#records.values()) records.finish();
  }
}
