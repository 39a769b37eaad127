import { formatDatetime, instantOf } from "../contract/datetime.ts";
import type { Literal } from "../contract/filter-tree.ts";
import type { PropertyKind } from "../contract/properties.ts";
import { describeValue } from "../contract/property-values.ts";
import { invalidFilter } from "./invalid-filter.ts";
import { parseInteger, parseUnsafeInteger } from "./number-text.ts";

/**
 * An object that JSON could have made: a Map or a class of someone's has no keys to read, and what an object inherits would
 * be passed over, so that the filter admits more than it says.
 */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Each realm has an Object.prototype of its own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Reads a value of a JSON filter as a key of type `kind` means it; `kind` is `undefined` for a user's own key.
 *
 * @returns `null` for null, `undefined` for what is no value but may be an object of operators
 * @throws INVALID_FILTER
 */
export function readJsonLiteral(value: unknown, kind: PropertyKind | undefined): Literal | null | undefined {
  switch (typeof value) {
    case "string":
      return readText(value, kind);
    case "number":
    case "bigint":
    case "boolean":
      return value;
    case "object": {
      if (value === null) return null;
      const instant = instantOf(value);
      return instant === undefined ? readTagged(value) : { datetime: formatDatetime(instant.microseconds) };
    }
    default:
      return undefined;
  }
}

/** The same where nothing but a value can stand. */
export function readOperand(value: unknown, kind: PropertyKind | undefined, operator: string): Literal | null {
  const literal = readJsonLiteral(value, kind);
  if (literal !== undefined) return literal;
  throw invalidFilter(`${operator} cannot take ${describeValue(value)}.`);
}

function readText(text: string, kind: PropertyKind | undefined): Literal {
  if (kind === "datetime") return { datetime: text };
  return kind === "int" ? (parseUnsafeInteger(text) ?? text) : text;
}

/** `{ "$datetime": "…" }` and `{ "$int": "…" }`: values whose type JSON cannot show. */
function readTagged(value: object): Literal | undefined {
  if (!isPlainObject(value)) return undefined;
  const keys = Object.keys(value);
  const [tag] = keys;
  if (keys.length !== 1 || (tag !== "$datetime" && tag !== "$int")) return undefined;
  const text = value[tag];
  if (typeof text !== "string") throw invalidFilter(`${tag} takes a text; got ${describeValue(text)}.`);
  if (tag === "$datetime") return { datetime: text };
  const integer = parseInteger(text);
  if (integer === undefined) throw invalidFilter("$int takes an integer of 64 bits as decimal digits.");
  return integer;
}
