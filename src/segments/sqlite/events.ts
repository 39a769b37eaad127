import { crc32 } from "node:zlib";
import type { UserValue } from "../../contract/property-values.ts";
import type { Connection, SqlRow, SqlValue } from "../../database/connection.ts";

/** An event as it is written: checked, with every default filled in. */
export interface NewEvent {
  readonly id: string;
  /** Microseconds since 1970. */
  readonly at: bigint;
  readonly atOffset: string;
  readonly producer: string | undefined;
  readonly role: string | undefined;
  readonly kind: string | undefined;
  readonly text: string;
  readonly properties: ReadonlyMap<string, UserValue>;
  /** Of what the caller gave: tells a repeated event from another one under its id (S3). */
  readonly digest: string;
}

export interface EventOwner {
  readonly tenant: number;
  readonly session: number;
}

/** A part of an event's text, in UTF-16 units. */
export interface SegmentRange {
  readonly start: number;
  readonly end: number;
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
  readonly revision: number;
  readonly properties: ReadonlyMap<string, UserValue>;
}

/** The first revision of an event. */
const FIRST_REVISION = 1;

/** The digest of the event under an id, or `undefined`. */
export function findEventDigest(connection: Connection, tenant: number, id: string): string | undefined {
  const row = connection.prepare("SELECT digest FROM events WHERE tenant = ? AND id = ?").get(tenant, id);
  return row && String(row.digest);
}

export function findEvent(
  connection: Connection,
  tenant: number,
  id: string,
): { readonly event: number; readonly session: number } | undefined {
  const row = connection.prepare("SELECT event, session FROM events WHERE tenant = ? AND id = ?").get(tenant, id);
  return row && { event: Number(row.event), session: Number(row.session) };
}

export function insertEvent(connection: Connection, owner: EventOwner, event: NewEvent, nowMicros: number): number {
  const insert = connection.prepare(
    `INSERT INTO events (tenant, session, id, at, at_offset, producer, role, kind, text, revision, created_at, digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const { producer = null, role = null, kind = null } = event;
  const { lastInsertRowid } = insert.run(
    owner.tenant,
    owner.session,
    event.id,
    event.at,
    event.atOffset,
    producer,
    role,
    kind,
    event.text,
    FIRST_REVISION,
    nowMicros,
    event.digest,
  );
  const insertProperty = connection.prepare(
    "INSERT INTO event_properties (event, name, kind, value, written_offset) VALUES (?, ?, ?, ?, ?)",
  );
  for (const [name, value] of event.properties) {
    insertProperty.run(
      lastInsertRowid,
      name,
      value.kind,
      toSql(value),
      value.kind === "datetime" ? value.offset : null,
    );
  }
  return lastInsertRowid;
}

export function insertSegment(
  connection: Connection,
  owner: { readonly tenant: number; readonly event: number },
  segment: SegmentRange & { readonly checksum: number },
): number {
  const insert = connection.prepare(
    `INSERT INTO segments (tenant, event, start, "end", checksum, token_string) VALUES (?, ?, ?, ?, ?, '')`,
  );
  return insert.run(owner.tenant, owner.event, segment.start, segment.end, segment.checksum).lastInsertRowid;
}

/** Stores what the text index needs to take the segment out again. */
export function noteTokens(connection: Connection, segment: number, tokenString: string): void {
  connection.prepare("UPDATE segments SET token_string = ? WHERE segment = ?").run(tokenString, segment);
}

export function segmentsOf(
  connection: Connection,
  event: number,
): readonly { readonly segment: number; readonly tokenString: string }[] {
  const rows = connection.prepare("SELECT segment, token_string FROM segments WHERE event = ?").all(event);
  return rows.map((row) => ({ segment: Number(row.segment), tokenString: String(row.token_string) }));
}

export function deleteEvent(connection: Connection, event: number): void {
  connection.prepare("DELETE FROM segments WHERE event = ?").run(event);
  connection.prepare("DELETE FROM event_properties WHERE event = ?").run(event);
  connection.prepare("DELETE FROM events WHERE event = ?").run(event);
}

/** What of an event its segments vouch for: all that an answer shows. */
export type VouchedEvent = Omit<StoredEvent, "event" | "revision">;

/**
 * CRC-32 over what a segment says: tenant, event, session, revision, range, text, labels, time and properties (E11).
 * Lengths stand before texts, so that no two segments have one form.
 */
export function segmentChecksum(
  tenant: number,
  event: VouchedEvent,
  range: SegmentRange,
  revision: number = FIRST_REVISION,
): number {
  const { id, session, user, producer, role, kind, at, atOffset } = event;
  const parts = [`${tenant};${revision};${range.start}-${range.end};${at}`];
  for (const label of [id, session, user, producer, role, kind, atOffset]) parts.push(measured(label));
  for (const name of [...event.properties.keys()].sort()) {
    const property = event.properties.get(name);
    if (property === undefined) continue;
    parts.push(`${measured(name)}=${property.kind}:${measured(String(property.value))}`);
  }
  return crc32(event.text.slice(range.start, range.end), crc32(parts.join(";")));
}

function measured(text: string | undefined): string {
  return text === undefined ? "" : `${text.length}:${text}`;
}

/** A segment with the event that it is a part of. */
export interface StoredSegment {
  readonly range: SegmentRange;
  readonly event: StoredEvent;
}

/** Reads one segment of a tenant; `damaged` when its checksum does not hold, `undefined` when it is not there. */
export function readSegment(
  connection: Connection,
  tenant: number,
  segment: number,
): StoredSegment | "damaged" | undefined {
  const select = connection.prepare(
    `SELECT s.start, s."end", s.checksum, e.event, e.id, e.at, e.at_offset, e.producer, e.role, e.kind, e.text, e.revision,
            n.id AS session, n.user
     FROM segments AS s JOIN events AS e ON e.event = s.event JOIN sessions AS n ON n.session = e.session
     WHERE s.segment = ? AND s.tenant = ?`,
    { bigints: true },
  );
  const row = select.get(segment, tenant);
  if (row === undefined) return undefined;
  const event = toEvent(row, propertiesOf(connection, Number(row.event)));
  const range = { start: Number(row.start), end: Number(row.end) };
  const isWhole = segmentChecksum(tenant, event, range, event.revision) === Number(row.checksum);
  return isWhole ? { range, event } : "damaged";
}

function toEvent(row: SqlRow, properties: ReadonlyMap<string, UserValue>): StoredEvent {
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
    revision: Number(row.revision),
    properties,
  };
}

function propertiesOf(connection: Connection, event: number): ReadonlyMap<string, UserValue> {
  const select = connection.prepare(
    "SELECT name, kind, value, written_offset FROM event_properties WHERE event = ? ORDER BY name",
    { bigints: true },
  );
  return new Map(select.all(event).map((row) => [String(row.name), fromSql(row)]));
}

function toSql(value: UserValue): SqlValue {
  if (value.kind === "bool") return BigInt(value.value);
  if (value.kind === "number" && Number.isSafeInteger(value.value)) return BigInt(value.value);
  return value.value;
}

function fromSql(row: SqlRow): UserValue {
  const { kind, value } = row;
  if (kind === "bool") return { kind, value: Number(value) === 1 };
  if (kind === "datetime") return { kind, value: BigInt(value as bigint), offset: String(row.written_offset) };
  if (kind === "string") return { kind, value: String(value) };
  const number = Number(value);
  return { kind: "number", value: typeof value === "bigint" && !Number.isSafeInteger(number) ? value : number };
}

function toText(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}
