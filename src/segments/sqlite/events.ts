import type { Connection, SqlRow, SqlValue } from "../../database/connection.ts";
import { eventChecksum, type VouchedEvent } from "./checksums.ts";
import { deleteProperties, insertProperties, propertiesOf, type UserProperties } from "./event-properties.ts";
import { deleteRevisions } from "./event-revisions.ts";

/** An event as it is written: checked, with every default filled in. */
export interface NewEvent {
  readonly id: string;
  /** Microseconds since 1970. */
  readonly at: bigint;
  readonly atOffset: string;
  /** Whether the caller gave the time: one that was filled in tells no event from another. */
  readonly atGiven: boolean;
  readonly producer: string | undefined;
  readonly role: string | undefined;
  readonly kind: string | undefined;
  readonly text: string;
  /** JSON of the blocks that the text was given in; absent for a plain text. */
  readonly blocks: string | undefined;
  readonly properties: UserProperties;
  /** Of what the caller gave but the time: tells a repeated event from another one under its id (S3). */
  readonly digest: string;
}

/** Whose event it is. */
export interface EventOwner {
  readonly tenant: number;
  readonly session: number;
  readonly sessionId: string;
  readonly user: string | undefined;
}

/** An event as it is read. */
export interface StoredEvent {
  readonly event: number;
  readonly id: string;
  readonly session: string;
  readonly user: string | undefined;
  readonly at: bigint;
  readonly atOffset: string;
  readonly producer: string | undefined;
  readonly role: string | undefined;
  readonly kind: string | undefined;
  readonly text: string;
  readonly blocks: string | undefined;
  readonly revision: number;
  readonly properties: UserProperties;
  readonly createdAt: bigint;
  readonly updatedAt: bigint | undefined;
  /** Of what it says now. */
  readonly digest: string;
}

/** What tells whether an event that is sent again is the same (S3). */
export interface EventDigests {
  readonly event: number;
  readonly session: number;
  /** Its session is being deleted: nobody finds the event any more, and its id is free. */
  readonly isEnding: boolean;
  /** Of what it says now, and of what was first given: a retry that comes after an update is still the same event. */
  readonly digest: string;
  readonly firstDigest: string;
  readonly at: bigint;
}

/** The first revision of an event. */
export const FIRST_REVISION = 1;

/** For `FROM events AS e JOIN sessions AS n`, read with bigints. */
export const EVENT_COLUMNS =
  "e.event, e.id, e.at, e.at_offset, e.producer, e.role, e.kind, e.text, e.blocks, e.revision, e.created_at, e.updated_at, e.digest, e.checksum, n.id AS session, n.user";

const FROM = "FROM events AS e JOIN sessions AS n ON n.session = e.session";

export function findEventDigests(connection: Connection, tenant: number, id: string): EventDigests | undefined {
  const row = connection
    .prepare(
      `SELECT e.event, e.session AS number, n.ending, e.digest, e.first_digest, e.at ${FROM} WHERE e.tenant = ? AND e.id = ?`,
      { bigints: true },
    )
    .get(tenant, id);
  return (
    row && {
      event: Number(row.event),
      session: Number(row.number),
      isEnding: Number(row.ending) === 1,
      digest: String(row.digest),
      firstDigest: String(row.first_digest),
      at: BigInt(row.at as bigint),
    }
  );
}

export function findEvent(
  connection: Connection,
  tenant: number,
  id: string,
): { readonly event: number; readonly session: number; readonly revision: number } | undefined {
  const row = connection
    .prepare("SELECT event, session, revision FROM events WHERE tenant = ? AND id = ?")
    .get(tenant, id);
  return row && { event: Number(row.event), session: Number(row.session), revision: Number(row.revision) };
}

/** Where an event stands, and what it is called. */
export function placeOfEvent(
  connection: Connection,
  event: number,
): (Pick<EventOwner, "session" | "sessionId"> & Pick<StoredEvent, "id" | "at" | "event">) | undefined {
  const row = connection
    .prepare(`SELECT e.id, e.at, e.session AS number, n.id AS session ${FROM} WHERE e.event = ?`, { bigints: true })
    .get(event);
  return (
    row && {
      event,
      id: String(row.id),
      at: BigInt(row.at as bigint),
      session: Number(row.number),
      sessionId: String(row.session),
    }
  );
}

/** Reads one event; `damaged` when its checksum does not hold (E11). */
export function readEvent(connection: Connection, tenant: number, id: string): StoredEvent | "damaged" | undefined {
  const select = connection.prepare(
    `SELECT ${EVENT_COLUMNS} ${FROM} WHERE e.tenant = ? AND e.id = ? AND n.ending = 0`,
    {
      bigints: true,
    },
  );
  const row = select.get(tenant, id);
  return row && toWholeEvent(connection, tenant, row);
}

/** An event from its row, or `damaged`. */
export function toWholeEvent(connection: Connection, tenant: number, row: SqlRow): StoredEvent | "damaged" {
  const event = toStoredEvent(connection, row);
  return eventChecksum(tenant, event) === Number(row.checksum) ? event : "damaged";
}

export function insertEvent(connection: Connection, owner: EventOwner, event: NewEvent, nowMicros: number): number {
  const createdAt = BigInt(nowMicros);
  return insertEventRow(connection, owner, event, {
    event: undefined,
    revision: FIRST_REVISION,
    createdAt,
    updatedAt: undefined,
    firstDigest: event.digest,
  });
}

/** What a row says beside its event: another one's history, where it is taken over. */
export interface EventRowFields extends Pick<StoredEvent, "revision" | "createdAt" | "updatedAt"> {
  /** The next number where it is absent. */
  readonly event: number | undefined;
  readonly firstDigest: string;
}

export function insertEventRow(
  connection: Connection,
  owner: EventOwner,
  event: NewEvent,
  fields: EventRowFields,
): number {
  const insert = connection.prepare(
    `INSERT INTO events (event, tenant, session, id, at, at_offset, producer, role, kind, text, blocks, revision, created_at, updated_at, checksum, first_digest, digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const { producer = null, role = null, kind = null, blocks = null } = event;
  const { lastInsertRowid } = insert.run(
    fields.event ?? null,
    owner.tenant,
    owner.session,
    event.id,
    event.at,
    event.atOffset,
    producer,
    role,
    kind,
    event.text,
    blocks,
    fields.revision,
    fields.createdAt,
    fields.updatedAt ?? null,
    eventChecksum(owner.tenant, { ...vouchedBy(owner, event, fields.revision), blocks: event.blocks }),
    fields.firstDigest,
    event.digest,
  );
  insertProperties(connection, lastInsertRowid, event.properties);
  return lastInsertRowid;
}

/** Writes what an event says now; the caller keeps what it said before. */
export function replaceEvent(
  connection: Connection,
  row: { readonly event: number; readonly owner: EventOwner; readonly revision: number },
  event: NewEvent,
  nowMicros: number,
): void {
  const checksum = eventChecksum(row.owner.tenant, {
    ...vouchedBy(row.owner, event, row.revision),
    blocks: event.blocks,
  });
  connection
    .prepare(
      "UPDATE events SET text = ?, blocks = ?, revision = ?, updated_at = ?, checksum = ?, digest = ? WHERE event = ?",
    )
    .run(event.text, event.blocks ?? null, row.revision, nowMicros, checksum, event.digest, row.event);
  deleteProperties(connection, row.event);
  insertProperties(connection, row.event, event.properties);
}

/** What the checksums of an event and its segments are over. */
export function vouchedBy(owner: EventOwner, event: NewEvent, revision: number): VouchedEvent {
  return { ...event, session: owner.sessionId, user: owner.user, revision };
}

/** Removes an event's rows; what was made of it goes before. */
export function deleteEvent(connection: Connection, event: number): void {
  deleteProperties(connection, event);
  deleteRevisions(connection, event);
  connection.prepare("DELETE FROM events WHERE event = ?").run(event);
}

export function toStoredEvent(connection: Connection, row: SqlRow): StoredEvent {
  return {
    event: Number(row.event),
    id: String(row.id),
    session: String(row.session),
    user: toText(row.user),
    at: BigInt(row.at as bigint),
    atOffset: String(row.at_offset),
    producer: toText(row.producer),
    role: toText(row.role),
    kind: toText(row.kind),
    text: String(row.text),
    blocks: toText(row.blocks),
    revision: Number(row.revision),
    properties: propertiesOf(connection, Number(row.event)),
    createdAt: BigInt(row.created_at as bigint),
    updatedAt: row.updated_at === null ? undefined : BigInt(row.updated_at as bigint),
    digest: String(row.digest),
  };
}

function toText(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
