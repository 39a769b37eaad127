import type { PropertyKind } from "../contract/properties.ts";
import { type BoundValue, isInt64, type UserKind, type UserValue } from "../contract/property-values.ts";

/** The kind under which events keep the values that a column of a type holds. */
export function storedKind(kind: PropertyKind): UserKind {
  return kind === "int" || kind === "float" ? "number" : kind;
}

/** What a column of a type holds of a stored value: exactly that value, or `undefined`. */
export function toColumnValue(kind: PropertyKind, stored: Pick<UserValue, "kind" | "value">): BoundValue | undefined {
  if (stored.kind !== storedKind(kind)) return undefined;
  if (kind === "int") return toInt64(stored.value);
  if (kind === "float") return toFloat(stored.value);
  return stored.value;
}

function toInt64(value: BoundValue): bigint | undefined {
  if (typeof value === "number" && !Number.isInteger(value)) return undefined;
  const exact = BigInt(value);
  return isInt64(exact) ? exact : undefined;
}

function toFloat(value: BoundValue): number | undefined {
  const float = Number(value);
  return typeof value !== "bigint" || BigInt(float) === value ? float : undefined;
}
