import { toPrintableJson } from "./printable.ts";

/** One JSON document on one line; integers beyond 2^53 are decimal strings, since readers of JSON round numbers. */
export function toJsonLine(value: unknown): string {
  const json = JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? one.toString() : one));
  return `${toPrintableJson(json)}\n`;
}
