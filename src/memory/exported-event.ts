import { formatWithOffset } from "../contract/datetime.ts";
import type { UserValue } from "../contract/property-values.ts";
import type { StoredEvent } from "../segments/sqlite/events.ts";
import { splitBlocks } from "./blocks.ts";
import type { ExportedEvent, ExportedValue } from "./export-contract.ts";

/** A stored event in the form in which it is carried elsewhere; fields without a value are absent. */
export function toExportedEvent(event: StoredEvent): ExportedEvent {
  const { blocks, text, user, producer, role, kind } = event;
  const properties = [...event.properties].map(([key, value]) => [key, toExportedValue(value)] as const);
  return {
    session: event.session,
    ...(user !== undefined && { user }),
    id: event.id,
    at: formatWithOffset(event.at, event.atOffset),
    ...(producer !== undefined && { producer }),
    ...(role !== undefined && { role }),
    ...(kind !== undefined && { kind }),
    ...(blocks === undefined ? { text } : { blocks: splitBlocks({ text, blocks }) }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
  };
}

function toExportedValue(property: UserValue): ExportedValue {
  if (property.kind === "datetime") return { $datetime: formatWithOffset(property.value, property.offset) };
  const { value } = property;
  if (typeof value === "bigint") return { $int: value.toString() };
  // JSON would write such a float with the digits of an integer.
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    return { $float: value.toExponential() };
  return value;
}
