import { crc32 } from "node:zlib";
import type { BoundProperties, PropertyKind, PropertySchema } from "../../contract/properties.ts";
import type { BoundValue } from "../../contract/property-values.ts";
import type { SqlRow, SqlValue } from "../../database/connection.ts";

/** A row as it stands in its tables. */
export interface RecordRow {
  readonly row: number;
  readonly id: string;
  readonly values: BoundProperties;
  readonly vector: Uint8Array;
}

export function toSql(value: BoundValue | undefined): SqlValue {
  if (value === undefined) return null;
  return typeof value === "boolean" ? BigInt(value) : value;
}

function fromSql(kind: PropertyKind, value: SqlValue | undefined): BoundValue | undefined {
  if (value === null || value === undefined) return undefined;
  if (kind === "bool") return Number(value) === 1;
  if (kind === "float") return Number(value);
  if (kind === "string") return String(value);
  return BigInt(value as bigint);
}

export function valuesOf(row: SqlRow, schema: PropertySchema): BoundProperties {
  return Object.entries(schema).map(([key, kind]) => fromSql(kind, row[`p_${key}`]));
}

/** True when int64 columns make it necessary to read a store's integers as `bigint`. */
export function needsBigints(schema: PropertySchema): boolean {
  return Object.values(schema).some((kind) => kind === "int" || kind === "datetime");
}

/**
 * CRC-32 over everything that a row says: partition, id, each property that has a value, and the
 * vector's bytes (E11). Lengths stand before texts, so that no two rows have one form. A key declared
 * later has no value in older rows and leaves their checksums as they are. −0 is written as 0, which
 * is what SQLite keeps of it.
 */
export function checksumOf(
  partition: number,
  id: string,
  content: { readonly schema: PropertySchema; readonly values: BoundProperties; readonly vector: Uint8Array },
): number {
  let text = `${partition};${id.length}:${id}`;
  let index = 0;
  for (const key in content.schema) {
    const value = content.values[index];
    index += 1;
    if (value === undefined) continue;
    text += typeof value === "string" ? `;${key}=${value.length}:${value}` : `;${key}=${value}`;
  }
  return crc32(content.vector, crc32(text));
}

/** The row, or `undefined` when its checksum does not hold or its vector is gone: such a row is never answered. */
export function readRow(row: SqlRow, partition: number, schema: PropertySchema): RecordRow | undefined {
  const { vector, id } = row;
  if (!(vector instanceof Uint8Array) || typeof id !== "string") return undefined;
  const values = valuesOf(row, schema);
  if (checksumOf(partition, id, { schema, values, vector }) !== Number(row.checksum)) return undefined;
  return { row: Number(row.row), id, values, vector };
}

/** A copy of the stored little-endian bytes as float32. */
export function toFloat32(vector: Uint8Array): Float32Array {
  const copy = new Float32Array(vector.byteLength / 4);
  new Uint8Array(copy.buffer).set(vector);
  return copy;
}
