import { describe, expect, it } from "vitest";
import type { Filter } from "../../../src/contract/filter-tree.ts";
import type { Where } from "../../../src/contract/where.ts";
import { bindWhere, type FilterSchema, filter, parse, print, toFilter } from "../../../src/filter/index.ts";
import { FILTER_SCHEMA } from "./arbitraries.ts";

const code = (name: string): unknown => expect.objectContaining({ code: name });
const SCHEMA = {
  kind: "string",
  year: "int",
  at: "datetime",
  score: "float",
  draft: "bool",
  note: "string",
  and: "int",
  constructor: "string",
} as const;
const DOCS: FilterSchema = { declared: SCHEMA, userKeys: true };

describe("the builder", () => {
  const f = filter(SCHEMA);
  const text = (tree: Filter): string => print(tree);

  it("[F1] makes the tree that the text form makes", () => {
    const from = new Date("2024-01-01T00:00:00Z");
    expect(
      text(
        f.and(
          f.kind.in(["fact", "task"]),
          f.year.gte(2024),
          f.not(f.draft.eq(true)),
          f.at.between(from, "2025-01-01T00:00:00Z"),
          f.note.isNull(),
        ),
      ),
    ).toBe(
      "kind IN ('fact', 'task') AND year >= 2024 AND draft != true AND at >= timestamp '2024-01-01T00:00:00.000000Z' AND at <= timestamp '2025-01-01T00:00:00.000000Z' AND note IS NULL",
    );
    expect(text(f.or(f.kind.ne("a"), f.kind.notIn(["a", "b"]), f.note.exists()))).toBe(
      "kind != 'a' OR kind NOT IN ('a', 'b') OR note IS NOT NULL",
    );
    expect(text(f.and(f.score.gt(1), f.score.lt(2), f.score.lte(2n)))).toBe("score > 1 AND score < 2 AND score <= 2");
    expect(text(f.at.eq({ epochNanoseconds: 1_000n }))).toBe("at = timestamp '1970-01-01T00:00:00.000001Z'");
    expect(text(f.and(f.m("topic").eq("home"), f.m("n").gt(1)))).toBe("m.topic = 'home' AND m.n > 1");
    expect(text(f.or(f.all, f.none))).toBe("TRUE OR FALSE");
    expect([f.and(), f.or()].map(text)).toEqual(["TRUE", "FALSE"]);
  });

  it("[V12] a key that is named like a method is reached by field(name), and one like a prototype's by name", () => {
    expect(text(f.field("and").eq(1))).toBe('"and" = 1');
    expect(text(f.constructor.eq("a"))).toBe("constructor = 'a'");
    expect(text(f.and(f.field("year").eq(1)))).toBe("year = 1");
  });

  it("[F4] an unknown field, no value and no array are errors of ours", () => {
    const loose = f as unknown as Record<string, Record<string, (value?: unknown) => Filter>>;
    expect(() => loose.yaer).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => loose.toString).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => loose.year?.eq?.(undefined)).toThrow(code("INVALID_FILTER"));
    expect(() => loose.year?.eq?.(null)).toThrow(code("INVALID_FILTER"));
    expect(() => loose.year?.in?.("12")).toThrow(code("INVALID_FILTER"));
    expect(() => bindWhere(() => loose.year?.eq?.("12") as Filter, DOCS)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
    expect(() => bindWhere(() => loose.kind?.gt?.("a") as Filter, DOCS)).toThrow(code("INVALID_FILTER"));
    expect(() => bindWhere(() => f.at.eq("yesterday"), DOCS)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
    expect(() => bindWhere(() => f.at.eq(new Date(Number.NaN)), DOCS)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
  });
});

describe("every door", () => {
  it("[F1] leads to the same bound filter", () => {
    const doors: readonly Where<typeof SCHEMA>[] = [
      "kind = 'fact' AND year >= 2024",
      { kind: "fact", year: { $gte: 2024 } },
      {
        op: "and",
        operands: [
          { op: "equals", field: { scope: "declared", name: "kind" }, value: "fact" },
          { op: "ordering", field: { scope: "declared", name: "year" }, comparison: ">=", value: 2024 },
        ],
      },
      (f) => f.and(f.kind.eq("fact"), f.year.gte(2024)),
    ];
    for (const where of doors) expect(bindWhere(where, DOCS)).toEqual(bindWhere(doors[0] ?? "", DOCS));
  });

  it("[F4] what is no filter is refused, and nothing is taken for no filter", () => {
    for (const where of [
      undefined,
      null,
      5,
      true,
      Symbol("x"),
      [],
      new Date(),
      () => undefined,
      () => "n = 1",
      async () => ({ op: "all" }),
    ]) {
      expect(() => bindWhere(where as unknown as Where, FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
    }
  });

  it("[F4] an object is told apart as tree or JSON also when a property is called op", () => {
    const schema: FilterSchema = { declared: { op: "string", field: "string", operand: "string" }, userKeys: false };
    expect(toFilter({ op: "all" }, schema)).toEqual(parse("op = 'all'"));
    expect(toFilter({ op: "equals" }, schema)).toEqual(parse("op = 'equals'"));
    expect(toFilter({ op: "not", operand: "a" }, schema)).toEqual(parse("op = 'not' AND operand = 'a'"));
    expect(toFilter({ op: "isNull", field: "a" }, schema)).toEqual(parse("op = 'isNull' AND field = 'a'"));
    expect(toFilter({ op: "isNull", field: { scope: "declared", name: "op" } }, schema)).toEqual(parse("op IS NULL"));
    expect(toFilter({ op: "and", operands: [] }, schema)).toEqual({ op: "all" });
    expect(toFilter({ op: "not", operand: { op: "none" } }, schema)).toEqual({ op: "not", operand: { op: "none" } });
    expect(toFilter({ op: "all" }, FILTER_SCHEMA)).toEqual({ op: "all" });
  });

  it("[F9] a value that looks like a statement is a value at every door", () => {
    const evil = "x' OR 1=1 --";
    const expected = bindWhere((f) => f.field("kind").eq(evil), FILTER_SCHEMA);
    expect(bindWhere({ kind: evil }, FILTER_SCHEMA)).toEqual(expected);
    expect(bindWhere("kind = 'x'' OR 1=1 --'", FILTER_SCHEMA)).toEqual(expected);
    expect(() => bindWhere({ [evil]: 1 }, FILTER_SCHEMA)).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => bindWhere({ n: evil }, FILTER_SCHEMA)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
  });
});
