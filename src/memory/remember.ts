import {
  type Parted,
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import {
  type EventDigests,
  FIRST_REVISION,
  findEventDigests,
  insertEvent,
  type NewEvent,
} from "../segments/sqlite/events.ts";
import { hasPending } from "../segments/sqlite/pending-vectors.ts";
import { changeOf, type NewChange, noteChanges } from "./changes.ts";
import { removeEvents } from "./forget.ts";
import { type EventPart, SegmentRecords } from "./segment-records.ts";
import { ownerOf, requireSession, type SessionLife } from "./sessions.ts";
import { dropSummary } from "./summaries.ts";

export interface RememberInput extends Partial<Parted<EventPart>> {
  readonly session: SessionLife;
  readonly space: SpaceIdentity;
}

export interface RememberOutput {
  /** In input order: whether the event was new, and whether a segment of it waits for its vectors. */
  readonly created: readonly boolean[];
  readonly pending: readonly boolean[];
}

/** Events with their segments, words and vectors in one commit (E2); one under a known id changes nothing (S3). */
export const rememberEvents: WriteOperation<RememberInput, RememberOutput> = writeOperation(
  "memory.remember",
  (unit, input) => {
    requireSession(unit.connection, input.session);
    const parts = input.parts ?? [];
    freeIds(unit, input.session, parts);
    const fresh = parts.map(({ event }) => isNew(unit, input.session, event));
    const pending = (): readonly boolean[] =>
      parts.map(({ event }) => hasPending(unit.connection, input.session.tenant.tenant, event.id));
    if (!fresh.includes(true)) return { created: fresh, pending: pending() };
    const records = new SegmentRecords(unit, input.session.tenant, input.space);
    const owner = ownerOf(input.session);
    const changes: NewChange[] = [];
    for (const [index, part] of parts.entries()) {
      unit.cancellation.assertLive();
      if (fresh[index] !== true) continue;
      const event = insertEvent(unit.connection, owner, part.event, unit.nowMicros);
      dropSummary(unit.connection, owner.session, { at: part.event.at, event });
      changes.push(changeOf("written", owner, part.event.id, FIRST_REVISION));
      records.write({ event, owner, revision: FIRST_REVISION, createdAt: BigInt(unit.nowMicros) }, part);
    }
    records.finish();
    noteChanges(unit, input.session.tenant.tenant, changes);
    return { created: fresh, pending: pending() };
  },
);

/** What is left of a session that is being deleted holds no id: it would take a new event along when it goes. */
function freeIds(unit: WriteUnit, { tenant }: SessionLife, parts: readonly EventPart[]): void {
  const gone = parts.flatMap(({ event }) => {
    const digests = findEventDigests(unit.connection, tenant.tenant, event.id);
    return digests?.isEnding === true ? [digests.event] : [];
  });
  removeEvents(unit, tenant, gone);
}

function isNew(unit: WriteUnit, session: SessionLife, event: NewEvent): boolean {
  const digests = findEventDigests(unit.connection, session.tenant.tenant, event.id);
  if (digests === undefined) return true;
  assertSameEvent(event, session, digests);
  return false;
}

/**
 * An event that is repeated stands in the same session and must say what it says now, or what it first said (S3); so a
 * late retry undoes no update. In another session nobody would find it.
 */
export function assertSameEvent(event: NewEvent, { session }: SessionLife, stored: EventDigests): void {
  const sameContent = event.digest === stored.digest || event.digest === stored.firstDigest;
  const isSame = sameContent && (!event.atGiven || event.at === stored.at);
  if (isSame && session === stored.session) return;
  const how = isSame ? "in another session" : "and says something else";
  const message = `The event ${JSON.stringify(event.id)} exists in this memory ${how}; give the new one an id of its own.`;
  throw new HoldfastError("EVENT_CONFLICT", message, { details: { event: event.id } });
}

export interface KnownEventsInput {
  readonly session: SessionLife;
  readonly events: readonly string[];
  readonly space: SpaceIdentity;
}

export interface KnownEvent extends EventDigests {
  /** Whether a segment of it waits for its vectors. */
  readonly pending: boolean;
}

/**
 * The digests of events that are there already, so that nobody pays to embed them again. Raises
 * EMBEDDING_SPACE_MISMATCH before anything is embedded whose vectors the commit would refuse (V14).
 */
export const knownEvents: ReadOperation<KnownEventsInput, readonly (KnownEvent | undefined)[]> = readOperation(
  "memory.known-events",
  (view, { session, events, space }) => {
    requireSession(view.connection, session);
    const stored = currentSpace(view.connection);
    if (stored !== undefined) assertSameSpace(stored, space);
    const { tenant } = session.tenant;
    return events.map((id) => {
      const digests = findEventDigests(view.connection, tenant, id);
      if (digests?.isEnding === true) return undefined;
      return digests && { ...digests, pending: hasPending(view.connection, tenant, id) };
    });
  },
);
