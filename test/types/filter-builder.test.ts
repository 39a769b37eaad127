import { describe, expectTypeOf, it } from "vitest";
import type { Filter } from "../../src/contract/filter-tree.ts";
import type { PropertySchema } from "../../src/contract/properties.ts";
import type { Where } from "../../src/contract/where.ts";
import { filter } from "../../src/filter/index.ts";

const SCHEMA = {
  kind: "string",
  year: "int",
  at: "datetime",
  score: "float",
  draft: "bool",
  not: "string",
} as const satisfies PropertySchema;
type Docs = typeof SCHEMA;

/** Never called: what is wrong here must not compile, and the compiler is the test. */
function wrong(): void {
  const f = filter(SCHEMA);
  // @ts-expect-error a field that is not declared
  f.yaer.eq(1);
  // @ts-expect-error a field that is not declared, by name
  f.field("yaer");
  // @ts-expect-error a text for an int
  f.year.eq("2024");
  // @ts-expect-error a boolean for an int
  f.year.gt(true);
  // @ts-expect-error a number for a string
  f.kind.eq(5);
  // @ts-expect-error a mixed list
  f.kind.in(["a", 5]);
  // @ts-expect-error no value
  f.kind.eq(undefined);
  // @ts-expect-error null is asked for with isNull
  f.kind.eq(null);
  // @ts-expect-error strings have no order
  f.kind.gt("a");
  // @ts-expect-error bools have no order
  f.draft.lt(true);
  // @ts-expect-error a number is no instant
  f.at.gte(1_700_000_000);
  // @ts-expect-error a text for a float
  f.score.between("1", "2");
  // @ts-expect-error a text has no order on a user's key either
  f.m("topic").gt("a");
  // @ts-expect-error `not` is the connective; the property is reached by field("not")
  f.not.eq("a");
  // @ts-expect-error a builder function answers a filter
  const where: Where<Docs> = (g) => g.kind;
  void where;
}

describe("the builder's types", () => {
  it("[F4] a wrong field or a wrong type does not compile", () => {
    expectTypeOf(wrong).returns.toBeVoid();
  });

  it("[F4] what fits compiles, for a schema known at compile time and for one that is not", () => {
    const f = filter(SCHEMA);
    expectTypeOf(f.year.between(1, 2n)).toEqualTypeOf<Filter>();
    expectTypeOf(f.at.gte(new Date(0))).toEqualTypeOf<Filter>();
    expectTypeOf(f.at.eq("2024-01-01T00:00:00Z")).toEqualTypeOf<Filter>();
    expectTypeOf(f.field("not").ne("a")).toEqualTypeOf<Filter>();
    expectTypeOf(f.m("topic").in(["a", 1, true])).toEqualTypeOf<Filter>();
    const dynamic = filter(SCHEMA as PropertySchema);
    expectTypeOf(dynamic.field("year").gt(5)).toEqualTypeOf<Filter>();
    expectTypeOf(dynamic.field("kind").eq("a")).toEqualTypeOf<Filter>();
    const where: Where<Docs> = (g) => g.and(g.kind.eq("fact"), g.year.gte(2024));
    expectTypeOf(where).toExtend<Where<Docs>>();
  });
});
