import { PartitionWriter } from "../backends/embedded/records.ts";
import type { WriteUnit } from "../database/operation.ts";
import { currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import { type EventOwner, type NewEvent, vouchedBy } from "../segments/sqlite/events.ts";
import {
  deleteSegments,
  insertSegment,
  noteTokens,
  type SegmentRange,
  segmentsOf,
} from "../segments/sqlite/segments.ts";
import { tokensOf } from "../segments/sqlite/terms.ts";
import { indexSegment, unindexSegment } from "../segments/sqlite/text-index.ts";
import { tokeniseWords } from "../segments/words.ts";
import { insertPending, type Missing, removePending } from "./pending.ts";
import { countSegments, type TenantLife } from "./tenants.ts";
import { ensureSpace, ensureTenantPartition, tenantPartition, vectorValues } from "./vector-records.ts";

/** An event with its segments and their vectors. */
export interface EventPart {
  readonly event: NewEvent;
  readonly segments: readonly SegmentRange[];
  /** Shape [segments.length × dimensions]; the rows of missing ones are not read. */
  readonly vectors: Float32Array;
  /** Segments without a vector, by their position: they wait for one (S7). */
  readonly missing?: ReadonlyMap<number, Missing>;
}

/** A stored event whose segments are written. */
export interface EventRow {
  readonly event: number;
  readonly owner: EventOwner;
  readonly revision: number;
  /** Microseconds since 1970. */
  readonly createdAt: bigint;
}

/**
 * Everything that is made of events, inside one unit: their segments, words, vectors, and the tenant's counts.
 * Write and remove for any number of events, then `finish`.
 */
export class SegmentRecords {
  readonly #unit: WriteUnit;
  readonly #tenant: TenantLife;
  readonly #vectors: PartitionWriter | undefined;
  #vectorsChanged = false;
  #documents = 0;
  #tokens = 0;

  /** @param identity - makes the space and the tenant's partition where they are missing; leave it out to remove alone */
  constructor(unit: WriteUnit, tenant: TenantLife, identity?: SpaceIdentity) {
    this.#unit = unit;
    this.#tenant = tenant;
    const space = identity === undefined ? currentSpace(unit.connection) : ensureSpace(unit, identity);
    const life =
      space &&
      (identity === undefined ? tenantPartition(unit, space, tenant) : ensureTenantPartition(unit, space, tenant));
    this.#vectors = life && new PartitionWriter(unit, life);
  }

  write(row: EventRow, part: EventPart): void {
    const { connection } = this.#unit;
    const { tenant } = this.#tenant;
    const { event, segments } = part;
    const vouched = vouchedBy(row.owner, event, row.revision);
    const values = vectorValues(row.owner, event, row.createdAt);
    const stride = part.vectors.byteLength / segments.length;
    const bytes = new Uint8Array(part.vectors.buffer, part.vectors.byteOffset, part.vectors.byteLength);
    for (const [index, range] of segments.entries()) {
      const checksum = segmentChecksum(tenant, vouched, range);
      const segment = insertSegment(connection, { tenant, event: row.event }, { ...range, checksum });
      const tokens = tokeniseWords(searchableText(event, range));
      const indexed = indexSegment(connection, { segment, tenant, tokens });
      noteTokens(connection, segment, indexed.tokenString);
      this.#documents += 1;
      this.#tokens += indexed.tokenCount;
      const missing = part.missing?.get(index);
      if (missing !== undefined) {
        insertPending(this.#unit, { segment, tenant, event: row.event }, missing);
        continue;
      }
      this.#vectors?.put({ id: String(segment), vector: bytes.subarray(index * stride, (index + 1) * stride), values });
      this.#vectorsChanged = true;
    }
  }

  /** Gives a segment that had none its vector. */
  putVector(row: EventRow, event: NewEvent, segment: number, vector: Float32Array): void {
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    const values = vectorValues(row.owner, event, row.createdAt);
    this.#vectors?.put({ id: String(segment), vector: bytes, values });
    this.#vectorsChanged = true;
  }

  remove(event: number): void {
    const { connection } = this.#unit;
    for (const segment of segmentsOf(connection, event)) {
      unindexSegment(connection, segment);
      this.#documents -= 1;
      this.#tokens -= tokensOf(segment.tokenString).length;
      if (this.#vectors?.remove(String(segment.segment)) === true) this.#vectorsChanged = true;
    }
    removePending(this.#unit, event);
    deleteSegments(connection, event);
  }

  finish(): void {
    this.#vectors?.finish(this.#vectorsChanged);
    if (this.#documents !== 0 || this.#tokens !== 0)
      countSegments(this.#unit.connection, this.#tenant.tenant, this.#documents, this.#tokens);
  }
}

/** What both channels search: who said it is part of what was said (evidence recall .452 with the speaker, .301 without). */
export function searchableText(event: Pick<NewEvent, "producer" | "text">, range: SegmentRange): string {
  const text = event.text.slice(range.start, range.end);
  return event.producer === undefined ? text : `${event.producer}: ${text}`;
}
