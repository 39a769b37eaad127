import { formatDatetime, parseDate, parseDatetime } from "../contract/datetime.ts";
import type { Comparison, FieldReference, Filter, Literal } from "../contract/filter-tree.ts";
import { LIMITS } from "../contract/limits.ts";
import { utf8Length } from "../contract/text.ts";
import type { HoldfastError } from "../errors/index.ts";
import { canonicalise } from "./canonical.ts";
import { invalidFilter } from "./invalid-filter.ts";
import { parseNumber } from "./number-text.ts";
import { Scanner } from "./scanner.ts";
import { isKeyword } from "./words.ts";

const COMPARISON = /<=|>=|<>|!=|=|<|>/y;
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** What cannot follow a number directly: `1abc`, `1.`, `1AND` are no two tokens. */
const AFTER_NUMBER = /[\p{L}\p{Nd}_.'"]/uy;
/** A bare field; a declared key may start with a digit, which is read as one only here. */
const FIELD_WORD = /[\p{L}\p{Nd}_]+/uy;
const EQUALS_SIGN = /=/y;
const DOUBLE_QUOTE = /"/y;
const NAME = /[\p{L}_][\p{L}\p{Nd}_]*/uy;

/**
 * Reads the text form of a filter: exactly the grammar of docs/filters.md, nothing skipped.
 * An empty or blank text is no filter, `all`.
 *
 * @returns a canonical tree
 * @throws FILTER_SYNTAX with `details.position` (UTF-16 units from 0) and `details.expected`; INVALID_FILTER for a
 *   text or tree beyond the limits
 */
export function parse(text: string): Filter {
  if (typeof text !== "string") throw invalidFilter("A filter in text form must be a string.");
  if (text.length > LIMITS.filterTextBytesMax || utf8Length(text) > LIMITS.filterTextBytesMax) {
    throw invalidFilter(`A filter in text form has at most ${LIMITS.filterTextBytesMax} bytes.`, {
      limit: LIMITS.filterTextBytesMax,
    });
  }
  return canonicalise(new Parser(text).parse());
}

class Parser {
  readonly #scanner: Scanner;
  #depth = 0;

  constructor(text: string) {
    this.#scanner = new Scanner(text);
  }

  parse(): Filter {
    if (this.#scanner.atEnd()) return { op: "all" };
    const filter = this.#or();
    if (!this.#scanner.atEnd()) throw this.#scanner.expected("AND", "OR", "the end of the filter");
    return filter;
  }

  #or(): Filter {
    const first = this.#and();
    const operands = [first];
    while (this.#scanner.keyword("OR")) operands.push(this.#and());
    return operands.length === 1 ? first : { op: "or", operands };
  }

  #and(): Filter {
    const first = this.#unary();
    const operands = [first];
    while (this.#scanner.keyword("AND")) operands.push(this.#unary());
    return operands.length === 1 ? first : { op: "and", operands };
  }

  #unary(): Filter {
    if (this.#scanner.keyword("NOT")) return this.#nested(() => ({ op: "not", operand: this.#unary() }));
    if (!this.#scanner.symbol("(")) return this.#leaf();
    return this.#nested(() => {
      const inner = this.#or();
      if (!this.#scanner.symbol(")")) throw this.#scanner.expected("AND", "OR", '")"');
      return inner;
    });
  }

  /** Counts what the reader itself nests, so that 5,000 parentheses end in an error and not in the stack. */
  #nested(read: () => Filter): Filter {
    if (this.#depth >= LIMITS.filterDepthMax) {
      throw this.#scanner.error(`at most ${LIMITS.filterDepthMax} levels of NOT and parentheses are read`, []);
    }
    this.#depth += 1;
    const filter = read();
    this.#depth -= 1;
    return filter;
  }

  #leaf(): Filter {
    if (this.#scanner.keyword("TRUE")) return { op: "all" };
    if (this.#scanner.keyword("FALSE")) return { op: "none" };
    const field = this.#field();
    if (this.#scanner.keyword("IS")) {
      const negated = this.#scanner.keyword("NOT");
      if (!this.#scanner.keyword("NULL")) throw this.#scanner.expected(...(negated ? [] : ["NOT"]), "NULL");
      return negate(negated, { op: "isNull", field });
    }
    const negated = this.#scanner.keyword("NOT");
    if (this.#scanner.keyword("IN")) return negate(negated, { op: "in", field, values: this.#list() });
    if (this.#scanner.keyword("BETWEEN")) return negate(negated, this.#between(field));
    if (negated) throw this.#scanner.expected("IN", "BETWEEN");
    return this.#comparison(field);
  }

  #comparison(field: FieldReference): Filter {
    const comparison = this.#scanner.token(COMPARISON);
    switch (comparison) {
      case "=":
        return { op: "equals", field, value: this.#value() };
      case "!=":
      case "<>":
        return negate(true, { op: "equals", field, value: this.#value() });
      case "<":
      case "<=":
      case ">":
      case ">=":
        return ordering(field, comparison, this.#value());
      default:
        throw this.#scanner.expected("a comparison", "IN", "NOT", "BETWEEN", "IS");
    }
  }

  #between(field: FieldReference): Filter {
    const low = this.#value();
    if (!this.#scanner.keyword("AND")) throw this.#scanner.expected("AND");
    const high = this.#value();
    return { op: "and", operands: [ordering(field, ">=", low), ordering(field, "<=", high)] };
  }

  #list(): readonly Literal[] {
    if (!this.#scanner.symbol("(")) throw this.#scanner.expected('"("');
    if (this.#scanner.symbol(")")) return [];
    const values = [this.#value()];
    while (this.#scanner.symbol(",")) values.push(this.#value());
    if (!this.#scanner.symbol(")")) throw this.#scanner.expected('","', '")"');
    return values;
  }

  #field(): FieldReference {
    const quoted = this.#scanner.quoted('"');
    if (quoted !== undefined) return { scope: "declared", name: quoted };
    const word = this.#scanner.peek(FIELD_WORD);
    if (word === undefined || isKeyword(word)) throw this.#scanner.expected("a field", "NOT", '"("', "TRUE", "FALSE");
    this.#scanner.token(FIELD_WORD);
    if ((word !== "m" && word !== "metadata") || !this.#scanner.adjacent(".")) return { scope: "declared", name: word };
    return { scope: "m", name: this.#userKey() };
  }

  #userKey(): string {
    const key = this.#scanner.adjacentQuoted('"');
    if (key !== undefined) return key;
    const name = this.#scanner.adjacentPeek(NAME);
    if (name === undefined || isKeyword(name)) {
      throw this.#scanner.expectedHere("a name", 'a name in double quotes such as m."Customer ID"');
    }
    this.#scanner.token(NAME);
    return name;
  }

  #value(): Literal {
    const text = this.#scanner.quoted("'");
    if (text !== undefined) return text;
    if (this.#scanner.peek(NUMBER) !== undefined) return this.#number();
    if (this.#scanner.keyword("TRUE")) return true;
    if (this.#scanner.keyword("FALSE")) return false;
    if (this.#scanner.keyword("TIMESTAMP")) return this.#instant(parseDatetime);
    if (this.#scanner.keyword("DATE")) return this.#instant((date) => parseDate(date) ?? parseDatetime(date));
    if (this.#scanner.peekKeyword("NULL")) {
      throw this.#scanner.error("nothing equals NULL; write IS NULL or IS NOT NULL", ["a value"]);
    }
    throw this.#noValue();
  }

  /** What people write who come from other languages is named, so that they need not look up the grammar. */
  #noValue(): HoldfastError<"FILTER_SYNTAX"> {
    const expected = ["a text in single quotes", "a number", "true", "false", "timestamp", "date"];
    const position = this.#scanner.position();
    if (this.#scanner.peek(EQUALS_SIGN) !== undefined)
      return this.#scanner.error("equality is one =, not two", expected, position);
    if (this.#scanner.peek(DOUBLE_QUOTE) !== undefined)
      return this.#scanner.error("a text stands in single quotes; double quotes are for keys", expected, position);
    if (this.#scanner.peek(NAME) !== undefined)
      return this.#scanner.error("a text stands in single quotes, such as 'home'", expected, position);
    return this.#scanner.expected(...expected);
  }

  #number(): number | bigint {
    const text = this.#scanner.peek(NUMBER) ?? "";
    const value = parseNumber(text);
    if (value === undefined) throw this.#scanner.error("the number cannot be held without changing it", ["a number"]);
    this.#scanner.token(NUMBER);
    if (this.#scanner.adjacentPeek(AFTER_NUMBER) !== undefined) throw this.#scanner.expected("the end of the number");
    return value;
  }

  #instant(read: typeof parseDate): Literal {
    const parenthesised = this.#scanner.symbol("(");
    const at = this.#scanner.position();
    const text = this.#scanner.quoted("'");
    if (text === undefined) throw this.#scanner.expected("a text in single quotes");
    const instant = read(text);
    if (instant === undefined) {
      throw this.#scanner.error("the text is no instant; write it as '2026-05-01T12:00:00Z'", ["an RFC 3339 text"], at);
    }
    if (parenthesised && !this.#scanner.symbol(")")) throw this.#scanner.expected('")"');
    return { datetime: formatDatetime(instant.microseconds) };
  }
}

function ordering(field: FieldReference, comparison: Comparison, value: Literal): Filter {
  return { op: "ordering", field, comparison, value };
}

function negate(negated: boolean, filter: Filter): Filter {
  return negated ? { op: "not", operand: filter } : filter;
}
