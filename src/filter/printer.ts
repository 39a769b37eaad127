import { formatDatetime } from "../contract/datetime.ts";
import type { FieldReference, Filter, Literal } from "../contract/filter-tree.ts";
import { type BoundValue, isInt64 } from "../contract/property-values.ts";
import type { BoundField, BoundFilter, BoundKind } from "./bound-filter.ts";
import { canonicalise } from "./canonical.ts";
import { BARE_NAME, isKeyword } from "./words.ts";

/**
 * Writes a filter in the text form: `parse(print(f))` equals `f` for every canonical tree (F7).
 *
 * @throws INVALID_FILTER, PROPERTY_TYPE_MISMATCH for what is no tree
 */
export function print(filter: Filter): string {
  return printNode(canonicalise(filter), {
    field: (field) => printField(field as FieldReference),
    value: (value) => printLiteral(value as Literal),
  });
}

/** Writes a bound filter: its type decides how a number looks, a float with a point or an exponent, an int without. */
export function printBound(filter: BoundFilter): string {
  return printNode(filter, {
    field: (field) => printField(field as BoundField),
    value: (value, kind) => printBoundValue(value as BoundValue, kind ?? "string"),
  });
}

type Node = Filter | BoundFilter;

interface Leaves {
  field(field: FieldReference | BoundField): string;
  value(value: Literal | BoundValue, kind: BoundKind | undefined): string;
}

function printNode(node: Node, leaves: Leaves): string {
  switch (node.op) {
    case "or":
      return node.operands.map((operand) => printNode(operand, leaves)).join(" OR ");
    case "and":
      return node.operands.map((operand) => printTight(operand, leaves, ["or"])).join(" AND ");
    case "not":
      return printNot(node.operand, leaves);
    default:
      return printLeaf(node, leaves, "");
  }
}

/** The node as an operand of something that binds tighter than the operators in `loose`. */
function printTight(node: Node, leaves: Leaves, loose: readonly string[]): string {
  const text = printNode(node, leaves);
  return loose.includes(node.op) ? `(${text})` : text;
}

function printNot(operand: Node, leaves: Leaves): string {
  switch (operand.op) {
    case "equals":
    case "in":
    case "isNull":
      return printLeaf(operand, leaves, "NOT ");
    default:
      return `NOT ${printTight(operand, leaves, ["and", "or", "ordering"])}`;
  }
}

type Leaf = Exclude<Node, { op: "and" | "or" | "not" }>;

function printLeaf(leaf: Leaf, leaves: Leaves, negation: "" | "NOT "): string {
  switch (leaf.op) {
    case "all":
      return "TRUE";
    case "none":
      return "FALSE";
    case "isNull":
      return `${leaves.field(leaf.field)} IS ${negation}NULL`;
    case "equals":
      return `${leaves.field(leaf.field)} ${negation === "" ? "=" : "!="} ${leaves.value(leaf.value, kindOfLeaf(leaf))}`;
    case "ordering":
      return `${leaves.field(leaf.field)} ${leaf.comparison} ${leaves.value(leaf.value, kindOfLeaf(leaf))}`;
    case "in": {
      const values = leaf.values.map((value) => leaves.value(value, kindOfLeaf(leaf)));
      return `${leaves.field(leaf.field)} ${negation}IN (${values.join(", ")})`;
    }
    default:
      return leaf satisfies never;
  }
}

function kindOfLeaf(leaf: Leaf): BoundKind | undefined {
  return "kind" in leaf ? leaf.kind : undefined;
}

function printField(field: FieldReference | BoundField): string {
  const bare = BARE_NAME.test(field.name) && !isKeyword(field.name);
  const name = bare ? field.name : `"${field.name.replaceAll('"', '""')}"`;
  return field.scope === "m" ? `m.${name}` : name;
}

function printLiteral(literal: Literal): string {
  switch (typeof literal) {
    case "string":
      return printString(literal);
    case "number":
      return printNumber(literal);
    case "object":
      return `timestamp ${printString(literal.datetime)}`;
    default:
      return String(literal);
  }
}

function printBoundValue(value: BoundValue, kind: BoundKind): string {
  if (typeof value === "string") return printString(value);
  if (typeof value === "bigint")
    return kind === "datetime" ? `timestamp ${printString(formatDatetime(value))}` : `${value}`;
  if (typeof value === "boolean") return String(value);
  const text = printNumber(value);
  return kind === "float" && /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function printString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Every digit of an integral value: JavaScript's shortest form of 2^60 ends in 7000 and is another number. */
function printNumber(value: number): string {
  if (!Number.isInteger(value)) return String(value);
  const exact = BigInt(value);
  return isInt64(exact) ? exact.toString() : value.toExponential();
}
