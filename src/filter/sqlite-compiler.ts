import type { BoundValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundField, BoundFilter, BoundKind } from "./bound-filter.ts";
import { inList } from "./sqlite-lists.ts";

/** What SQLite can be given for a `?`. An integer is a `bigint`: drivers bind a `number` as REAL. */
export type SqliteParameter = string | number | bigint | Uint8Array | null;

/** Where the fields of a filter stand in a statement. */
export interface SqliteTarget {
  /** A quoted SQL expression for a declared or system field: NULL for no value; int, datetime and bool as INTEGER. */
  column(name: string): string;
  /**
   * A table of users' own properties: `event` INTEGER, `name` TEXT, `kind` TEXT (a `UserKind`), `value` ANY, STRICT.
   * Numbers are INTEGER where they are integral and safe or bigint, else REAL; datetimes INTEGER microseconds; bools 0 or 1.
   * `owner` is a qualified expression for the event that the row at hand is of.
   */
  readonly userKeys?: { readonly table: string; readonly owner: string };
}

export interface CompiledFilter {
  /** A condition that is 1 or 0 for every row, never NULL, in parentheses where it needs them. */
  readonly sql: string;
  /** One for each `?`, in order. */
  readonly parameters: readonly SqliteParameter[];
}

/**
 * Compiles a bound filter to a condition of SQLite. Values are parameters (F9), lists one parameter each, and
 * connectives balanced trees, so that no filter within the limits meets one of SQLite's.
 */
export function compileSqlite(filter: BoundFilter, target: SqliteTarget): CompiledFilter {
  const compiler = new Compiler(target);
  const sql = compiler.node(filter);
  return { sql, parameters: compiler.parameters };
}

class Compiler {
  readonly parameters: SqliteParameter[] = [];
  readonly #target: SqliteTarget;

  constructor(target: SqliteTarget) {
    this.#target = target;
  }

  node(filter: BoundFilter): string {
    switch (filter.op) {
      case "all":
        return "TRUE";
      case "none":
        return "FALSE";
      case "not":
        return `(NOT ${this.node(filter.operand)})`;
      case "and":
      case "or": {
        const parts = filter.operands.map((operand) => this.node(operand));
        return balanced(parts, filter.op === "and" ? "AND" : "OR");
      }
      case "isNull":
        return filter.field.scope === "m"
          ? `(NOT ${this.#userValue(filter.field, undefined, () => undefined)})`
          : `(${this.#target.column(filter.field.name)} IS NULL)`;
      case "equals":
        // IS is = with an answer for NULL.
        return this.#leaf(filter, (value) => `${value} IS ${this.#bind(filter.value)}`);
      case "ordering":
        return this.#leaf(filter, (value) => `ifnull(${value} ${filter.comparison} ${this.#bind(filter.value)}, 0)`);
      case "in":
        return this.#leaf(filter, (value) => `ifnull(${value} IN ${this.#list(filter.values)}, 0)`);
      default:
        return filter satisfies never;
    }
  }

  #leaf(
    { field, kind }: { readonly field: BoundField; readonly kind: BoundKind },
    condition: (value: string) => string,
  ): string {
    return field.scope === "m"
      ? this.#userValue(field, kind, condition)
      : `(${condition(this.#target.column(field.name))})`;
  }

  #userValue(field: BoundField, kind: BoundKind | undefined, condition: (value: string) => string | undefined): string {
    const userKeys = this.#target.userKeys;
    if (userKeys === undefined) {
      throw new HoldfastError(
        "BUG",
        "A filter on a user's own key was compiled where there are none; please report it.",
      );
    }
    const name = this.#bind(field.name);
    const parts = [`"property".event = ${userKeys.owner}`, `"property".name = ${name}`];
    if (kind !== undefined) parts.push(`"property".kind = '${kind}'`);
    const compared = condition('"property".value');
    if (compared !== undefined) parts.push(compared);
    return `EXISTS (SELECT 1 FROM ${userKeys.table} AS "property" WHERE ${parts.join(" AND ")})`;
  }

  #bind(value: BoundValue): string {
    this.parameters.push(toParameter(value));
    return "?";
  }

  #list(values: readonly BoundValue[]): string {
    const { sql, parameters } = inList(values.map(toParameter));
    this.parameters.push(...parameters);
    return sql;
  }
}

/** Bools are stored as 0 and 1, integral numbers as INTEGER where exact. */
function toParameter(value: BoundValue): string | number | bigint {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return value;
}

/** A chain of 5,000 operands would be 5,000 deep for SQLite's parser, which stops at 1,000. */
function balanced(parts: readonly string[], operator: "AND" | "OR"): string {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const middle = parts.length >> 1;
  return `(${balanced(parts.slice(0, middle), operator)} ${operator} ${balanced(parts.slice(middle), operator)})`;
}
