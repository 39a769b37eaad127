import { LIMITS } from "../contract/limits.ts";
import { assertId } from "../contract/names.ts";
import { isInt64, toSafeNumber, type UserValue } from "../contract/property-values.ts";
import { assertWellFormed, utf8Length } from "../contract/text.ts";
import { writeVector } from "../contract/vector.ts";
import { HoldfastError } from "../errors/index.ts";
import type { ArchivedBlock, ArchivedContent, ArchivedPending, ArchivedSegment } from "./archived.ts";
import { invalid, isObject, LineFields, toInstant } from "./line-fields.ts";
import type { PieceStore } from "./long-texts.ts";

const BLOCKS_MAX = 1_000;
const TYPE_LENGTH_MAX = 64;
const REASON_LENGTH_MAX = 2_000;
const ATTEMPTS_MAX = 1_000_000;
/** A float that JSON would write with the digits of an integer. */
const FLOAT = /^-?\d(?:\.\d{1,20})?e\+\d{1,3}$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** What a line of an event or a revision says. */
export function contentOf(fields: LineFields, pieces: PieceStore): ArchivedContent {
  const [text, blocks] = [fields.take("text"), fields.take("blocks")];
  if ((text === undefined) === (blocks === undefined)) throw invalid("it has a text or blocks, and not both");
  return {
    text: text === undefined ? undefined : textOf(text, pieces, "text"),
    blocks: blocks === undefined ? undefined : blocksOf(blocks, pieces),
    properties: propertiesOf(fields.take("properties"), pieces),
  };
}

/** A text, or one that went ahead in pieces. */
export function textOf(value: unknown, pieces: PieceStore, name: string): string {
  const text = isPieces(value) ? pieces.take(value.$pieces) : value;
  if (typeof text !== "string") throw invalid(`${name} is a text`);
  assertWellFormed(text, name);
  if (text.length * 3 > LIMITS.textBytesMax && utf8Length(text) > LIMITS.textBytesMax)
    throw new HoldfastError("LIMIT_EXCEEDED", `${name} has more than ${LIMITS.textBytesMax} bytes`);
  return text;
}

function isPieces(value: unknown): value is { readonly $pieces: number } {
  if (!isObject(value)) return false;
  const [[name, count] = [], ...others] = Object.entries(value);
  return name === "$pieces" && others.length === 0 && Number.isSafeInteger(count) && Number(count) > 0;
}

function blocksOf(value: unknown, pieces: PieceStore): readonly ArchivedBlock[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > BLOCKS_MAX)
    throw invalid(`blocks is a list of 1 to ${BLOCKS_MAX}`);
  return value.map((block: unknown, index) => {
    const name = `blocks[${index}]`;
    const fields = new LineFields(block);
    const type = fields.text("type", TYPE_LENGTH_MAX);
    const text = fields.take("text");
    const kept = text === undefined ? undefined : textOf(text, pieces, `${name}.text`);
    const data = dataOf(fields, pieces, name);
    fields.assertTaken();
    return { type, ...(kept !== undefined && { text: kept }), ...(data !== undefined && { data }) };
  });
}

function dataOf(fields: LineFields, pieces: PieceStore, name: string): unknown {
  const [data, count] = [fields.take("data"), fields.take("dataPieces")];
  if (count === undefined) return data;
  if (data !== undefined || !Number.isSafeInteger(count) || Number(count) < 1)
    throw invalid(`${name} has data or dataPieces, which is the number of pieces of its JSON`);
  const json = pieces.take(Number(count));
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new HoldfastError("INVALID_ARGUMENT", `the data of ${name} is no JSON`, { cause });
  }
}

function propertiesOf(value: unknown, pieces: PieceStore): ReadonlyMap<string, UserValue> {
  if (value === undefined) return new Map();
  if (!isObject(value)) throw invalid("properties is an object of name to value");
  const entries = Object.entries(value);
  if (entries.length > LIMITS.propertiesPerStoreMax)
    throw new HoldfastError("LIMIT_EXCEEDED", `it has more than ${LIMITS.propertiesPerStoreMax} properties`);
  const properties = entries.map(([name, form], index) => {
    assertId(name, "property key");
    return [name, propertyOf(form, pieces, `property ${index + 1}`)] as const;
  });
  // As the database answers them, so that both are told alike.
  return new Map(properties);
}

function propertyOf(form: unknown, pieces: PieceStore, name: string): UserValue {
  if (typeof form === "boolean") return { kind: "bool", value: form };
  if (typeof form === "string" || isPieces(form)) return { kind: "string", value: textOf(form, pieces, name) };
  if (typeof form === "number" && (!Number.isInteger(form) || Number.isSafeInteger(form)))
    return { kind: "number", value: form === 0 ? 0 : form };
  if (isObject(form)) {
    const special = specialValueOf(new LineFields(form), name);
    if (special !== undefined) return special;
  }
  throw invalid(`${name} has no value of a documented form`);
}

function specialValueOf(fields: LineFields, name: string): UserValue | undefined {
  const [int, float, datetime, offset] = ["$int", "$float", "$datetime", "offset"].map((key) => fields.take(key));
  fields.assertTaken();
  if (datetime !== undefined && int === undefined && float === undefined) {
    const instant = toInstant(datetime, offset, name);
    return { kind: "datetime", value: instant.microseconds, offset: instant.offset };
  }
  if (offset !== undefined) return undefined;
  if (typeof int === "string" && float === undefined) return intOf(int);
  if (typeof float !== "string" || int !== undefined || !FLOAT.test(float)) return undefined;
  const value = Number(float);
  return Number.isFinite(value) && !Number.isSafeInteger(value) ? { kind: "number", value } : undefined;
}

function intOf(digits: string): UserValue | undefined {
  if (!/^-?\d{1,20}$/.test(digits)) return undefined;
  const value = BigInt(digits);
  return isInt64(value) ? { kind: "number", value: toSafeNumber(value) } : undefined;
}

/** A segment of an event; `dimensions` of the archive's space, absent where it has none. */
export function segmentOf(
  fields: LineFields,
  { numberMax, dimensions }: { readonly numberMax: number; readonly dimensions: number | undefined },
): ArchivedSegment {
  const number = fields.count("number", 1, numberMax);
  const start = fields.count("start", 0, Number.MAX_SAFE_INTEGER);
  const end = fields.count("end", start + 1, Number.MAX_SAFE_INTEGER);
  const [vectors, pending] = [fields.take("vectors"), fields.take("pending")];
  if ((vectors === undefined) === (pending === undefined)) throw invalid("a segment has vectors or is pending");
  return {
    number,
    start,
    end,
    vectors: vectors === undefined ? [] : vectorsOf(vectors, dimensions),
    pending: pending === undefined ? undefined : pendingOf(new LineFields(pending)),
  };
}

function vectorsOf(value: unknown, dimensions: number | undefined): readonly Uint8Array[] {
  if (dimensions === undefined) throw invalid("it has vectors, and the archive names no embedding space");
  if (!Array.isArray(value) || value.length === 0) throw invalid("vectors is a list of one or more");
  return value.map((text: unknown, index) => {
    const where = `vectors[${index}]`;
    if (typeof text !== "string" || !BASE64.test(text)) throw invalid(`${where} is base64 of float32 values`);
    const bytes = Buffer.from(text, "base64");
    if (bytes.toString("base64") !== text) throw invalid(`${where} is base64 of float32 values`);
    if (bytes.byteLength !== dimensions * 4)
      throw new HoldfastError(
        "DIMENSION_MISMATCH",
        `${where} has ${bytes.byteLength} bytes, and not ${dimensions * 4}`,
      );
    const vector = new Float32Array(dimensions);
    new Uint8Array(vector.buffer).set(bytes);
    writeVector(vector, dimensions, new Float32Array(dimensions), 0, where);
    return new Uint8Array(vector.buffer);
  });
}

function pendingOf(fields: LineFields): ArchivedPending {
  const state = fields.take("state");
  if (state !== "waiting" && state !== "parked") throw invalid("state is waiting or parked");
  const attempts = fields.count("attempts", 0, ATTEMPTS_MAX);
  const nextAt = fields.instant("nextAt");
  const reason = fields.text("reason", REASON_LENGTH_MAX);
  fields.assertTaken();
  return { state, attempts, nextAt, reason };
}
