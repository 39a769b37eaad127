import { PartitionWriter } from "../backends/embedded/records.ts";
import { type Parted, type WriteOperation, type WriteUnit, writeOperation } from "../database/operation.ts";
import type { SpaceIdentity } from "../embedding/spaces.ts";
import { HoldfastError } from "../errors/index.ts";
import {
  findEventDigest,
  insertEvent,
  insertSegment,
  type NewEvent,
  noteTokens,
  type SegmentRange,
  segmentChecksum,
} from "../segments/sqlite/events.ts";
import { indexSegment } from "../segments/sqlite/text-index.ts";
import { tokeniseWords } from "../segments/words.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { countSegments } from "./tenants.ts";
import { ensureSpace, ensureTenantPartition, vectorValues } from "./vector-records.ts";

/** An event with its segments and their vectors. */
export interface EventPart {
  readonly event: NewEvent;
  readonly segments: readonly SegmentRange[];
  /** Shape [segments.length × dimensions]. */
  readonly vectors: Float32Array;
}

export interface RememberInput extends Partial<Parted<EventPart>> {
  readonly session: SessionLife;
  readonly space: SpaceIdentity;
}

export interface RememberOutput {
  /** In input order: whether the event was new. */
  readonly created: readonly boolean[];
}

/** Events with their segments, words and vectors in one commit (E2); one under a known id changes nothing (S3). */
export const rememberEvents: WriteOperation<RememberInput, RememberOutput> = writeOperation(
  "memory.remember",
  (unit, input) => {
    requireSession(unit.connection, input.session);
    const parts = input.parts ?? [];
    const fresh = parts.map(({ event }) => isNew(unit, input.session, event));
    if (!fresh.includes(true)) return { created: fresh };
    const space = ensureSpace(unit, input.space);
    const vectors = new PartitionWriter(unit, ensureTenantPartition(unit, space, input.session.tenant));
    for (const [index, part] of parts.entries()) {
      unit.cancellation.assertLive();
      if (fresh[index] === true) writeEvent(unit, input.session, part, vectors);
    }
    vectors.finish(true);
    return { created: fresh };
  },
);

function isNew(unit: WriteUnit, { tenant }: SessionLife, event: NewEvent): boolean {
  const digest = findEventDigest(unit.connection, tenant.tenant, event.id);
  if (digest === undefined) return true;
  assertSameEvent(event, digest);
  return false;
}

/** An event that is repeated must be the same in everything that the caller gave (S3). */
export function assertSameEvent(event: Pick<NewEvent, "id" | "digest">, digest: string): void {
  if (digest === event.digest) return;
  const message = `The event ${JSON.stringify(event.id)} exists in this memory and says something else; give the new one an id of its own.`;
  throw new HoldfastError("EVENT_CONFLICT", message, { details: { event: event.id } });
}

function writeEvent(unit: WriteUnit, session: SessionLife, part: EventPart, vectors: PartitionWriter): void {
  const { connection, nowMicros } = unit;
  const { tenant } = session.tenant;
  const event = insertEvent(connection, { tenant, session: session.session }, part.event, nowMicros);
  const vouched = { ...part.event, session: session.id, user: session.user };
  const values = vectorValues(session, part.event, nowMicros);
  const stride = part.vectors.byteLength / part.segments.length;
  const bytes = new Uint8Array(part.vectors.buffer, part.vectors.byteOffset, part.vectors.byteLength);
  let words = 0;
  for (const [index, range] of part.segments.entries()) {
    const checksum = segmentChecksum(tenant, vouched, range);
    const segment = insertSegment(connection, { tenant, event }, { ...range, checksum });
    const tokens = tokeniseWords(searchableText(part.event, range));
    const indexed = indexSegment(connection, { segment, tenant, tokens });
    noteTokens(connection, segment, indexed.tokenString);
    words += indexed.tokenCount;
    vectors.put({ id: String(segment), vector: bytes.subarray(index * stride, (index + 1) * stride), values });
  }
  countSegments(connection, tenant, part.segments.length, words);
}

/** What both channels search: who said it is part of what was said (evidence recall .452 with the speaker, .301 without). */
export function searchableText(event: Pick<NewEvent, "producer" | "text">, range: SegmentRange): string {
  const text = event.text.slice(range.start, range.end);
  return event.producer === undefined ? text : `${event.producer}: ${text}`;
}
