import { describe, expect, it } from "vitest";
import type { Filter } from "../../../src/contract/filter-tree.ts";
import { LIMITS } from "../../../src/contract/limits.ts";
import { bindFilter, canonicalise } from "../../../src/filter/index.ts";
import { FILTER_SCHEMA } from "./arbitraries.ts";

const field = { scope: "declared", name: "n" } as const;
const equals = (value: number | bigint): Filter => ({ op: "equals", field, value });
const not = (operand: Filter): Filter => ({ op: "not", operand });
const invalid = expect.objectContaining({ code: "INVALID_FILTER" });

function nested(depth: number): Filter {
  let filter = equals(1);
  // `and` of two, so that nothing folds away.
  for (let level = 1; level < depth; level += 1)
    filter = { op: level % 2 === 0 ? "and" : "or", operands: [filter, equals(level)] };
  return filter;
}

describe("the canonical tree", () => {
  it("[F1] connectives are flattened, those of one unwrapped, those of none constants, in order", () => {
    const [a, b, c] = [equals(1), equals(2), equals(3)];
    expect(
      canonicalise({ op: "and", operands: [a, { op: "and", operands: [b, { op: "and", operands: [c] }] }] }),
    ).toEqual({ op: "and", operands: [a, b, c] });
    expect(canonicalise({ op: "or", operands: [{ op: "or", operands: [a] }] })).toEqual(a);
    expect(canonicalise({ op: "and", operands: [] })).toEqual({ op: "all" });
    expect(canonicalise({ op: "or", operands: [{ op: "or", operands: [] }] })).toEqual({ op: "none" });
    expect(canonicalise({ op: "and", operands: [not(not({ op: "and", operands: [a, b] })), c] })).toEqual({
      op: "and",
      operands: [a, b, c],
    });
  });

  it("[F2] double negation is removed", () => {
    expect(canonicalise(not(not(equals(1))))).toEqual(equals(1));
    expect(canonicalise(not(not(not(equals(1)))))).toEqual(not(equals(1)));
  });

  it("[F1] an in of one value is equals, one of none stays", () => {
    expect(canonicalise({ op: "in", field, values: [1] })).toEqual(equals(1));
    expect(canonicalise({ op: "in", field, values: [] })).toEqual({ op: "in", field, values: [] });
  });

  it("[F7] one number has one literal, and one instant one text", () => {
    expect(canonicalise(equals(1n))).toEqual(equals(1));
    expect(canonicalise(equals(2 ** 60))).toEqual(equals(2n ** 60n));
    expect(canonicalise(equals(-0))).toEqual(equals(0));
    expect(canonicalise(equals(1e300))).toEqual(equals(1e300));
    const at = (datetime: string): Filter => ({ op: "equals", field, value: { datetime } });
    expect(canonicalise(at("2024-01-01T00:00:00+05:30"))).toEqual(at("2023-12-31T18:30:00.000000Z"));
  });

  it("[F4] what is no node of the union is refused, at any depth", () => {
    const broken: readonly unknown[] = [
      undefined,
      null,
      "n = 1",
      [],
      {},
      { op: "xor", operands: [] },
      { op: "toString" },
      { op: "all", extra: 1 },
      { op: "not" },
      { op: "not", operand: undefined },
      { op: "and" },
      { op: "and", operands: { 0: equals(1), length: 1 } },
      { op: "and", operands: new Array(2) },
      { op: "equals", field },
      { op: "equals", field, value: undefined },
      { op: "equals", field, value: null },
      { op: "equals", field, value: [1] },
      { op: "equals", field, value: {} },
      { op: "equals", field, value: Symbol("x") },
      { op: "equals", field: "n", value: 1 },
      { op: "equals", field: { scope: "other", name: "n" }, value: 1 },
      { op: "equals", field: { scope: "declared", name: 1 }, value: 1 },
      { op: "ordering", field, comparison: "!=", value: 1 },
      { op: "ordering", field, comparison: "=", value: 1 },
      { op: "in", field, values: new Set([1]) },
      { op: "in", field, values: [1, undefined] },
      { op: "in", field, values: [1, null] },
      { op: "in", field, values: new Array(2) },
      Object.create({ op: "all" }),
    ];
    for (const tree of broken) {
      expect(() => bindFilter(tree as Filter, FILTER_SCHEMA)).toThrow(invalid);
      expect(() => bindFilter({ op: "or", operands: [equals(1), not(tree as Filter)] }, FILTER_SCHEMA)).toThrow(
        invalid,
      );
      expect(() => canonicalise(tree as Filter)).toThrow(invalid);
    }
  });

  it("[F4] a number that is not finite and a text that is no instant are refused", () => {
    const mismatch = expect.objectContaining({ code: "PROPERTY_TYPE_MISMATCH" });
    for (const value of [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      { datetime: "2024-02-30T00:00:00Z" },
      new Date(Number.NaN),
    ]) {
      expect(() => canonicalise({ op: "equals", field, value } as Filter)).toThrow(mismatch);
    }
  });

  it("[F7] a depth of 100 is read, 101, a million and a cycle are refused", () => {
    expect(() => bindFilter(nested(LIMITS.filterDepthMax), FILTER_SCHEMA)).not.toThrow();
    expect(() => bindFilter(nested(LIMITS.filterDepthMax + 1), FILTER_SCHEMA)).toThrow(invalid);
    let deep = equals(1);
    for (let level = 0; level < 1_000_000; level += 1) deep = not(deep);
    expect(() => bindFilter(deep, FILTER_SCHEMA)).toThrow(invalid);
    const operands: Filter[] = [equals(1)];
    const cycle: Filter = { op: "and", operands };
    operands.push(cycle);
    expect(() => bindFilter(cycle, FILTER_SCHEMA)).toThrow(invalid);
  });

  it("[F7] 10,000 nodes are read, one more and a tree that shares its branches are refused", () => {
    const wide = (count: number): Filter => ({
      op: "or",
      operands: Array.from({ length: count }, (_, n) => equals(n)),
    });
    expect(() => bindFilter(wide(LIMITS.filterNodesMax - 1), FILTER_SCHEMA)).not.toThrow();
    expect(() => bindFilter(wide(LIMITS.filterNodesMax), FILTER_SCHEMA)).toThrow(invalid);
    let shared = equals(1);
    for (let level = 0; level < 60; level += 1)
      shared = { op: level % 2 === 0 ? "and" : "or", operands: [shared, shared] };
    expect(() => bindFilter(shared, FILTER_SCHEMA)).toThrow(invalid);
  });

  it("[F7] an in takes 10,000 values and no more", () => {
    const list = (count: number): Filter => ({ op: "in", field, values: Array.from({ length: count }, (_, n) => n) });
    expect(() => bindFilter(list(LIMITS.filterInValuesMax), FILTER_SCHEMA)).not.toThrow();
    expect(() => bindFilter(list(LIMITS.filterInValuesMax + 1), FILTER_SCHEMA)).toThrow(invalid);
  });
});
