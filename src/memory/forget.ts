import { PartitionWriter } from "../backends/embedded/records.ts";
import {
  type ReadOperation,
  readOperation,
  type WriteOperation,
  type WriteUnit,
  writeOperation,
} from "../database/operation.ts";
import { assertSameSpace, currentSpace, type SpaceIdentity } from "../embedding/spaces.ts";
import { deleteEvent, findEvent, findEventDigest, segmentsOf } from "../segments/sqlite/events.ts";
import { tokensOf } from "../segments/sqlite/terms.ts";
import { compactTextIndex, unindexSegment } from "../segments/sqlite/text-index.ts";
import { requireSession, type SessionLife } from "./sessions.ts";
import { countSegments, requireTenant, type TenantLife } from "./tenants.ts";
import { tenantPartition } from "./vector-records.ts";

export interface ForgetInput {
  readonly tenant: TenantLife;
  /** Forgets only events of this session. */
  readonly session: SessionLife | undefined;
  readonly events: readonly string[];
}

/** Removes events with everything that was made of them in one commit; unknown ids are no error (S6, V16). */
export const forgetEvents: WriteOperation<ForgetInput, number> = writeOperation("memory.forget", (unit, input) => {
  if (input.session !== undefined) requireSession(unit.connection, input.session);
  else requireTenant(unit.connection, input.tenant);
  let forgotten = 0;
  for (const id of input.events) {
    unit.cancellation.assertLive();
    if (forgetEvent(unit, input, id)) forgotten += 1;
  }
  return forgotten;
});

function forgetEvent(unit: WriteUnit, { tenant, session }: ForgetInput, id: string): boolean {
  const { connection } = unit;
  const found = findEvent(connection, tenant.tenant, id);
  if (found === undefined || (session !== undefined && found.session !== session.session)) return false;
  const segments = segmentsOf(connection, found.event);
  let words = 0;
  for (const segment of segments) {
    unindexSegment(connection, segment);
    words += tokensOf(segment.tokenString).length;
  }
  removeVectors(unit, tenant, segments);
  countSegments(connection, tenant.tenant, -segments.length, -words);
  deleteEvent(connection, found.event);
  return true;
}

function removeVectors(unit: WriteUnit, tenant: TenantLife, segments: readonly { readonly segment: number }[]): void {
  const space = currentSpace(unit.connection);
  const life = space && tenantPartition(unit, space, tenant);
  if (life === undefined) return;
  const vectors = new PartitionWriter(unit, life);
  for (const { segment } of segments) vectors.remove(String(segment));
  vectors.finish(segments.length > 0);
}

/** Takes what FTS5 keeps of removed words, their beginnings, out of the text index: part of erasing (E14). */
export const compactWords: WriteOperation<null, null> = writeOperation("memory.compact-words", (unit) => {
  compactTextIndex(unit.connection);
  return null;
});

export interface KnownEventsInput {
  readonly session: SessionLife;
  readonly events: readonly string[];
  readonly space: SpaceIdentity;
}

/**
 * The digests of events that are there already, so that nobody pays to embed them again. Raises
 * EMBEDDING_SPACE_MISMATCH before anything is embedded whose vectors the commit would refuse (V14).
 */
export const knownEvents: ReadOperation<KnownEventsInput, readonly (string | undefined)[]> = readOperation(
  "memory.known-events",
  (view, { session, events, space }) => {
    requireSession(view.connection, session);
    const stored = currentSpace(view.connection);
    if (stored !== undefined) assertSameSpace(stored, space);
    return events.map((id) => findEventDigest(view.connection, session.tenant.tenant, id));
  },
);
