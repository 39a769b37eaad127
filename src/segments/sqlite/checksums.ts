import { crc32 } from "node:zlib";
import type { StoredEvent } from "./events.ts";
import type { SegmentRange } from "./segments.ts";

/** What an event and its segments vouch for: all that an answer shows. */
export type VouchedEvent = Pick<
  StoredEvent,
  "id" | "session" | "user" | "at" | "atOffset" | "producer" | "role" | "kind" | "text" | "properties" | "revision"
>;

/**
 * CRC-32 over what a segment says: tenant, event, session, revision, range, text, labels, time and properties (E11).
 * Lengths stand before texts, so that no two segments have one form.
 */
export function segmentChecksum(tenant: number, event: VouchedEvent, range: SegmentRange): number {
  const head = `${tenant};${event.revision};${range.start}-${range.end};${event.at};${labels(event)}`;
  return crc32(event.text.slice(range.start, range.end), crc32(head));
}

/** CRC-32 over a whole event with its blocks: what reading events, and not segments, is held against. */
export function eventChecksum(tenant: number, event: VouchedEvent & Pick<StoredEvent, "blocks">): number {
  const head = `${tenant};${event.revision};${event.at};${labels(event)};${measured(event.blocks)}`;
  return crc32(event.text, crc32(head));
}

/** CRC-32 over an earlier revision. */
export function revisionChecksum(
  event: number,
  revision: { readonly revision: number; readonly text: string; readonly blocks: string | undefined },
  properties: string,
): number {
  const head = `${event};${revision.revision};${measured(revision.blocks)};${measured(properties)}`;
  return crc32(revision.text, crc32(head));
}

function labels(event: VouchedEvent): string {
  const { id, session, user, producer, role, kind, atOffset } = event;
  const parts = [id, session, user, producer, role, kind, atOffset].map(measured);
  for (const name of [...event.properties.keys()].sort()) {
    const property = event.properties.get(name);
    if (property === undefined) continue;
    parts.push(`${measured(name)}=${property.kind}:${measured(String(property.value))}`);
  }
  return parts.join(";");
}

function measured(text: string | undefined): string {
  return text === undefined ? "" : `${text.length}:${text}`;
}
