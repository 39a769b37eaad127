import type { ArchivedSegment, ArchivedSession, ArchivedSummary } from "../archive/archived.ts";
import { readRow } from "../backends/embedded/codec.ts";
import { requireStore } from "../backends/embedded/records.ts";
import { recordSql } from "../backends/embedded/tables.ts";
import type { PropertySchema } from "../contract/properties.ts";
import type { Connection, Statement } from "../database/connection.ts";
import type { ReadView } from "../database/operation.ts";
import { currentSpace } from "../embedding/spaces.ts";
import type { Life } from "../registry/lives.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import { type EventPlace, nearestEvents } from "../segments/sqlite/event-filter.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import { findPending } from "../segments/sqlite/pending-vectors.ts";
import { vectorId } from "./derivatives.ts";
import { readByNumber } from "./pending-rows.ts";
import { toSummaryRow } from "./summaries.ts";
import type { TenantLife } from "./tenants.ts";
import { tenantPartition } from "./vector-records.ts";

/** A tenant as an export meets it. */
export interface TenantRow {
  readonly life: TenantLife;
  readonly createdAt: bigint;
}

export function tenantBehind(connection: Connection, id: string): TenantRow | undefined {
  const row = connection
    .prepare(
      "SELECT tenant, id, incarnation, created_at FROM tenants WHERE import IS NULL AND id > ? ORDER BY id LIMIT 1",
      { bigints: true },
    )
    .get(id);
  if (row === undefined) return undefined;
  const life = { tenant: Number(row.tenant), id: String(row.id), incarnation: String(row.incarnation) };
  return { life, createdAt: BigInt(row.created_at as bigint) };
}

/** Sessions by id, behind one; those that are being deleted are gone. */
export function sessionsBehind(
  connection: Connection,
  tenant: number,
  { after, limit }: { readonly after: string; readonly limit: number },
): readonly ArchivedSession[] {
  const rows = connection
    .prepare(
      "SELECT id, user, created_at FROM sessions WHERE tenant = ? AND id > ? AND ending = 0 ORDER BY id LIMIT ?",
      { bigints: true },
    )
    .all(tenant, after, limit);
  return rows.map((row) => ({
    id: String(row.id),
    user: row.user === null ? undefined : String(row.user),
    createdAt: BigInt(row.created_at as bigint),
  }));
}

/** Places of events by time; their rows are read one at a time, since each may be large. */
export function placesBehind(
  connection: Connection,
  tenant: number,
  { after, limit }: { readonly after: EventPlace | undefined; readonly limit: number },
): readonly EventPlace[] {
  const select = (condition: string): string =>
    `SELECT e.at, e.event FROM events AS e JOIN sessions AS n ON n.session = e.session
     WHERE e.tenant = ? AND n.ending = 0 AND ${condition} ORDER BY e.at, e.event LIMIT ?`;
  const rows =
    after === undefined
      ? connection.prepare(select("1"), { bigints: true }).all(tenant, limit)
      : nearestEvents(connection, select, { parameters: [tenant], place: after, side: "after", limit });
  return rows.map(({ at, event }) => ({ at: BigInt(at as bigint), event: Number(event) }));
}

/** A session's summary; `damaged` where an event that it names is not there or damaged. */
export interface SummaryOfSession {
  readonly session: string;
  readonly summary: ArchivedSummary | "damaged";
}

export function summariesBehind(
  view: ReadView,
  tenant: number,
  { after, limit }: { readonly after: string; readonly limit: number },
): readonly SummaryOfSession[] {
  const rows = view.connection
    .prepare(
      `SELECT s.*, n.id AS session_id FROM sessions AS n CROSS JOIN summaries AS s ON s.session = n.session
       WHERE n.tenant = ? AND n.id > ? AND n.ending = 0 ORDER BY n.id LIMIT ?`,
      { bigints: true },
    )
    .all(tenant, after, limit);
  return rows.map((row) => {
    const session = String(row.session_id);
    const { text, from, to, events, version, updatedAt } = toSummaryRow(row);
    const [first, last] = [eventById(view, tenant, from.id), readByNumber(view, to.event)];
    if (first === "damaged" || last === "damaged" || last.id !== to.id) return { session, summary: "damaged" };
    const summary = { session, text, from: from.id, to: to.id, events, version, updatedAt };
    return { session, summary };
  });
}

function eventById(view: ReadView, tenant: number, id: string): StoredEvent | "damaged" {
  const row = view.connection.prepare("SELECT event FROM events WHERE tenant = ? AND id = ?").get(tenant, id);
  return row === undefined ? "damaged" : readByNumber(view, Number(row.event));
}

/** The segments of one tenant's events, with their vectors. */
export class SegmentReader {
  readonly #view: ReadView;
  readonly #tenant: number;
  readonly #life: Life | undefined;
  readonly #schema: PropertySchema = {};
  readonly #byId: Statement | undefined;

  constructor(view: ReadView, tenant: TenantLife) {
    this.#view = view;
    this.#tenant = tenant.tenant;
    const space = currentSpace(view.connection);
    this.#life = space && tenantPartition(view, space, tenant);
    if (this.#life === undefined) return;
    const store = requireStore(view.connection, this.#life);
    this.#schema = store.properties;
    this.#byId = view.connection.prepare(recordSql(store.store, store.properties).byId, { bigints: true });
  }

  /** In order; `damaged` in the place of one whose row does not hold, or a segment that says so where a vector does not. */
  of(event: StoredEvent): readonly { readonly segment: ArchivedSegment | "damaged"; readonly lacksVector: boolean }[] {
    return this.#view.connection
      .prepare(`SELECT segment, start, "end", checksum, vectors FROM segments WHERE event = ? ORDER BY segment`)
      .all(event.event)
      .map((row) => {
        const [number, start, end] = [Number(row.segment), Number(row.start), Number(row.end)];
        if (segmentChecksum(this.#tenant, event, { start, end }) !== Number(row.checksum))
          return { segment: "damaged", lacksVector: false };
        const count = Number(row.vectors);
        const vectors = this.#vectors(number, count);
        if (vectors !== undefined && count > 0)
          return { segment: { number, start, end, vectors, pending: undefined }, lacksVector: false };
        const pending = this.#pending(number);
        const segment = { number, start, end, vectors: [], pending: pending ?? { ...LOST, nextAt: event.createdAt } };
        return { segment, lacksVector: pending === undefined };
      });
  }

  #pending(segment: number): ArchivedSegment["pending"] {
    const found = findPending(this.#view.connection, segment);
    return found && { ...found, nextAt: BigInt(found.nextAt) };
  }

  #vectors(segment: number, count: number): readonly Uint8Array[] | undefined {
    const vectors: Uint8Array[] = [];
    for (let place = 0; place < count; place += 1) {
      const row = this.#life && this.#byId?.get(this.#life.partition, vectorId(segment, place));
      const record = row && this.#life && readRow(row, this.#life.partition, this.#schema);
      if (record === undefined) return undefined;
      vectors.push(record.vector);
    }
    return vectors;
  }
}

/** A segment whose vectors are damaged is embedded anew. */
const LOST = { state: "waiting", attempts: 0, reason: "its vectors were damaged" } as const;
