import { formatDatetime } from "../contract/datetime.ts";
import type { RecallHit } from "./contract.ts";
import { readProperties } from "./memory-event.ts";
import type { RecalledSegment } from "./recall.ts";

/** A found segment as the caller reads it; fields without a value are absent. */
export function toHit(found: RecalledSegment): RecallHit {
  const { event, range } = found;
  const channels: ("vector" | "text")[] = [];
  if (found.byVector) channels.push("vector");
  if (found.textScore !== undefined) channels.push("text");
  return {
    event: event.id,
    session: event.session,
    ...(event.user !== undefined && { user: event.user }),
    at: formatDatetime(event.at),
    ...(event.producer !== undefined && { producer: event.producer }),
    ...(event.role !== undefined && { role: event.role }),
    ...(event.kind !== undefined && { kind: event.kind }),
    text: event.text.slice(range.start, range.end),
    range: { start: range.start, end: range.end },
    properties: readProperties(event.properties),
    revision: event.revision,
    score: found.score,
    ...(found.cosine !== undefined && { cosineSimilarity: found.cosine }),
    ...(found.textScore !== undefined && { textScore: found.textScore }),
    channels,
  };
}
