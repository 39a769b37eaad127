import { formatDatetime } from "../contract/datetime.ts";
import type { PropertyValues } from "../contract/properties.ts";
import type { UserProperties } from "../segments/sqlite/event-properties.ts";
import type { EarlierRevision } from "../segments/sqlite/event-revisions.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import { splitBlocks } from "./blocks.ts";
import type { EventRevision, MemoryEvent } from "./event-contract.ts";

/** A stored event as the caller reads it; fields without a value are absent. */
export function toMemoryEvent(event: StoredEvent): MemoryEvent {
  return {
    id: event.id,
    session: event.session,
    ...(event.user !== undefined && { user: event.user }),
    at: formatDatetime(event.at),
    ...(event.producer !== undefined && { producer: event.producer }),
    ...(event.role !== undefined && { role: event.role }),
    ...(event.kind !== undefined && { kind: event.kind }),
    ...toContent(event),
    createdAt: formatDatetime(event.createdAt),
    ...(event.updatedAt !== undefined && { updatedAt: formatDatetime(event.updatedAt) }),
  };
}

export function toRevision(revision: StoredEvent | EarlierRevision): EventRevision {
  return {
    ...toContent(revision),
    ...("replacedAt" in revision && { replacedAt: formatDatetime(revision.replacedAt) }),
  };
}

function toContent(
  revision: StoredEvent | EarlierRevision,
): Pick<EventRevision, "text" | "blocks" | "properties" | "revision"> {
  const { text, blocks } = revision;
  return {
    text,
    ...(blocks !== undefined && { blocks: splitBlocks({ text, blocks }) }),
    properties: readProperties(revision.properties),
    revision: revision.revision,
  };
}

/** Without a prototype: a key of any name is the caller's own, and one that was not given is not there. */
export function readProperties(properties: UserProperties): PropertyValues {
  const read: Record<string, PropertyValues[string]> = Object.create(null);
  for (const [key, property] of properties)
    read[key] = property.kind === "datetime" ? formatDatetime(property.value) : property.value;
  return read;
}
