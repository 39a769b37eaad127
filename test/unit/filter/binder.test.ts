import { describe, expect, it } from "vitest";
import type { Filter, Literal } from "../../../src/contract/filter-tree.ts";
import { bindFilter, bindWhere, type FilterSchema, foldsToAll, foldsToNone } from "../../../src/filter/index.ts";
import { FILTER_SCHEMA } from "./arbitraries.ts";

const code = (name: string): unknown => expect.objectContaining({ code: name });
const declared = (name: string, value: Literal): Filter => ({
  op: "equals",
  field: { scope: "declared", name },
  value,
});
const m = (name: string, value: Literal): Filter => ({ op: "equals", field: { scope: "m", name }, value });

describe("binding", () => {
  it("[F4] a value is bound to the canonical one of its type", () => {
    const bound = (name: string, value: Literal) => bindFilter(declared(name, value), FILTER_SCHEMA);
    expect(bound("n", 1)).toMatchObject({ kind: "int", value: 1n });
    expect(bound("score", 1n)).toMatchObject({ kind: "float", value: 1 });
    expect(bound("kind", "a")).toMatchObject({ kind: "string", value: "a" });
    expect(bound("draft", true)).toMatchObject({ kind: "bool", value: true });
    expect(bound("at", { datetime: "1970-01-01T00:00:01Z" })).toMatchObject({ kind: "datetime", value: 1_000_000n });
    expect(bindFilter(m("x", 1n), FILTER_SCHEMA)).toMatchObject({
      field: { scope: "m", name: "x" },
      kind: "number",
      value: 1,
    });
  });

  it.each<[string, Literal]>([
    ["kind", 1],
    ["kind", { datetime: "2024-01-01T00:00:00Z" }],
    ["n", "1"],
    ["n", 1.5],
    ["n", true],
    ["n", 2n ** 63n],
    ["n", { datetime: "2024-01-01T00:00:00Z" }],
    ["score", "1"],
    ["score", false],
    ["score", 2n ** 53n + 1n],
    ["draft", 1],
    ["draft", "true"],
    ["at", "2024-01-01T00:00:00Z"],
    ["at", 1_700_000_000],
  ])("[F4] %s compared with %s is refused", (name, value) => {
    const leaf = declared(name, value);
    const everywhere: readonly Filter[] = [
      leaf,
      { op: "not", operand: leaf },
      { op: "and", operands: [{ op: "none" }, leaf] },
      { op: "or", operands: [{ op: "all" }, { op: "and", operands: [leaf] }] },
      { op: "in", field: { scope: "declared", name }, values: [value, value] },
    ];
    for (const filter of everywhere)
      expect(() => bindFilter(filter, FILTER_SCHEMA)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
  });

  it("[F4] a number that may have been rounded before we saw it is refused on an int key", () => {
    // biome-ignore lint/correctness/noPrecisionLoss: the loss is what is tested
    expect(() => bindFilter(declared("n", 9007199254740993), FILTER_SCHEMA)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
    expect(bindFilter(declared("n", 9007199254740993n), FILTER_SCHEMA)).toMatchObject({ value: 9007199254740993n });
  });

  it("[F4] an unknown field is refused at any depth, also where it decides nothing", () => {
    const unknown: readonly Filter[] = [
      declared("nope", 1),
      { op: "in", field: { scope: "declared", name: "nope" }, values: [] },
      { op: "isNull", field: { scope: "declared", name: "toString" } },
      { op: "isNull", field: { scope: "declared", name: "__proto__" } },
    ];
    for (const leaf of unknown) {
      expect(() => bindFilter({ op: "or", operands: [{ op: "all" }, leaf] }, FILTER_SCHEMA)).toThrow(
        code("UNDECLARED_PROPERTY"),
      );
    }
  });

  it("[F4] a lone surrogate is refused in a value", () => {
    expect(() => bindFilter(declared("kind", "\ud800"), FILTER_SCHEMA)).toThrow(code("INVALID_TEXT"));
    expect(() => bindFilter(m("x", "\ud800"), FILTER_SCHEMA)).toThrow(code("INVALID_TEXT"));
    expect(() => bindFilter(m("\ud800", 1), FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
    expect(() => bindFilter(m("", 1), FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
  });

  it("[F6] only numbers and datetimes are ordered", () => {
    for (const where of ["kind > 'a'", "draft >= true", "m.x < 'a'", "m.x <= false", "kind BETWEEN 'a' AND 'b'"]) {
      expect(() => bindWhere(where, FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
    }
  });

  it("[F4] values of several types in one list are refused", () => {
    expect(() => bindWhere("m.x IN (1, 'a')", FILTER_SCHEMA)).toThrow(code("INVALID_FILTER"));
    expect(() => bindWhere("n IN (1, 'a')", FILTER_SCHEMA)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
    expect(() => bindWhere("m.x IN (1, 1.5, 9007199254740993)", FILTER_SCHEMA)).not.toThrow();
  });

  it("[F4] a node that the backend cannot evaluate is refused, wherever it stands and whatever it folds to", () => {
    const schema: FilterSchema = { ...FILTER_SCHEMA, filterNodes: ["all", "none", "equals", "and", "or"] };
    expect(() => bindWhere("n = 1 OR n = 2", schema)).not.toThrow();
    expect(bindWhere("n = 1 OR n = 2", schema)).toMatchObject({ op: "or" });
    for (const where of ["n > 1", "n != 1", "n IN (1, 2)", "n IN ()", "n IS NULL", "FALSE AND n > 1"]) {
      expect(() => bindWhere(where, schema)).toThrow(code("UNSUPPORTED_FILTER"));
    }
  });

  it("[S4] m.x is the declared x where there is one, else the user's own", () => {
    expect(bindWhere("m.n = 1", FILTER_SCHEMA)).toEqual(bindWhere("n = 1", FILTER_SCHEMA));
    expect(() => bindWhere("m.n = 'a'", FILTER_SCHEMA)).toThrow(code("PROPERTY_TYPE_MISMATCH"));
    const memory: FilterSchema = { declared: {}, system: { session: "string" }, userKeys: true };
    expect(bindWhere("session = 'a'", memory)).toMatchObject({ field: { scope: "system", name: "session" } });
    expect(bindWhere("m.session = 'a'", memory)).toMatchObject({ field: { scope: "m", name: "session" } });
  });

  it("equalities of one field are joined into a list, under negation too", () => {
    expect(bindWhere("n = 1 OR kind = 'a' OR n = 2 OR n IN (3, 4)", FILTER_SCHEMA)).toMatchObject({
      op: "or",
      operands: [
        { op: "in", field: { name: "n" }, values: [1n, 2n, 3n, 4n] },
        { op: "equals", field: { name: "kind" } },
      ],
    });
    expect(bindWhere("n != 1 AND n != 2", FILTER_SCHEMA)).toMatchObject({
      op: "not",
      operand: { op: "in", values: [1n, 2n] },
    });
    expect(bindWhere("m.x = 1 OR m.x = '1'", FILTER_SCHEMA)).toMatchObject({
      op: "or",
      operands: [{ op: "equals" }, { op: "equals" }],
    });
    expect(bindWhere("n = 1 AND n = 2", FILTER_SCHEMA)).toMatchObject({ op: "and" });
  });
});

describe("folding", () => {
  it.each([
    "",
    "TRUE",
    "NOT FALSE",
    "n NOT IN ()",
    "NOT (n IN ())",
    "n = 1 OR TRUE",
    "n = 1 OR n NOT IN ()",
    "TRUE AND (n NOT IN () OR n = 1)",
    "NOT (n = 1 AND FALSE)",
    "NOT (n = 1 AND n IN ())",
    "NOT NOT TRUE",
  ])("[F3] %j folds to all", (where) => {
    const bound = bindWhere(where, FILTER_SCHEMA);
    expect(foldsToAll(bound)).toBe(true);
    expect(foldsToNone(bound)).toBe(false);
    expect(
      foldsToNone(bindWhere({ op: "not", operand: { op: "or", operands: [bound as Filter] } }, FILTER_SCHEMA)),
    ).toBe(true);
  });

  it.each(["n = 1", "n IS NULL OR n IS NOT NULL", "n != 1", "n NOT IN (1, 2)", "NOT (n IN () OR n = 1)"])(
    "[F3] %j does not fold to a constant",
    (where) => {
      const bound = bindWhere(where, FILTER_SCHEMA);
      expect(foldsToAll(bound) || foldsToNone(bound)).toBe(false);
    },
  );
});
