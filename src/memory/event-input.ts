import { createHash } from "node:crypto";
import type { InstantLike } from "../contract/datetime.ts";
import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { bindUserValue, toInstant, type UserInputValue, type UserValue } from "../contract/property-values.ts";
import { assertWellFormed, utf8Length } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";
import type { Clock } from "../io/clock.ts";
import { mintId } from "../io/ids.ts";
import type { UserProperties } from "../segments/sqlite/event-properties.ts";
import type { NewEvent } from "../segments/sqlite/events.ts";
import { type Block, joinBlocks } from "./blocks.ts";

/** Something that was said or happened, as a caller gives it. */
export interface EventInput {
  /** Free text of 1–512 UTF-8 bytes, unique in the tenant; a random UUID when absent. The same event may be sent again. */
  readonly id?: string;
  /** When it was said: `Date`, `Temporal.Instant` or RFC 3339 text; now when absent. */
  readonly at?: Date | InstantLike | string;
  /** Who said it; searched with the text. */
  readonly producer?: string;
  /** For example `user`, `assistant`, `tool`. */
  readonly role?: string;
  /** For example `message`, `fact`, `task`. */
  readonly kind?: string;
  /** Not empty; any length: long texts are cut into segments, never cut off. Give this or `blocks`. */
  readonly text?: string;
  /** The parts of an event that is more than one text; its `text` is then theirs, parted by an empty line. */
  readonly blocks?: readonly Block[];
  /** Keys of your own with values of any documented type; filter on them as `m.<key>`. */
  readonly properties?: Readonly<Record<string, UserInputValue | null | undefined>>;
}

const EVENT_KEYS: readonly string[] = ["id", "at", "producer", "role", "kind", "text", "blocks", "properties"];

/** Checks an event and fills in what was left out; nothing is embedded or written before (S3, V14). */
export function toEvent(input: EventInput, clock: Clock): NewEvent {
  if (typeof input !== "object" || input === null) throw invalid("An event is an object such as { producer, text }.");
  const unknown = Object.keys(input).find((key) => !EVENT_KEYS.includes(key));
  if (unknown !== undefined) {
    throw invalid(
      `An event has no field ${JSON.stringify(unknown.slice(0, 64))}, only ${EVENT_KEYS.join(", ")}; keys of your own belong into properties.`,
    );
  }
  const id = input.id ?? mintId();
  assertId(id, "event id");
  const content = toContent(input);
  const { at, offset } = toMoment(input.at, clock);
  const event = {
    id,
    at,
    atOffset: offset,
    atGiven: input.at !== undefined && input.at !== null,
    producer: label(input.producer, "producer"),
    role: label(input.role, "role"),
    kind: label(input.kind, "kind"),
    ...content,
    properties: bindUserProperties(input.properties),
  };
  return { ...event, digest: digestOf(event) };
}

/** The text, and the blocks where it was given in such. */
export function toContent(input: Pick<EventInput, "text" | "blocks">): Pick<NewEvent, "text" | "blocks"> {
  if (input.blocks === undefined || input.blocks === null) {
    assertText(input.text);
    return { text: input.text, blocks: undefined };
  }
  if (input.text !== undefined) throw invalid("An event has a text or blocks, not both.");
  const joined = joinBlocks(input.blocks);
  assertText(joined.text);
  return joined;
}

function assertText(text: unknown): asserts text is string {
  if (typeof text !== "string")
    throw new HoldfastError("INVALID_TEXT", "An event needs a text to remember.", { details: { field: "text" } });
  assertWellFormed(text, "text of the event");
  if (text.trim().length === 0)
    throw new HoldfastError("INVALID_TEXT", "The text of the event is empty; there is nothing to remember.", {
      details: { field: "text" },
    });
  const bytes = utf8Length(text);
  if (bytes > LIMITS.textBytesMax) {
    throw new HoldfastError("LIMIT_EXCEEDED", `A text has at most ${LIMITS.textBytesMax} bytes.`, {
      details: { bytes, textBytesMax: LIMITS.textBytesMax },
    });
  }
}

function label(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  assertId(value, field);
  return value;
}

function toMoment(at: EventInput["at"], clock: Clock): { readonly at: bigint; readonly offset: string } {
  if (at === undefined || at === null) return { at: BigInt(clock.nowMicros()), offset: "Z" };
  const instant = toInstant(typeof at === "string" ? { datetime: at } : at);
  if (instant === undefined) {
    const message =
      "at is an RFC 3339 text such as 2026-05-01T12:00:00Z, a Date or a Temporal.Instant, of the years 0001 to 9999.";
    throw new HoldfastError("PROPERTY_TYPE_MISMATCH", message, { details: { field: "at" } });
  }
  return { at: instant.microseconds, offset: instant.offset };
}

function bindUserProperties(input: EventInput["properties"]): UserProperties {
  return new Map(propertyChanges(input).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

/** The given properties in order, bound; `undefined` for one that is given without a value. */
export function propertyChanges(input: unknown): readonly (readonly [string, UserValue | undefined])[] {
  if (input === undefined || input === null) return [];
  if (Object.prototype.toString.call(input) !== "[object Object]")
    throw invalid("properties is a plain object of name to value.");
  const entries = Object.entries(input);
  assertPropertyCount(entries.length);
  return entries.map(([key, value]) => {
    assertId(key, "property key");
    return [key, value === undefined || value === null ? undefined : bindUserValue(value, `property "${key}"`)];
  });
}

export function assertPropertyCount(count: number): void {
  if (count <= LIMITS.propertiesPerStoreMax) return;
  throw new HoldfastError("LIMIT_EXCEEDED", `An event has at most ${LIMITS.propertiesPerStoreMax} properties.`, {
    details: { count },
  });
}

/** Over what the caller gave but the time, which may have been filled in. */
export function digestOf(event: Omit<NewEvent, "digest">): string {
  const { producer = null, role = null, kind = null, text, blocks = null } = event;
  const properties = [...event.properties]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, property]) => [key, property.kind, String(property.value)]);
  return createHash("sha256")
    .update(JSON.stringify([producer, role, kind, text, blocks, properties]))
    .digest("base64");
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
