import { formatDatetime } from "../contract/datetime.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import type { ContextEvent, RecallHit } from "./contract.ts";
import { readProperties } from "./memory-event.ts";
import type { RecalledSegment } from "./recall.ts";

/** A found segment as the caller reads it; fields without a value are absent. */
export function toHit(found: RecalledSegment, explain: boolean): RecallHit {
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
    context: { before: found.before.map(toContext), after: found.after.map(toContext) },
    ...(explain && { parts: found.parts }),
  };
}

function toContext(event: StoredEvent): ContextEvent {
  return {
    event: event.id,
    at: formatDatetime(event.at),
    ...(event.producer !== undefined && { producer: event.producer }),
    ...(event.role !== undefined && { role: event.role }),
    text: event.text,
  };
}
