import { formatDatetime, instantOf } from "../contract/datetime.ts";
import type { FilterBuilder, FilterConnectives, UserField } from "../contract/filter-builder.ts";
import type { Comparison, FieldReference, Filter, Literal } from "../contract/filter-tree.ts";
import type { PropertyKind, PropertySchema } from "../contract/properties.ts";
import { type FilterSchema, resolveField } from "./filter-schema.ts";
import { invalidFilter } from "./invalid-filter.ts";

/**
 * A builder of filters over declared properties: `f.and(f.kind.in(["fact", "task"]), f.year.gte(2024))`.
 * What it makes is a plain tree; values are checked where the tree is bound.
 *
 * @throws UNDECLARED_PROPERTY when a field is named that the schema does not have
 */
export function filter<S extends PropertySchema>(schema: S): FilterBuilder<S> {
  return createBuilder({ declared: schema, userKeys: true }) as FilterBuilder<S>;
}

/** The builder that a `where` function is called with. */
export function createBuilder(schema: FilterSchema): FilterBuilder {
  const connectives = new Connectives(schema);
  return new Proxy(connectives, {
    get: (target, name) => {
      if (typeof name === "symbol") return undefined;
      return Object.hasOwn(target, name) ? Reflect.get(target, name) : target.field(name);
    },
  }) as unknown as FilterBuilder;
}

/** What every builder has; own properties, so that a field called `constructor` is a field. */
class Connectives implements Omit<FilterConnectives<PropertySchema>, "field"> {
  readonly all: Filter = { op: "all" };
  readonly none: Filter = { op: "none" };
  readonly and: (...operands: readonly Filter[]) => Filter = (...operands) => ({ op: "and", operands });
  readonly or: (...operands: readonly Filter[]) => Filter = (...operands) => ({ op: "or", operands });
  readonly not: (operand: Filter) => Filter = (operand) => ({ op: "not", operand });
  readonly field: (name: string) => Field;
  readonly m: (key: string) => UserField;

  constructor(schema: FilterSchema) {
    this.field = (name) => createField({ scope: "declared", name }, schema);
    this.m = (name) => createField({ scope: "m", name }, schema) as UserField;
  }
}

function createField(reference: FieldReference, schema: FilterSchema): Field {
  if (typeof reference.name !== "string") throw invalidFilter("A field of a filter is named by a text.");
  return new Field(reference, resolveField(reference, schema).kind);
}

/** All questions of one field; the types offer those that fit its kind, and the binder refuses the rest. */
class Field {
  readonly #field: FieldReference;
  readonly #kind: PropertyKind | undefined;

  constructor(field: FieldReference, kind: PropertyKind | undefined) {
    this.#field = field;
    this.#kind = kind;
  }

  eq(value: unknown): Filter {
    return { op: "equals", field: this.#field, value: this.#literal(value) };
  }

  ne(value: unknown): Filter {
    return { op: "not", operand: this.eq(value) };
  }

  in(values: readonly unknown[]): Filter {
    if (!Array.isArray(values)) throw invalidFilter("in and notIn take an array of values.");
    return { op: "in", field: this.#field, values: Array.from(values, (value: unknown) => this.#literal(value)) };
  }

  notIn(values: readonly unknown[]): Filter {
    return { op: "not", operand: this.in(values) };
  }

  isNull(): Filter {
    return { op: "isNull", field: this.#field };
  }

  exists(): Filter {
    return { op: "not", operand: this.isNull() };
  }

  gt(value: unknown): Filter {
    return this.#ordering(">", value);
  }

  gte(value: unknown): Filter {
    return this.#ordering(">=", value);
  }

  lt(value: unknown): Filter {
    return this.#ordering("<", value);
  }

  lte(value: unknown): Filter {
    return this.#ordering("<=", value);
  }

  between(low: unknown, high: unknown): Filter {
    return { op: "and", operands: [this.gte(low), this.lte(high)] };
  }

  #ordering(comparison: Comparison, value: unknown): Filter {
    return { op: "ordering", field: this.#field, comparison, value: this.#literal(value) };
  }

  /** Names an instant as one; everything else goes as it is to the binder, which checks it. */
  #literal(value: unknown): Literal {
    if (value === undefined || value === null) {
      throw invalidFilter(
        `A filter compares with a value, got ${value}; ask for records without a value with isNull().`,
      );
    }
    if (this.#kind === "datetime" && typeof value === "string") return { datetime: value };
    const instant = instantOf(value);
    return instant === undefined ? (value as Literal) : { datetime: formatDatetime(instant.microseconds) };
  }
}
