import { describe, expect, it } from "vitest";
import { bindFilter, canonicalise, type FilterSchema, fromJson, parse } from "../../../src/filter/index.ts";
import { FILTER_SCHEMA } from "./arbitraries.ts";

const code = (name: string): unknown => expect.objectContaining({ code: name });
const bind = (json: unknown, schema: FilterSchema = FILTER_SCHEMA) => bindFilter(fromJson(json, schema), schema);

describe("the JSON form", () => {
  it.each<[unknown, string]>([
    [{}, ""],
    [{ kind: "fact" }, "kind = 'fact'"],
    [{ kind: null }, "kind IS NULL"],
    [{ kind: { $eq: null } }, "kind IS NULL"],
    [{ kind: { $ne: null } }, "kind IS NOT NULL"],
    [{ kind: { $ne: "a" } }, "kind != 'a'"],
    [
      { kind: { $in: ["fact", "task"] }, n: { $gte: 2024, $lt: 2030 } },
      "kind IN ('fact', 'task') AND n >= 2024 AND n < 2030",
    ],
    [{ n: { $gte: 1, $lte: 2 } }, "n >= 1 AND n <= 2"],
    [{ n: { $gt: 1 } }, "n > 1"],
    [{ n: { $in: [] } }, "n IN ()"],
    [{ n: { $nin: [1, 2] } }, "n NOT IN (1, 2)"],
    [{ n: { $between: [1, 2] } }, "n BETWEEN 1 AND 2"],
    [{ n: { $isNull: true } }, "n IS NULL"],
    [{ n: { $isNull: false } }, "n IS NOT NULL"],
    [{ n: { $exists: true } }, "n IS NOT NULL"],
    [{ n: { $exists: false } }, "n IS NULL"],
    [{ $not: { draft: true } }, "NOT draft = true"],
    [{ $or: [{ n: 1 }, { n: 2, kind: "a" }] }, "n = 1 OR n = 2 AND kind = 'a'"],
    [{ $nor: [{ n: 1 }, { n: 2 }] }, "NOT (n = 1 OR n = 2)"],
    [{ $and: [] }, "TRUE"],
    [{ $or: [] }, "FALSE"],
    [{ $nor: [] }, "NOT FALSE"],
    [{ score: 0.5 }, "score = 0.5"],
    [{ at: { $gte: "2024-01-01T00:00:00+05:30" } }, "at >= timestamp '2023-12-31T18:30:00Z'"],
    [{ at: { $in: ["2024-01-01T00:00:00Z", new Date(0)] } }, "at IN (date '2024-01-01', date '1970-01-01')"],
    [{ at: { $datetime: "2024-01-01T00:00:00Z" } }, "at = date '2024-01-01'"],
    [{ n: "9007199254740993" }, "n = 9007199254740993"],
    [{ n: { $in: ["-9223372036854775808", 5] } }, "n IN (-9223372036854775808, 5)"],
    [{ "m.topic": "home" }, "m.topic = 'home'"],
    [{ "metadata.topic": { $ne: "home" } }, "m.topic != 'home'"],
    [{ m: { topic: "home", "Customer ID": { $gt: 5 } } }, "m.topic = 'home' AND m.\"Customer ID\" > 5"],
    [{ "m.a.b": 1 }, 'm."a.b" = 1'],
    [{ "m.x": { $int: "9007199254740993" } }, "m.x = 9007199254740993"],
    [{ "m.x": { $gte: { $datetime: "2024-01-01T00:00:00Z" } } }, "m.x >= date '2024-01-01'"],
    [{ "m.x": "9007199254740993" }, "m.x = '9007199254740993'"],
    [{ "m.x": "2024-01-01T00:00:00Z" }, "m.x = '2024-01-01T00:00:00Z'"],
  ])("[F4] %o is %s", (json, text) => {
    expect(canonicalise(fromJson(json, FILTER_SCHEMA))).toEqual(parse(text));
  });

  it.each<unknown>([
    undefined,
    null,
    [],
    "n = 1",
    5,
    new Map([["n", 1]]),
    { n: undefined },
    { n: [1] },
    { n: {} },
    { n: { $eq: undefined } },
    { n: { $eq: [1] } },
    { n: { $gte: 1, $lte: undefined } },
    { n: { $regex: "a" } },
    { n: { $GT: 1 } },
    { n: { gt: 1 } },
    { n: { toString: 1 } },
    { n: { $gt: null } },
    { n: { $in: 1 } },
    { n: { $in: [1, null] } },
    { n: { $in: [1, undefined] } },
    { n: { $in: [[1]] } },
    { n: { $in: new Array(2) } },
    { n: { $between: [1] } },
    { n: { $between: [1, 2, 3] } },
    { n: { $isNull: 1 } },
    { n: { $exists: "true" } },
    { n: { $not: { $gt: 1 } } },
    { $and: { n: 1 } },
    { $or: [1] },
    { $or: [[{ n: 1 }]] },
    { $not: [{ n: 1 }] },
    { $where: "1" },
    { $where: () => true },
    { m: {} },
    { m: { $or: [] } },
    { "m.x": { $int: 5 } },
    { "m.x": { $int: "05" } },
    { "m.x": { $int: "5", $datetime: "x" } },
    { "m.x": { a: { b: 1 } } },
    { "m.": 1 },
    { n: () => 1 },
    { n: Symbol("x") },
  ])("[F4] %o is refused as malformed", (json) => {
    expect(() => bind(json)).toThrow(code("INVALID_FILTER"));
  });

  it.each<unknown>([
    { n: "1" },
    { n: "5" },
    { n: "09007199254740993" },
    { n: "+9007199254740993" },
    { n: "9223372036854775808" },
    { n: "99999999999999999999" },
    { n: 2 ** 53 },
    { n: 1.5 },
    { n: true },
    { n: { $gt: "a" } },
    { score: "9007199254740993" },
    { score: Number.NaN },
    { kind: 1 },
    { draft: 1 },
    { at: "yesterday" },
    { at: 1_700_000_000 },
    { "m.x": { $datetime: "yesterday" } },
    { "m.n": "a" },
  ])("[F4] %o is refused for its type", (json) => {
    expect(() => bind(json)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
  });

  it("[F4] unknown fields are refused, and none is taken from a prototype", () => {
    for (const json of [
      { nope: 1 },
      { tenant: undefined },
      { toString: 1 },
      JSON.parse('{"__proto__": {"n": 1}}'),
      { "n ": 1 },
      { m: 1 },
    ]) {
      expect(() => bind(json)).toThrow(code("UNDECLARED_PROPERTY"));
    }
    class Where {
      get n(): number {
        return 1;
      }
    }
    for (const inheriting of [Object.create({ n: 1 }), new Where(), { $not: Object.create({ n: 1 }) }])
      expect(() => fromJson(inheriting, FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
    expect(fromJson(Object.create(null), FILTER_SCHEMA)).toEqual({ op: "all" });
    const store: FilterSchema = { declared: { n: "int" }, userKeys: false };
    expect(() => bind({ "m.x": 1 }, store)).toThrow(code("UNDECLARED_PROPERTY"));
    expect(() => bind({ m: { x: 1 } }, store)).toThrow(code("UNDECLARED_PROPERTY"));
  });

  it("[F7] deep, cyclic, wide and branch-sharing objects are refused before they end the stack", () => {
    let deep: unknown = { n: 1 };
    for (let level = 0; level < 200_000; level += 1) deep = { $not: deep };
    expect(() => bind(deep)).toThrow(code("INVALID_FILTER"));
    const cycle: Record<string, unknown> = {};
    cycle.$or = [{ n: 1 }, cycle];
    expect(() => bind(cycle)).toThrow(code("INVALID_FILTER"));
    let shared: unknown = { n: 1 };
    for (let level = 0; level < 60; level += 1) shared = { $and: [shared, shared] };
    expect(() => bind(shared)).toThrow(code("INVALID_FILTER"));
    expect(() => bind({ $or: Array.from({ length: 10_001 }, () => ({ n: 1 })) })).toThrow(code("INVALID_FILTER"));
    expect(() => bind({ n: { $in: Array.from({ length: 10_001 }, (_, n) => n) } })).toThrow(code("INVALID_FILTER"));
    expect(() => bind({ n: { $in: Array.from({ length: 10_000 }, (_, n) => n) } })).not.toThrow();
  });
});
