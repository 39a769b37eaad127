import { isUtf8 } from "node:buffer";
import type { SqlValue } from "../database/connection.ts";

/** A whole number of 1 to 9 bytes as SQLite writes it, and where it ends; https://www.sqlite.org/fileformat2.html. */
export interface Varint {
  readonly value: bigint;
  readonly end: number;
}

/** What is damaged raises this, and is listed by whoever reads it. */
export class DamagedBytes extends Error {}

export function readVarint(bytes: Buffer, at: number): Varint {
  let value = 0n;
  for (let index = 0; index < 9; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) throw new DamagedBytes("a number reaches beyond its page");
    if (index === 8) return { value: BigInt.asIntN(64, (value << 8n) | BigInt(byte)), end: at + 9 };
    value = (value << 7n) | BigInt(byte & 0x7f);
    if (byte < 0x80) return { value: BigInt.asIntN(64, value), end: at + index + 1 };
  }
  throw new DamagedBytes("a number has no end");
}

/** The same where it counts bytes of something that is there. */
export function readSize(bytes: Buffer, at: number, max: number): { readonly value: number; readonly end: number } {
  const { value, end } = readVarint(bytes, at);
  if (value < 0n || value > BigInt(max)) throw new DamagedBytes("a size is beyond what can be");
  return { value: Number(value), end };
}

/** The values of a record: whole numbers as `bigint`, others as `number`. */
export function readRecord(payload: Buffer): readonly SqlValue[] {
  const header = readSize(payload, 0, payload.byteLength);
  const values: SqlValue[] = [];
  let at = header.value;
  for (let next = header.end; next < header.value; ) {
    const type = readSize(payload, next, Number.MAX_SAFE_INTEGER);
    next = type.end;
    const length = sizeOfType(type.value);
    if (at + length > payload.byteLength) throw new DamagedBytes("a value reaches beyond its record");
    values.push(readValue(payload.subarray(at, at + length), type.value));
    at += length;
  }
  if (at !== payload.byteLength) throw new DamagedBytes("a record is longer than its values");
  return values;
}

const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const;

function sizeOfType(type: number): number {
  if (type >= 12) return (type - 12) >> 1;
  const size = SIZES[type];
  if (size === undefined) throw new DamagedBytes("a value has a type that there is not");
  return size;
}

function readValue(bytes: Buffer, type: number): SqlValue {
  if (type === 0) return null;
  if (type === 7) return bytes.readDoubleBE(0);
  if (type === 8 || type === 9) return BigInt(type - 8);
  if (type < 7) return bytes.byteLength === 8 ? bytes.readBigInt64BE(0) : BigInt(bytes.readIntBE(0, bytes.byteLength));
  if (type % 2 === 0) return new Uint8Array(bytes);
  if (!isUtf8(bytes)) throw new DamagedBytes("a text is no UTF-8");
  return bytes.toString("utf8");
}
