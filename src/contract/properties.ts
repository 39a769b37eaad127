import { HoldfastError } from "../errors/index.ts";
import type { InstantLike } from "./datetime.ts";
import { LIMITS } from "./limits.ts";
import { assertName } from "./names.ts";
import { type BoundValue, bindValue } from "./property-values.ts";

/** The types that a store can declare for a property. */
export const PROPERTY_KINDS = ["string", "int", "float", "bool", "datetime"] as const;

export type PropertyKind = (typeof PROPERTY_KINDS)[number];

/** The declared properties of a store: name to type. Names match `[a-z0-9_]{1,32}` (V12). */
export type PropertySchema = Readonly<Record<string, PropertyKind>>;

/** A value as a caller writes it; absent, `null` and `undefined` are no value (V9). */
export type PropertyInputValue = string | number | bigint | boolean | Date | InstantLike | null | undefined;

/** Properties as a caller writes them. */
export type PropertyInput = Readonly<Record<string, PropertyInputValue>>;

/** What a caller may write for a property of a type. */
export interface PropertyInputs {
  readonly string: string;
  readonly int: number | bigint;
  readonly float: number | bigint;
  readonly bool: boolean;
  readonly datetime: Date | string | InstantLike;
}

/** Properties of one record by the store's schema: a key that is not declared, or another type, does not compile. */
export type DeclaredInput<S extends PropertySchema> = {
  readonly [Key in keyof S]?: PropertyInputs[S[Key]] | null | undefined;
};

/** Properties as they are read; a datetime is its canonical text `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export type PropertyValues = Readonly<Record<string, string | number | bigint | boolean>>;

/** One value for each key of the schema, in the order of `Object.keys(schema)`; `undefined` is no value. */
export type BoundProperties = readonly (BoundValue | undefined)[];

/** Names that would hide the prefix of users' own keys. */
const RESERVED_NAMES: readonly string[] = ["m", "metadata"];

/**
 * Checks a schema: names (V12), types, and their number.
 *
 * @param reserved - names that cannot be declared here, beside `m` and `metadata`
 * @throws INVALID_NAME, INVALID_ARGUMENT, LIMIT_EXCEEDED
 */
export function assertSchema(schema: unknown, reserved: readonly string[] = []): asserts schema is PropertySchema {
  if (!isRecord(schema)) {
    throw new HoldfastError(
      "INVALID_ARGUMENT",
      'Declare properties as an object of name to type, such as { year: "int" }.',
    );
  }
  const names = Object.keys(schema);
  if (names.length > LIMITS.propertiesPerStoreMax) {
    throw new HoldfastError(
      "LIMIT_EXCEEDED",
      `A store declares at most ${LIMITS.propertiesPerStoreMax} properties; got ${names.length}.`,
      { details: { limit: LIMITS.propertiesPerStoreMax, count: names.length } },
    );
  }
  for (const name of names) assertDeclaration(name, schema[name], reserved);
}

function assertDeclaration(name: string, kind: unknown, reserved: readonly string[]): void {
  assertName(name, "property name");
  if (RESERVED_NAMES.includes(name) || reserved.includes(name)) {
    throw new HoldfastError("INVALID_NAME", `The property name "${name}" is reserved; declare it under another name.`, {
      details: { property: name },
    });
  }
  if (!isPropertyKind(kind)) {
    throw new HoldfastError(
      "INVALID_ARGUMENT",
      `Declare the property "${name}" as one of ${PROPERTY_KINDS.join(", ")}.`,
      {
        details: { property: name },
      },
    );
  }
}

export function isPropertyKind(kind: unknown): kind is PropertyKind {
  return (PROPERTY_KINDS as readonly unknown[]).includes(kind);
}

/** The declared type of `name`; `undefined` when it is not declared. Never answers from a prototype. */
export function kindOf(schema: PropertySchema, name: string): PropertyKind | undefined {
  return Object.hasOwn(schema, name) ? schema[name] : undefined;
}

/**
 * Binds the properties of one record: every key declared (V2), every value of its type (V3–V8).
 *
 * @param context - whose properties they are, for messages: `record 3`
 * @throws UNDECLARED_PROPERTY (before any value is looked at), PROPERTY_TYPE_MISMATCH, INVALID_TEXT, INVALID_ARGUMENT
 */
export function bindProperties(
  schema: PropertySchema,
  input: PropertyInput | undefined,
  context = "",
): BoundProperties {
  const names = Object.keys(schema);
  if (input === undefined) return names.map(() => undefined);
  assertDeclared(schema, input, context);
  return names.map((name) => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    const kind = schema[name];
    if (value === undefined || value === null || kind === undefined) return undefined;
    return bindValue(kind, value, fieldOf(name, context));
  });
}

/**
 * Binds the properties of a `patch` (V11): `null` removes a value, an absent or `undefined` key leaves it.
 *
 * @throws as {@link bindProperties}
 */
export function bindPatch(
  schema: PropertySchema,
  input: PropertyInput,
  context = "",
): ReadonlyMap<string, BoundValue | null> {
  assertDeclared(schema, input, context);
  const bound = new Map<string, BoundValue | null>();
  for (const name of Object.keys(input)) {
    const value = input[name];
    const kind = kindOf(schema, name);
    if (value === undefined || kind === undefined) continue;
    bound.set(name, value === null ? null : bindValue(kind, value, fieldOf(name, context)));
  }
  return bound;
}

function assertDeclared(schema: PropertySchema, input: unknown, context: string): asserts input is PropertyInput {
  if (!isRecord(input)) {
    throw new HoldfastError(
      "INVALID_ARGUMENT",
      `${prefix(context)}properties must be a plain object of name to value.`,
    );
  }
  for (const name of Object.keys(input)) {
    if (kindOf(schema, name) !== undefined) continue;
    const shown = name.slice(0, 64);
    throw new HoldfastError(
      "UNDECLARED_PROPERTY",
      `${prefix(context)}the property ${JSON.stringify(shown)} is not declared; declare it when the store is opened, or leave it out.`,
      { details: { property: shown } },
    );
  }
}

/** A plain object: a Map, an array or a Date has no own keys to read and would be taken for an empty one. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.prototype.toString.call(value) === "[object Object]";
}

function fieldOf(name: string, context: string): string {
  return context === "" ? `property "${name}"` : `${context}, property "${name}"`;
}

function prefix(context: string): string {
  return context === "" ? "" : `${context}: `;
}
