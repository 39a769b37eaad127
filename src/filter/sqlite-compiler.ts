import type { BoundValue } from "../contract/property-values.ts";
import { HoldfastError } from "../errors/index.ts";
import type { BoundFilter } from "./bound-filter.ts";
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

/** A leaf on a user's own key that one row of their table decides. */
type OwnLeaf = Extract<BoundFilter, { op: "equals" | "ordering" | "in" | "isNull" }>;

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
      case "or":
        return this.#connective(filter.op, filter.operands);
      case "isNull":
        if (filter.field.scope === "m") return `(NOT ${this.#exists([filter])})`;
        return `(${this.#target.column(filter.field.name)} IS NULL)`;
      case "equals":
      case "ordering":
      case "in":
        if (filter.field.scope === "m") return this.#exists([filter]);
        return `(${this.#compare(this.#target.column(filter.field.name), filter)})`;
      default:
        return filter satisfies never;
    }
  }

  /**
   * Leaves on users' own keys that any one row may decide share one subquery: each subquery is a cursor, opened
   * again for every record, and to open one SQLite walks the list of all that are open.
   */
  #connective(op: "and" | "or", operands: readonly BoundFilter[]): string {
    const shared: OwnLeaf[] = [];
    const others: BoundFilter[] = [];
    for (const operand of operands) {
      const leaf = op === "or" ? asHeld(operand) : asMissing(operand);
      if (leaf === undefined) others.push(operand);
      else shared.push(leaf);
    }
    const parts: string[] = [];
    if (shared.length > 0) parts.push(op === "or" ? this.#exists(shared) : `(NOT ${this.#exists(shared)})`);
    for (const operand of others) parts.push(this.node(operand));
    return balanced(parts, op === "and" ? "AND" : "OR");
  }

  /** Whether a property of the record satisfies one of the leaves; `isNull` stands for having the key at all. */
  #exists(leaves: readonly OwnLeaf[]): string {
    const userKeys = this.#target.userKeys;
    if (userKeys === undefined) {
      throw new HoldfastError(
        "BUG",
        "A filter on a user's own key was compiled where there are none; please report it.",
      );
    }
    const conditions = leaves.map((leaf) => this.#ownCondition(leaf));
    const any = balanced(conditions, "OR");
    return `EXISTS (SELECT 1 FROM ${userKeys.table} AS "property" WHERE "property".event = ${userKeys.owner} AND ${any})`;
  }

  #ownCondition(leaf: OwnLeaf): string {
    const named = `"property".name = ${this.#bind(leaf.field.name)}`;
    if (leaf.op === "isNull") return named;
    return `(${named} AND "property".kind = '${leaf.kind}' AND ${this.#compare('"property".value', leaf)})`;
  }

  /** A comparison that has an answer for NULL: IS for =, and 0 instead of nothing. */
  #compare(value: string, leaf: Exclude<OwnLeaf, { op: "isNull" }>): string {
    switch (leaf.op) {
      case "equals":
        return `${value} IS ${this.#bind(leaf.value)}`;
      case "ordering":
        return `ifnull(${value} ${leaf.comparison} ${this.#bind(leaf.value)}, 0)`;
      case "in":
        return `ifnull(${value} IN ${this.#list(leaf.values)}, 0)`;
      default:
        return leaf satisfies never;
    }
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

/** The leaf when it holds for a record that has a certain property. */
function asHeld(filter: BoundFilter): OwnLeaf | undefined {
  const isLeaf = filter.op === "equals" || filter.op === "ordering" || filter.op === "in";
  return isLeaf && filter.field.scope === "m" ? filter : undefined;
}

/** The leaf when the filter holds for a record that lacks a certain property. */
function asMissing(filter: BoundFilter): OwnLeaf | undefined {
  if (filter.op === "not") return asHeld(filter.operand);
  return filter.op === "isNull" && filter.field.scope === "m" ? filter : undefined;
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
