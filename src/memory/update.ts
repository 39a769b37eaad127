import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { findReceipt, type KeyedCall, keepReceipt } from "../registry/receipts.ts";
import { insertRevision } from "../segments/sqlite/event-revisions.ts";
import {
  type EventOwner,
  findEvent,
  type NewEvent,
  replaceEvent,
  type StoredEvent,
  vouchedBy,
} from "../segments/sqlite/events.ts";
import { renewChecksums, segmentsOf } from "../segments/sqlite/segments.ts";
import { changeOf, noteChanges } from "./changes.ts";
import { ColumnWriter } from "./declared-fill.ts";
import type { EventUpdate } from "./event-contract.ts";
import { assertPropertyCount, digestOf, propertyChanges, toContent } from "./event-input.ts";
import { findInScope, requireScope, type Scope } from "./event-rows.ts";
import { receiptOwner } from "./receipt-owners.ts";
import { type EventPart, SegmentRecords } from "./segment-records.ts";
import { dropSummary } from "./summaries.ts";

/** The event as it will say after an update, or the same content with the same digest when nothing changes. */
export function applyUpdate(stored: StoredEvent, update: EventUpdate): NewEvent {
  const content =
    update.text === undefined && update.blocks === undefined
      ? { text: stored.text, blocks: stored.blocks }
      : toContent(update);
  const properties = new Map(stored.properties);
  for (const [key, value] of propertyChanges(update.properties)) {
    if (value === undefined) properties.delete(key);
    else properties.set(key, value);
  }
  assertPropertyCount(properties.size);
  const { id, at, atOffset, producer, role, kind } = stored;
  const event = { id, at, atOffset, atGiven: true, producer, role, kind, ...content, properties };
  return { ...event, digest: digestOf(event) };
}

/** Whether an update leaves everything as it is, written offsets with it. */
export function isSame(event: NewEvent, stored: StoredEvent): boolean {
  return event.digest === stored.digest && sameOffsets(event, stored);
}

/** A digest is over instants; the clock that one was written by is kept too (V7). */
function sameOffsets(one: Pick<StoredEvent, "properties">, other: Pick<StoredEvent, "properties">): boolean {
  return [...one.properties].every(([key, value]) => {
    const stored = other.properties.get(key);
    return value.kind !== "datetime" || (stored?.kind === "datetime" && stored.offset === value.offset);
  });
}

export interface UpdateInput extends Scope {
  readonly id: string;
  /** What the update was made of: an id that was forgotten and given again is another event of the same revision. */
  readonly base: Pick<StoredEvent, "event" | "revision">;
  readonly event: NewEvent;
  /** Segments and vectors of the new text; absent when the text stays. */
  readonly part: EventPart | undefined;
  readonly space: SpaceIdentity;
  readonly keyed: KeyedCall | undefined;
}

/** What a receipt says of an update: it holds no text. */
export interface UpdateReceipt {
  readonly revision: number;
  readonly forgotten?: boolean;
}

/** `moved` when another update came first: the caller reads the event anew. */
export type UpdateOutput = StoredEvent | "moved" | "gone" | UpdateReceipt;

/** A new revision in one commit with its segments, words and vectors; the old one goes to the history (S12). */
export const updateEventRow: WriteOperation<UpdateInput, UpdateOutput> = writeOperation(
  "memory.update",
  (unit, input) => {
    const { connection } = unit;
    requireScope(unit, input);
    const owner = receiptOwner(input);
    const earlier = earlierUpdate(unit, input, input.keyed);
    if (earlier !== undefined) return earlier;
    const stored = findInScope(unit, input);
    if (stored === undefined) return "gone";
    if (stored === "damaged") throw damagedEvent(input.id);
    if (stored.revision !== input.base.revision || stored.event !== input.base.event) return "moved";
    if (!isSame(input.event, stored)) replace(unit, input, stored);
    const updated = findInScope(unit, input);
    if (updated === undefined || updated === "damaged")
      throw new HoldfastError("BUG", "An updated event cannot be read in its own transaction.");
    if (input.keyed !== undefined) {
      const answer: UpdateReceipt = { revision: updated.revision };
      keepReceipt(connection, owner, input.keyed, { answer, events: [input.id] });
    }
    return updated;
  },
);

/** What an update with this key did before, for whoever looks before it embeds. */
export const readUpdateReceipt: ReadOperation<Scope & { readonly keyed: KeyedCall }, UpdateReceipt | undefined> =
  readOperation("memory.read-update-receipt", (view, input) => {
    requireScope(view, input);
    return earlierUpdate(view, input, input.keyed);
  });

function earlierUpdate(
  view: Pick<WriteUnit, "connection">,
  scope: Scope,
  keyed: KeyedCall | undefined,
): UpdateReceipt | undefined {
  const found = keyed && findReceipt(view.connection, receiptOwner(scope), keyed);
  return found && { ...(found.answer as UpdateReceipt), forgotten: found.forgotten };
}

function replace(unit: WriteUnit, input: UpdateInput, stored: StoredEvent): void {
  const { connection, nowMicros } = unit;
  const { tenant } = input.tenant;
  const row = findEvent(connection, tenant, input.id);
  if (row === undefined) throw new HoldfastError("BUG", "An event was gone within its own transaction.");
  const owner: EventOwner = { tenant, session: row.session, sessionId: stored.session, user: stored.user };
  const revision = stored.revision + 1;
  insertRevision(connection, stored.event, stored, nowMicros);
  dropSummary(connection, row.session, stored);
  noteChanges(unit, tenant, [changeOf("changed", owner, input.id, revision)]);
  replaceEvent(connection, { event: stored.event, owner, revision }, input.event, nowMicros);
  if (input.part === undefined) {
    renewChecksums(connection, tenant, stored.event, vouchedBy(owner, input.event, revision));
    renewColumns(unit, tenant, stored.event);
  } else {
    const records = new SegmentRecords(unit, input.tenant, input.space);
    records.remove(stored.event);
    records.write({ event: stored.event, owner, revision, createdAt: stored.createdAt }, input.part);
    records.finish();
  }
}

/** The text stays and its vectors with it; what lies beside them follows the properties (S4). */
function renewColumns(unit: WriteUnit, tenant: number, event: number): void {
  const columns = new ColumnWriter(unit, { areEmpty: false });
  for (const { segment, vectors } of segmentsOf(unit.connection, event))
    columns.write({ tenant, event, segment, vectors });
  columns.finish();
}

export function damagedEvent(id: string): HoldfastError {
  const message = "The stored event is damaged and is not answered; remember it anew, or restore it from a backup.";
  return new HoldfastError("DAMAGED", message, { details: { event: id } });
}
