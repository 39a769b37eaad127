import type { UserValue } from "../../contract/property-values.ts";
import type { Connection, SqlRow, SqlValue } from "../../database/connection.ts";

/** A user's own properties of one event, by name, in the order of their names. */
export type UserProperties = ReadonlyMap<string, UserValue>;

export function insertProperties(connection: Connection, event: number, properties: UserProperties): void {
  const insert = connection.prepare(
    "INSERT INTO event_properties (event, name, kind, value, written_offset) VALUES (?, ?, ?, ?, ?)",
  );
  for (const [name, value] of properties)
    insert.run(event, name, value.kind, toSql(value), value.kind === "datetime" ? value.offset : null);
}

export function deleteProperties(connection: Connection, event: number): void {
  connection.prepare("DELETE FROM event_properties WHERE event = ?").run(event);
}

export function propertiesOf(connection: Connection, event: number): UserProperties {
  const select = connection.prepare(
    "SELECT name, kind, value, written_offset FROM event_properties WHERE event = ? ORDER BY name",
    { bigints: true },
  );
  return new Map(select.all(event).map((row) => [String(row.name), fromSql(row)]));
}

/** Properties as one text, for revisions that nobody filters. */
export function propertiesToText(properties: UserProperties): string {
  return JSON.stringify(
    [...properties].map(([name, property]) => [
      name,
      property.kind,
      property.kind === "bool" ? property.value : String(property.value),
      ...(property.kind === "datetime" ? [property.offset] : []),
      // A number's text alone does not say whether it was an int64 beyond the safe integers.
      ...(typeof property.value === "bigint" && property.kind === "number" ? ["bigint"] : []),
    ]),
  );
}

export function propertiesFromText(text: string): UserProperties {
  const rows: readonly (readonly [string, UserValue["kind"], string | boolean, string?])[] = JSON.parse(text);
  return new Map(rows.map(([name, kind, value, detail]) => [name, valueFromText(kind, value, detail)]));
}

function valueFromText(kind: UserValue["kind"], value: string | boolean, detail: string | undefined): UserValue {
  switch (kind) {
    case "bool":
      return { kind, value: value === true };
    case "datetime":
      return { kind, value: BigInt(value), offset: detail ?? "Z" };
    case "number":
      return { kind, value: detail === "bigint" ? BigInt(value) : Number(value) };
    default:
      return { kind, value: String(value) };
  }
}

function toSql(value: UserValue): SqlValue {
  if (value.kind === "bool") return BigInt(value.value);
  if (value.kind === "number" && Number.isSafeInteger(value.value)) return BigInt(value.value);
  return value.value;
}

function fromSql(row: SqlRow): UserValue {
  const { kind, value } = row;
  if (kind === "bool") return { kind, value: Number(value) === 1 };
  if (kind === "datetime" && typeof value === "bigint") return { kind, value, offset: String(row.written_offset) };
  if (kind === "string") return { kind, value: String(value) };
  // A damaged value is none of its kind: the event's checksum does not hold with it (E11).
  if (typeof value !== "bigint" && typeof value !== "number") return { kind: "number", value: Number.NaN };
  const number = Number(value);
  return { kind: "number", value: typeof value === "bigint" && !Number.isSafeInteger(number) ? value : number };
}
