import type { Connection } from "../../database/connection.ts";
import { segmentChecksum, type VouchedEvent } from "./checksums.ts";
import { EVENT_COLUMNS, type StoredEvent, toStoredEvent } from "./events.ts";

/** A part of an event's text, in UTF-16 units. */
export interface SegmentRange {
  readonly start: number;
  readonly end: number;
}

/** A segment with the event that it is a part of. */
export interface StoredSegment {
  readonly range: SegmentRange;
  readonly event: StoredEvent;
}

export function insertSegment(
  connection: Connection,
  owner: { readonly tenant: number; readonly event: number },
  segment: SegmentRange & {
    /** The next one where it is absent. */
    readonly segment?: number;
    readonly checksum: number;
    readonly vectors: number;
  },
): number {
  const insert = connection.prepare(
    `INSERT INTO segments (segment, tenant, event, start, "end", checksum, vectors, token_string) VALUES (?, ?, ?, ?, ?, ?, ?, '')`,
  );
  const { segment: number = null, start, end, checksum, vectors } = segment;
  return insert.run(number, owner.tenant, owner.event, start, end, checksum, vectors).lastInsertRowid;
}

/** Stores what the text index needs to take the segment out again. */
export function noteTokens(connection: Connection, segment: number, tokenString: string): void {
  connection.prepare("UPDATE segments SET token_string = ? WHERE segment = ?").run(tokenString, segment);
}

export interface SegmentRow {
  readonly segment: number;
  readonly vectors: number;
  readonly tokenString: string;
}

export function segmentsOf(connection: Connection, event: number): readonly SegmentRow[] {
  const rows = connection.prepare("SELECT segment, vectors, token_string FROM segments WHERE event = ?").all(event);
  return rows.map((row) => ({
    segment: Number(row.segment),
    vectors: Number(row.vectors),
    tokenString: String(row.token_string),
  }));
}

export function countVectors(connection: Connection, segment: number): number {
  return Number(connection.prepare("SELECT vectors FROM segments WHERE segment = ?").get(segment)?.vectors ?? 0);
}

/** Notes how many vectors a segment has now. */
export function noteVectors(connection: Connection, segment: number, vectors: number): void {
  connection.prepare("UPDATE segments SET vectors = ? WHERE segment = ?").run(vectors, segment);
}

export function deleteSegments(connection: Connection, event: number): void {
  connection.prepare("DELETE FROM segments WHERE event = ?").run(event);
}

/** Segments vouch for their event's revision and properties: these changed, the text did not. */
export function renewChecksums(connection: Connection, tenant: number, event: number, content: VouchedEvent): void {
  const update = connection.prepare("UPDATE segments SET checksum = ? WHERE segment = ?");
  for (const row of connection.prepare(`SELECT segment, start, "end" FROM segments WHERE event = ?`).all(event)) {
    const range = { start: Number(row.start), end: Number(row.end) };
    update.run(segmentChecksum(tenant, content, range), Number(row.segment));
  }
}

/** Reads one segment of a tenant; `damaged` when its checksum does not hold, `undefined` when it is not there. */
export function readSegment(
  connection: Connection,
  tenant: number,
  segment: number,
): StoredSegment | "damaged" | undefined {
  const select = connection.prepare(
    `SELECT s.start, s."end", s.checksum AS segment_checksum, ${EVENT_COLUMNS}
     FROM segments AS s JOIN events AS e ON e.event = s.event JOIN sessions AS n ON n.session = e.session
     WHERE s.segment = ? AND s.tenant = ?`,
    { bigints: true },
  );
  const row = select.get(segment, tenant);
  if (row === undefined) return undefined;
  const event = toStoredEvent(connection, row);
  const range = { start: Number(row.start), end: Number(row.end) };
  const isWhole = segmentChecksum(tenant, event, range) === Number(row.segment_checksum);
  return isWhole ? { range, event } : "damaged";
}
