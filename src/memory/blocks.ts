import { assertWellFormed, utf8Length } from "../contract/text.ts";
import { HoldfastError } from "../errors/index.ts";
import type { SegmentRange } from "../segments/sqlite/segments.ts";

/** A plain JSON value. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };

/** A part of an event: a text, a tool call, a picture's caption with its address. */
export interface Block {
  /** For example `text` (the default), `tool_call`, `image`: 1–64 characters. */
  readonly type?: string;
  /** Searched and answered; at least one block of an event has one. No segment reaches over two blocks. */
  readonly text?: string;
  /** Kept and answered, not searched: any JSON value, at most 1 MiB as text. */
  readonly data?: JsonValue;
}

/** A block as it is kept: its text is a range of the event's. */
interface KeptBlock {
  readonly type: string;
  readonly range?: readonly [start: number, end: number];
  readonly data?: JsonValue;
}

const BLOCKS_MAX = 1_000;
const TYPE_LENGTH_MAX = 64;
const DATA_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 100;
const SEPARATOR = "\n\n";

/** The text of an event's blocks, and their JSON as the database keeps it. */
export function joinBlocks(blocks: readonly Block[]): { readonly text: string; readonly blocks: string } {
  if (!Array.isArray(blocks) || blocks.length === 0 || blocks.length > BLOCKS_MAX)
    throw invalid(`blocks is a list of 1 to ${BLOCKS_MAX} blocks such as { text } or { type, data }.`);
  let text = "";
  const kept = blocks.map((block: unknown, index): KeptBlock => {
    const { type, text: own, data } = checkBlock(block, `blocks[${index}]`);
    if (own === undefined) return { type, ...(data !== undefined && { data }) };
    if (text !== "") text += SEPARATOR;
    const start = text.length;
    text += own;
    return { type, range: [start, text.length], ...(data !== undefined && { data }) };
  });
  if (text === "") throw invalid("No block has a text; at least one is needed to be found by.", "INVALID_TEXT");
  return { text, blocks: JSON.stringify(kept) };
}

/** The blocks that were given, from what is kept of them. */
export function splitBlocks(event: { readonly text: string; readonly blocks: string }): readonly Block[] {
  return parse(event.blocks).map(({ type, range, data }) => ({
    type,
    ...(range !== undefined && { text: event.text.slice(...range) }),
    ...(data !== undefined && { data }),
  }));
}

/** The ranges that are cut into segments each on their own. */
export function textRanges(event: {
  readonly text: string;
  readonly blocks: string | undefined;
}): readonly SegmentRange[] {
  if (event.blocks === undefined) return [{ start: 0, end: event.text.length }];
  return parse(event.blocks).flatMap(({ range }) => (range === undefined ? [] : [{ start: range[0], end: range[1] }]));
}

function parse(blocks: string): readonly KeptBlock[] {
  return JSON.parse(blocks);
}

function checkBlock(
  block: unknown,
  field: string,
): { readonly type: string; readonly text: string | undefined; readonly data: JsonValue | undefined } {
  if (typeof block !== "object" || block === null || Array.isArray(block))
    throw invalid(`${field} is an object such as { text } or { type, data }.`);
  const unknown = Object.keys(block).find((key) => key !== "type" && key !== "text" && key !== "data");
  if (unknown !== undefined) throw invalid(`${field} has no field ${JSON.stringify(unknown.slice(0, 64))}.`);
  const { type = "text", text, data } = block as Block;
  if (typeof type !== "string" || type.length === 0 || type.length > TYPE_LENGTH_MAX)
    throw invalid(`${field}.type is a text of 1 to ${TYPE_LENGTH_MAX} characters.`);
  assertWellFormed(type, `${field}.type`);
  if (text === undefined && data === undefined) throw invalid(`${field} has neither text nor data.`);
  if (text !== undefined && (typeof text !== "string" || text.trim() === ""))
    throw invalid(`${field}.text is a text that is not empty; leave it out where there is none.`, "INVALID_TEXT");
  if (data !== undefined) assertJson(data, `${field}.data`, 0);
  if (data !== undefined && utf8Length(JSON.stringify(data)) > DATA_BYTES_MAX)
    throw invalid(`${field}.data has at most ${DATA_BYTES_MAX} bytes as JSON.`, "LIMIT_EXCEEDED");
  return { type, text, data };
}

/** Refuses what JSON would lose or change in silence: NaN, undefined in lists, dates, maps, cycles. */
function assertJson(value: unknown, field: string, depth: number): void {
  if (depth > DEPTH_MAX)
    throw invalid(`${field} is nested deeper than ${DEPTH_MAX}, or holds itself.`, "LIMIT_EXCEEDED");
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "string") {
    assertWellFormed(value, field);
    return;
  }
  if (typeof value === "number") {
    if (Number.isFinite(value)) return;
    throw invalid(`${field} holds a number that JSON has no form for.`);
  }
  if (Array.isArray(value)) {
    for (const item of value) assertJson(item, field, depth + 1);
    return;
  }
  if (typeof value !== "object" || Object.prototype.toString.call(value) !== "[object Object]")
    throw invalid(
      `${field} holds a value that is no plain JSON: give texts, numbers, booleans, null, lists and objects.`,
    );
  for (const [key, item] of Object.entries(value)) {
    assertWellFormed(key, field);
    if (item !== undefined) assertJson(item, field, depth + 1);
  }
}

function invalid(
  message: string,
  code: "INVALID_ARGUMENT" | "INVALID_TEXT" | "LIMIT_EXCEEDED" = "INVALID_ARGUMENT",
): HoldfastError {
  return new HoldfastError(code, message);
}
