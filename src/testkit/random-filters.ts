import type { Comparison, Filter, FilterOperator, Literal } from "../contract/filter-tree.ts";
import type { PropertyInputValue, PropertyKind, PropertySchema } from "../contract/properties.ts";
import type { RecordInput } from "../contract/store.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { HOSTILE_TEXTS } from "./texts.ts";

/** Two keys of each kind, so that a compiler that mixes up columns shows; `never` has no value anywhere. */
export const RANDOM_SCHEMA: PropertySchema = {
  s: "string",
  s_2: "string",
  i: "int",
  i_2: "int",
  f: "float",
  f_2: "float",
  b: "bool",
  b_2: "bool",
  d: "datetime",
  d_2: "datetime",
  never: "int",
};

const KEYS: readonly string[] = Object.keys(RANDOM_SCHEMA);

/** Few values a kind, so that equality often holds; extremes and neighbours that rounding would join. */
const POOLS: Readonly<Record<PropertyKind, readonly (string | number | bigint | boolean)[]>> = {
  string: [...HOSTILE_TEXTS.slice(0, 22), "a", "b", "A"],
  int: [0, 1, -1, 2, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n), -(2n ** 53n) - 1n],
  float: [0, 0.1 + 0.2, 0.3, 1, -1.5, 1e21, -1e300, 2 ** 53, 5n, Number.MIN_VALUE],
  bool: [true, false],
  datetime: [
    "2024-01-01T00:00:00Z",
    "2024-01-01T00:00:00.000001Z",
    "2023-12-31T18:30:00-05:30",
    "1969-12-31T23:59:59.999999Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
  ],
};

const ORDERED: ReadonlySet<PropertyKind> = new Set(["int", "float", "datetime"]);
const COMPARISONS: readonly Comparison[] = ["<", "<=", ">", ">="];

/** Half of the values are absent. */
export function randomRecord(random: SeededRandom, id: string, dimensions: number): RecordInput {
  const properties: Record<string, PropertyInputValue> = {};
  for (const [key, kind] of Object.entries(RANDOM_SCHEMA)) {
    if (key !== "never" && random.chance(0.5)) properties[key] = random.pick(POOLS[kind]);
    else if (random.chance(0.2)) properties[key] = null;
  }
  return { id, vector: random.vector(dimensions), properties };
}

/** A tree of at most `depth` levels of connectives, of the nodes that the backend evaluates. */
export function randomFilter(random: SeededRandom, depth: number, nodes: readonly FilterOperator[]): Filter {
  const connectives = (["and", "or", "not"] as const).filter((op) => nodes.includes(op));
  if (depth === 0 || connectives.length === 0 || random.chance(0.3)) return randomLeaf(random, nodes);
  const op = random.pick(connectives);
  if (op === "not") return { op, operand: randomFilter(random, depth - 1, nodes) };
  const operands = Array.from({ length: random.below(4) }, () => randomFilter(random, depth - 1, nodes));
  return { op, operands };
}

function randomLeaf(random: SeededRandom, nodes: readonly FilterOperator[]): Filter {
  const leaves = (["equals", "ordering", "in", "isNull", "equals", "ordering", "in", "all", "none"] as const).filter(
    (op) => nodes.includes(op),
  );
  const op = random.pick(leaves);
  if (op === "all" || op === "none") return { op };
  const ordering = op === "ordering";
  const name = random.pick(KEYS.filter((key) => !ordering || ORDERED.has(kindOf(key))));
  const field = { scope: "declared", name } as const;
  if (op === "isNull") return { op, field };
  const literal = (): Literal => randomLiteral(random, kindOf(name));
  if (op === "in") return { op, field, values: Array.from({ length: random.below(5) }, literal) };
  if (op === "ordering") return { op, field, comparison: random.pick(COMPARISONS), value: literal() };
  return { op, field, value: literal() };
}

function randomLiteral(random: SeededRandom, kind: PropertyKind): Literal {
  const value = random.pick(POOLS[kind]);
  return kind === "datetime" ? { datetime: String(value) } : value;
}

function kindOf(key: string): PropertyKind {
  return RANDOM_SCHEMA[key] ?? "string";
}

/** The fields of a tree's leaves. */
export function leafFields(filter: Filter): readonly string[] {
  switch (filter.op) {
    case "all":
    case "none":
      return [];
    case "and":
    case "or":
      return filter.operands.flatMap(leafFields);
    case "not":
      return leafFields(filter.operand);
    default:
      return [filter.field.name];
  }
}
