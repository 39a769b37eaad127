import type { InstantLike } from "./datetime.ts";
import type { Filter } from "./filter-tree.ts";
import type { PropertyKind, PropertySchema } from "./properties.ts";

/** An instant in a filter: a `Date`, an RFC 3339 text, or a `Temporal.Instant`. */
export type DatetimeInput = Date | string | InstantLike;

/** A value on a user's own key, whose type no schema tells: an instant is a `Date` or named as one. */
export type UserFilterValue = string | number | bigint | boolean | Date | InstantLike | { readonly datetime: string };

/** What can be asked of every field. A record without a value answers `false` to all but `isNull` and negations (F2). */
export interface EqualityField<Value> {
  eq(value: Value): Filter;
  /** `not(eq)`: admits records without a value too. */
  ne(value: Value): Filter;
  /** Of no values: admits nothing. */
  in(values: readonly Value[]): Filter;
  notIn(values: readonly Value[]): Filter;
  /** Admits records without a value. */
  isNull(): Filter;
  /** `not(isNull)`. */
  exists(): Filter;
}

/** What can be asked of numbers and datetimes. */
export interface OrderedField<Value, Ordered = Value> extends EqualityField<Value> {
  gt(value: Ordered): Filter;
  gte(value: Ordered): Filter;
  lt(value: Ordered): Filter;
  lte(value: Ordered): Filter;
  /** Both ends included. */
  between(low: Ordered, high: Ordered): Filter;
}

export type UserField = OrderedField<UserFilterValue, Exclude<UserFilterValue, string | boolean>>;

interface FieldByKind {
  readonly string: EqualityField<string>;
  readonly int: OrderedField<number | bigint>;
  readonly float: OrderedField<number | bigint>;
  readonly bool: EqualityField<boolean>;
  readonly datetime: OrderedField<DatetimeInput>;
}

/** The questions that fit a declared type; of a type known only at run time, all of them. */
export type FieldBuilder<Kind extends PropertyKind> = PropertyKind extends Kind
  ? OrderedField<string | number | bigint | boolean | DatetimeInput, number | bigint | DatetimeInput>
  : FieldByKind[Kind];

/** What every builder has beside the declared fields. */
export interface FilterConnectives<S extends PropertySchema> {
  /** Admits every record. */
  readonly all: Filter;
  /** Admits no record. */
  readonly none: Filter;
  /** Of nothing: admits all. */
  and(...operands: readonly Filter[]): Filter;
  /** Of nothing: admits none. */
  or(...operands: readonly Filter[]): Filter;
  not(operand: Filter): Filter;
  /** A declared field by name; the way to one that is named like a method here. */
  field<Name extends keyof S & string>(name: Name): FieldBuilder<S[Name]>;
  /** A user's own key, at the memory level. */
  m(key: string): UserField;
}

/** Builds filters over a schema: a field that is not declared, or a value of another type, does not compile. */
export type FilterBuilder<S extends PropertySchema = PropertySchema> = FilterConnectives<S> & {
  readonly [Name in Exclude<keyof S & string, keyof FilterConnectives<S>>]: FieldBuilder<S[Name]>;
};
