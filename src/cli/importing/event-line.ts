import type { UserInputValue } from "../../contract/property-values.ts";
import { HoldfastError } from "../../errors/index.ts";
import type { EventInput } from "../../index.ts";
import { parseExactJson } from "./exact-json.ts";

/** What the command line adds to the lines of a file. */
export interface LineDefaults {
  /** The field that names the session; default `session`. */
  readonly sessionFrom?: string;
  /** The session of lines that name none. */
  readonly session?: string;
  /** The user of lines that name none. */
  readonly user?: string;
}

/** A line as it will be remembered; without an `id` it is given one by its content. */
export interface EventLine {
  readonly session: string;
  readonly user: string | undefined;
  readonly event: EventInput;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads one line: `{ session, user?, id?, at?, producer?, role?, kind?, text or blocks, properties? }`. Ids may be
 * integers. A property is a string, number, bool or null, `{ "$int": "…" }`, `{ "$float": "…" }` or `{ "$datetime": "…" }`. What the event says is
 * checked by the memory.
 */
export function parseEventLine(text: string, defaults: LineDefaults): EventLine {
  const fields = parseExactJson(text);
  if (!isFields(fields)) throw invalid('A line is a JSON object such as {"session": "…", "text": "…"}.');
  const sessionField = defaults.sessionFrom ?? "session";
  const { [sessionField]: session, user, id, properties, blocks, ...rest } = fields;
  const named = toId(session, sessionField) ?? defaults.session;
  if (named === undefined)
    throw invalid(`The line names no session: add the field ${JSON.stringify(sessionField)}, or give --session <id>.`);
  const eventId = toId(id, "id");
  const event = {
    ...rest,
    ...(eventId !== undefined && { id: eventId }),
    // Data of blocks is JSON as it stands: its numbers are those of JSON.
    ...(blocks !== undefined && { blocks: (JSON.parse(text) as Fields).blocks }),
    ...(properties !== undefined && { properties: toProperties(properties) }),
  };
  // Unknown fields and fields of another kind are refused by the memory, by name.
  return { session: named, user: toId(user, "user") ?? defaults.user, event: event as unknown as EventInput };
}

function toId(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  const integer = integerOf(value);
  if (integer !== undefined) return integer.toString();
  throw invalid(`The field ${JSON.stringify(field)} is a text or an integer.`);
}

function toProperties(properties: unknown): EventInput["properties"] {
  if (!isFields(properties)) throw invalid('The field "properties" is an object of name to value.');
  const entries = Object.entries(properties).map(([key, value]) => [key, toPropertyValue(value)] as const);
  return Object.fromEntries(entries);
}

/** Anything else is passed on, for the memory to refuse with the name of the property. */
export function toPropertyValue(value: unknown): UserInputValue {
  const datetime = onlyEntry(value, "$datetime");
  if (typeof datetime === "string") return { datetime };
  const float = onlyEntry(value, "$float");
  if (typeof float === "string" && FLOAT.test(float)) return Number(float);
  return integerOf(value) ?? (value as UserInputValue);
}

/** A float that JSON would write with the digits of an integer. */
const FLOAT = /^-?\d(?:\.\d{1,20})?e[+-]?\d{1,3}$/;

function integerOf(value: unknown): bigint | undefined {
  const digits = onlyEntry(value, "$int");
  return typeof digits === "string" && /^-?\d{1,20}$/.test(digits) ? BigInt(digits) : undefined;
}

function onlyEntry(value: unknown, key: string): unknown {
  if (!isFields(value)) return undefined;
  const entries = Object.entries(value);
  return entries.length === 1 && entries[0]?.[0] === key ? entries[0][1] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
