import {
  type ReadOperation,
  type ReadView,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { findReceipt, type KeyedCall, keepReceipt } from "../registry/receipts.ts";
import {
  type EventDigests,
  FIRST_REVISION,
  findEventDigests,
  insertEvent,
  type NewEvent,
} from "../segments/sqlite/events.ts";
import { hasPending } from "../segments/sqlite/pending-vectors.ts";
import { changeOf, type NewChange, noteChanges } from "./changes.ts";
import type { RememberReceipt } from "./contract.ts";
import { removeEvents } from "./forget.ts";
import { receiptOwner } from "./receipt-owners.ts";
import { type EventPart, SegmentRecords } from "./segment-records.ts";
import { ownerOf, requireSession, type SessionLife } from "./sessions.ts";
import { dropSummary } from "./summaries.ts";

export interface RememberInput {
  readonly session: SessionLife;
  readonly space: SpaceIdentity;
  /** Ids of the call's events, in their order. */
  readonly ids: readonly string[];
  /** Those of them that were not there when the call looked. */
  readonly parts: readonly EventPart[];
  readonly keyed: KeyedCall | undefined;
}

/** Events with their segments, words and vectors in one commit (E2); one under a known id changes nothing (S3). */
export const rememberEvents: WriteOperation<RememberInput, readonly RememberReceipt[]> = writeOperation(
  "memory.remember",
  (unit, input) => {
    const { session, keyed } = input;
    requireSession(unit.connection, session);
    const earlier = earlierReceipts(unit, session, keyed);
    if (earlier !== undefined) return earlier;
    const created = write(unit, input);
    const { tenant } = session.tenant;
    const receipts = input.ids.map((id): RememberReceipt => {
      const embedded = hasPending(unit.connection, tenant, id) ? "pending" : "embedded";
      return { id, created: created.has(id), embedded };
    });
    if (keyed !== undefined)
      keepReceipt(unit.connection, receiptOwner({ tenant: session.tenant, session }), keyed, {
        answer: receipts,
        events: input.ids,
      });
    return receipts;
  },
);

/** Answers the ids of those that are new. */
function write(unit: WriteUnit, input: RememberInput): ReadonlySet<string> {
  const { parts } = input;
  freeIds(unit, input.session, parts);
  const fresh = parts.map(({ event }) => isNew(unit, input.session, event));
  const created = new Set(parts.flatMap(({ event }, index) => (fresh[index] === true ? [event.id] : [])));
  if (created.size === 0) return created;
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
  return created;
}

/** What a call with this key answered before; events that were forgotten meanwhile say so, and are not brought back. */
function earlierReceipts(
  view: Pick<ReadView, "connection">,
  session: SessionLife,
  keyed: KeyedCall | undefined,
): readonly RememberReceipt[] | undefined {
  const found = keyed && findReceipt(view.connection, receiptOwner({ tenant: session.tenant, session }), keyed);
  if (found === undefined) return undefined;
  const receipts = found.answer as readonly RememberReceipt[];
  if (!found.forgotten) return receipts;
  const isGone = (id: string): boolean => findEventDigests(view.connection, session.tenant.tenant, id) === undefined;
  return receipts.map((receipt) => (isGone(receipt.id) ? { ...receipt, forgotten: true } : receipt));
}

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
  readonly keyed: KeyedCall | undefined;
}

export interface KnownEventsOutput {
  /** Of an earlier call with the same key: then nothing else is to be done. */
  readonly receipts?: readonly RememberReceipt[];
  readonly known: readonly (KnownEvent | undefined)[];
}

export interface KnownEvent extends EventDigests {
  /** Whether a segment of it waits for its vectors. */
  readonly pending: boolean;
}

/**
 * The digests of events that are there already, so that nobody pays to embed them again. Raises
 * EMBEDDING_SPACE_MISMATCH before anything is embedded whose vectors the commit would refuse (V14).
 */
export const knownEvents: ReadOperation<KnownEventsInput, KnownEventsOutput> = readOperation(
  "memory.known-events",
  (view, { session, events, space, keyed }) => {
    requireSession(view.connection, session);
    const receipts = earlierReceipts(view, session, keyed);
    if (receipts !== undefined) return { receipts, known: [] };
    const stored = currentSpace(view.connection);
    if (stored !== undefined) assertSameSpace(stored, space);
    const { tenant } = session.tenant;
    const known = events.map((id) => {
      const digests = findEventDigests(view.connection, tenant, id);
      if (digests?.isEnding === true) return undefined;
      return digests && { ...digests, pending: hasPending(view.connection, tenant, id) };
    });
    return { known };
  },
);
