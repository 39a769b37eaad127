import { PartitionWriter } from "../backends/embedded/records.ts";
import type { BoundProperties } from "../contract/properties.ts";
import type { WriteUnit } from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import { randomFraction } from "../io/ids.ts";
import { segmentChecksum } from "../segments/sqlite/checksums.ts";
import { type EventOwner, type NewEvent, vouchedBy } from "../segments/sqlite/events.ts";
import { deletePending, insertPending } from "../segments/sqlite/pending-vectors.ts";
import {
  deleteSegments,
  insertSegment,
  noteTokens,
  noteVectors,
  type SegmentRange,
  segmentsOf,
} from "../segments/sqlite/segments.ts";
import { tokensOf } from "../segments/sqlite/terms.ts";
import { indexSegment, unindexSegment } from "../segments/sqlite/text-index.ts";
import { tokeniseWords } from "../segments/words.ts";
import { backoffMs } from "./backoff.ts";
import { vectorId } from "./derivatives.ts";
import { notePipeline, type PipelineNames } from "./pipelines.ts";
import { countSegments, type TenantLife } from "./tenants.ts";
import { ensureSpace, ensureTenantPartition, tenantPartition, vectorValues } from "./vector-records.ts";

/** A segment as it is written. */
export interface SegmentPart extends SegmentRange {
  /** How many of the part's vectors are its own; none where it could not be embedded. */
  readonly vectors: number;
  /** Why it has none: without texts and secrets. */
  readonly failure?: string;
}

/** An event with its segments and their vectors. */
export interface EventPart {
  readonly event: NewEvent;
  readonly segments: readonly SegmentPart[];
  /** Those of each segment in order: shape [sum of `segments[].vectors` × dimensions]. */
  readonly vectors: Float32Array;
  /** What cut the text and chose what is embedded of it. */
  readonly madeBy: PipelineNames;
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
 * Everything that is made of events, inside one unit: their segments, words, vectors, and the tenant's counts. A segment
 * without vectors is noted as pending (S7). Write and remove for any number of events, then `finish`.
 */
export class SegmentRecords {
  readonly #unit: WriteUnit;
  readonly #tenant: TenantLife;
  readonly #identity: SpaceIdentity | undefined;
  #vectors: PartitionWriter | undefined;
  #vectorsChanged = false;
  #noted: PipelineNames | undefined;
  #documents = 0;
  #tokens = 0;

  /** @param identity - of the vectors that are written; leave it out to remove alone */
  constructor(unit: WriteUnit, tenant: TenantLife, identity?: SpaceIdentity) {
    this.#unit = unit;
    this.#tenant = tenant;
    this.#identity = identity;
    const space = currentSpace(unit.connection);
    if (space === undefined) return;
    if (identity !== undefined) assertSameSpace(space, identity);
    const life = tenantPartition(unit, space, tenant);
    if (life !== undefined) this.#vectors = new PartitionWriter(unit, life);
  }

  write(row: EventRow, part: EventPart): void {
    const { connection, nowMicros } = this.#unit;
    const { tenant } = this.#tenant;
    const { event, segments } = part;
    const vouched = vouchedBy(row.owner, event, row.revision);
    const values = vectorValues(this.#unit, row.owner, event, row.createdAt);
    const rows = vectorRows(
      part.vectors,
      segments.reduce((sum, { vectors }) => sum + vectors, 0),
    );
    if (this.#noted !== part.madeBy) notePipeline(connection, part.madeBy, nowMicros);
    this.#noted = part.madeBy;
    let next = 0;
    for (const range of segments) {
      const { vectors } = range;
      const checksum = segmentChecksum(tenant, vouched, range);
      const segment = insertSegment(connection, { tenant, event: row.event }, { ...range, checksum });
      const tokens = tokeniseWords(searchableText(event, range));
      const indexed = indexSegment(connection, { segment, tenant, tokens });
      noteTokens(connection, segment, indexed.tokenString);
      this.#documents += 1;
      this.#tokens += indexed.tokenCount;
      if (vectors === 0) {
        const nextAt = nowMicros + backoffMs(1, randomFraction()) * 1_000;
        insertPending(connection, { segment, tenant, nextAt, reason: range.failure ?? "not embedded" });
      }
      this.#put(segment, values, rows.slice(next, next + vectors));
      next += vectors;
    }
  }

  /** Gives a pending segment its vectors. */
  embed(segment: number, values: BoundProperties, vectors: readonly Uint8Array[]): void {
    this.#put(segment, values, vectors);
    noteVectors(this.#unit.connection, segment, vectors.length);
    deletePending(this.#unit.connection, segment);
  }

  remove(event: number): void {
    const { connection } = this.#unit;
    for (const { segment, vectors, tokenString } of segmentsOf(connection, event)) {
      unindexSegment(connection, { segment, tokenString });
      deletePending(connection, segment);
      this.#documents -= 1;
      this.#tokens -= tokensOf(tokenString).length;
      for (let place = 0; place < vectors; place += 1)
        if (this.#vectors?.remove(vectorId(segment, place)) === true) this.#vectorsChanged = true;
    }
    deleteSegments(connection, event);
  }

  finish(): void {
    this.#vectors?.finish(this.#vectorsChanged);
    if (this.#documents !== 0 || this.#tokens !== 0)
      countSegments(this.#unit.connection, this.#tenant.tenant, this.#documents, this.#tokens);
  }

  #put(segment: number, values: BoundProperties, vectors: readonly Uint8Array[]): void {
    for (const [place, vector] of vectors.entries()) {
      this.#vectors ??= this.#firstWriter();
      this.#vectors.put({ id: vectorId(segment, place), vector, values });
      this.#vectorsChanged = true;
    }
  }

  /** The space and the tenant's partition come with the first vector, and not with an event that has none (M1). */
  #firstWriter(): PartitionWriter {
    if (this.#identity === undefined) throw new HoldfastError("BUG", "Vectors were written without their space.");
    const space = ensureSpace(this.#unit, this.#identity);
    return new PartitionWriter(this.#unit, ensureTenantPartition(this.#unit, space, this.#tenant));
  }
}

/** Rows of packed vectors, as the bytes that are stored. */
export function vectorRows(vectors: Float32Array, rows: number): readonly Uint8Array[] {
  const bytes = new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  const stride = bytes.byteLength / rows;
  return Array.from({ length: rows }, (_, row) => bytes.subarray(row * stride, (row + 1) * stride));
}

/** What both channels search: who said it is part of what was said (evidence recall .452 with the speaker, .301 without). */
export function searchableText(event: Pick<NewEvent, "producer" | "text">, range: SegmentRange): string {
  const text = event.text.slice(range.start, range.end);
  return event.producer === undefined ? text : `${event.producer}: ${text}`;
}
