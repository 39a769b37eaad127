import fc from "fast-check";
import type { FieldReference, Filter, Literal } from "../../../src/contract/filter-tree.ts";
import type { PropertyInput, PropertyKind, PropertySchema } from "../../../src/contract/properties.ts";
import type { UserInputValue } from "../../../src/contract/property-values.ts";
import type { FilterSchema } from "../../../src/filter/index.ts";
import type { TestRecord } from "./sqlite-records.ts";

/** No record has a value for a key that begins with `ghost`. */
export const SCHEMA: PropertySchema = {
  kind: "string",
  n: "int",
  score: "float",
  draft: "bool",
  at: "datetime",
  ghost_kind: "string",
  ghost_n: "int",
  ghost_score: "float",
  ghost_draft: "bool",
  ghost_at: "datetime",
};

export const FILTER_SCHEMA: FilterSchema = { declared: SCHEMA, userKeys: true };

export const HOSTILE_TEXTS: readonly string[] = [
  "",
  "a",
  "A",
  "ab",
  "O'Brien",
  'say "hi"',
  "back\\slash",
  "line\nbreak",
  "nul\0byte",
  "nul\0other",
  "\0",
  "%",
  "_",
  "a%",
  "a_",
  "😀",
  "\uffff",
  "é",
  "e\u0301",
  "x' OR 1=1 --",
  "1",
  "true",
  "null",
];

export const EXTREME_INTS: readonly bigint[] = [
  -(2n ** 63n),
  -(2n ** 63n) + 1n,
  -(2n ** 53n) - 1n,
  -(2n ** 32n),
  -(2n ** 31n) - 1n,
  -1n,
  0n,
  1n,
  2n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 32n + 1n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 2n,
  2n ** 63n - 1n,
];

const FLOATS: readonly number[] = [
  -Number.MAX_VALUE,
  -1e21,
  -(2 ** 53),
  -1.5,
  -1,
  -0,
  0,
  Number.MIN_VALUE,
  2.2250738585072014e-308,
  0.1,
  0.1 + 0.2,
  0.3,
  1,
  1.5,
  2 ** 53,
  2 ** 60,
  2 ** 63,
  1e21,
  1e300,
  Number.MAX_VALUE,
];
const INSTANTS: readonly string[] = [
  "0001-01-01T00:00:00.000000Z",
  "1969-12-31T23:59:59.999999Z",
  "1970-01-01T00:00:00.000000Z",
  "2023-12-31T18:30:00.000000Z",
  "2023-12-31T18:30:00.000001Z",
  "2024-02-29T12:00:00.500000Z",
  "9999-12-31T23:59:59.999999Z",
];

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
const int = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...EXTREME_INTS) },
  { weight: 1, arbitrary: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n) },
);
const float = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...FLOATS) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
const instant = fc.constantFrom(...INSTANTS).map((datetime) => ({ datetime }));

/** Unbound literals that fit a declared type. */
const LITERALS: Readonly<Record<PropertyKind, fc.Arbitrary<Literal>>> = {
  string: text,
  int,
  float,
  bool: fc.boolean(),
  datetime: instant,
};

export const USER_KEYS: readonly string[] = ["topic", "Customer ID", 'q"uote', "in", "größe", "nul\0key", "ghost"];
const USER_LITERALS: readonly fc.Arbitrary<Literal>[] = [text, fc.oneof(int, float), fc.boolean(), instant];

const isGhost = (name: string): boolean => name.startsWith("ghost");
const declaredNames = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...Object.keys(SCHEMA).filter((name) => !isGhost(name))) },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(SCHEMA).filter(isGhost)) },
);

const declaredLeaf: fc.Arbitrary<Filter> = fc
  .record({ name: declaredNames, shape: fc.constantFrom("equals", "in", "ordering", "isNull") })
  .chain(({ name, shape }) => {
    const kind = SCHEMA[name] ?? "string";
    return leaf({ scope: "declared", name }, shape, LITERALS[kind], kind !== "string" && kind !== "bool");
  });

const userLeaf: fc.Arbitrary<Filter> = fc
  .record({
    name: fc.constantFrom(...USER_KEYS),
    shape: fc.constantFrom("equals", "in", "ordering", "isNull"),
    kind: fc.nat(3),
  })
  .chain(({ name, shape, kind }) =>
    leaf({ scope: "m", name }, shape, USER_LITERALS[kind] ?? text, kind % 2 === 1 && kind !== 2),
  );

function leaf(
  field: FieldReference,
  shape: string,
  literal: fc.Arbitrary<Literal>,
  isOrdered: boolean,
): fc.Arbitrary<Filter> {
  const equals = literal.map((value): Filter => ({ op: "equals", field, value }));
  switch (shape) {
    case "in":
      return fc.array(literal, { maxLength: 6 }).map((values): Filter => ({ op: "in", field, values }));
    case "isNull":
      return fc.constant({ op: "isNull", field });
    case "ordering": {
      if (!isOrdered) return equals;
      const comparison = fc.constantFrom("<", "<=", ">", ">=");
      return fc
        .tuple(comparison, literal)
        .map(([order, value]): Filter => ({ op: "ordering", field, comparison: order, value }));
    }
    default:
      return equals;
  }
}

/** Mostly two or three; none and one are rare, since they fold. */
function operands(node: fc.Arbitrary<Filter>): fc.Arbitrary<readonly Filter[]> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.array(node, { minLength: 2, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(node, { maxLength: 1 }) },
  );
}

function tree(leaves: fc.Arbitrary<Filter>): fc.Arbitrary<Filter> {
  return fc.letrec<{ node: Filter }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5, depthSize: "medium", withCrossShrink: true },
      { weight: 3, arbitrary: leaves },
      { weight: 2, arbitrary: operands(tie("node")).map((nodes): Filter => ({ op: "and", operands: nodes })) },
      { weight: 2, arbitrary: operands(tie("node")).map((nodes): Filter => ({ op: "or", operands: nodes })) },
      { weight: 2, arbitrary: tie("node").map((operand): Filter => ({ op: "not", operand })) },
    ),
  })).node;
}

/** Trees over declared keys alone, as columns answer them. */
export const declaredTrees: fc.Arbitrary<Filter> = tree(declaredLeaf);
/** Trees over declared and users' own keys. */
export const mixedTrees: fc.Arbitrary<Filter> = tree(fc.oneof(declaredLeaf, userLeaf));
/** Trees with the constants too. */
export const anyTrees: fc.Arbitrary<Filter> = tree(
  fc.oneof(declaredLeaf, userLeaf, fc.constantFrom<Filter>({ op: "all" }, { op: "none" })),
);

const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null | undefined> =>
  fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: fc.constantFrom(null, undefined) });

const declared: fc.Arbitrary<PropertyInput> = fc.record(
  {
    kind: maybe(text),
    n: maybe(int),
    score: maybe(float),
    draft: maybe(fc.boolean()),
    at: maybe(fc.constantFrom(...INSTANTS)),
  },
  { requiredKeys: [] },
);
const userValue = fc.oneof(text, int, float, fc.boolean(), instant) as fc.Arbitrary<UserInputValue>;
const user = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...USER_KEYS.slice(0, -1)), userValue), { selector: ([key]) => key })
  .map(Object.fromEntries);

export const testRecords: fc.Arbitrary<readonly TestRecord[]> = fc.array(fc.record({ declared, user }), {
  minLength: 24,
  maxLength: 40,
});
