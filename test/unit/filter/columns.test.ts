import { describe, expect, it } from "vitest";
import { bindProperties, type PropertyInput } from "../../../src/contract/properties.ts";
import { bindWhere, Columns, evaluateColumns, prepareColumnFilter } from "../../../src/filter/index.ts";
import { PairSet } from "../../../src/filter/pair-set.ts";
import { EXTREME_INTS, FILTER_SCHEMA, HOSTILE_TEXTS, SCHEMA } from "./arbitraries.ts";

function columnsOf(rows: readonly PropertyInput[], capacity?: number): Columns {
  const columns = new Columns(SCHEMA, capacity);
  for (const row of rows) columns.append(bindProperties(SCHEMA, row));
  return columns;
}

function admitted(where: string, columns: Columns, from = 0, to = columns.length): readonly number[] {
  const mask = new Uint8Array(to - from);
  evaluateColumns(bindWhere(where, FILTER_SCHEMA), columns, { from, to }, mask);
  return [...mask].flatMap((bit, index) => (bit === 1 ? [from + index] : []));
}

describe("columns", () => {
  it("[V5] give every value back as it was bound, extremes and absent ones too", () => {
    const rows: PropertyInput[] = [
      ...EXTREME_INTS.map((n) => ({ n })),
      ...HOSTILE_TEXTS.map((kind) => ({ kind })),
      ...[0.1 + 0.2, Number.MIN_VALUE, -Number.MAX_VALUE, 0].map((score) => ({ score })),
      { draft: true },
      { draft: false, at: "0001-01-01T00:00:00Z" },
      {},
    ];
    const columns = columnsOf(rows);
    for (const [row, input] of rows.entries()) {
      expect(Object.keys(SCHEMA).map((name) => columns.get(name, row))).toEqual(bindProperties(SCHEMA, input));
    }
    expect(columns.get("n", rows.length)).toBeUndefined();
  });

  it("[F8] a mask is right across block boundaries and in every part of a range", () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => (n % 3 === 0 ? {} : { n, score: n / 2, kind: `k${n % 5}` }));
    const columns = columnsOf(rows);
    const where = "NOT (n < 8193 OR kind = 'k1') AND (score <= 8200 OR n IN (16385, 16384, 16400, 19999))";
    const expected = rows.flatMap(({ n, kind }, row) =>
      !((n ?? Number.POSITIVE_INFINITY) < 8193 || kind === "k1") &&
      n !== undefined &&
      (n / 2 <= 8200 || [16385, 16384, 16400, 19999].includes(n))
        ? [row]
        : [],
    );
    expect(expected.length).toBeGreaterThan(100);
    expect(admitted(where, columns)).toEqual(expected);
    for (const [from, to] of [
      [8191, 8194],
      [8192, 16384],
      [16383, 20_000],
      [5, 5],
      [19_999, 20_000],
    ] as const) {
      expect(admitted(where, columns, from, to)).toEqual(expected.filter((row) => row >= from && row < to));
    }
  });

  it("[Q9] a prepared filter answers for its own rows while others are appended", () => {
    const columns = columnsOf([{ kind: "a" }, { kind: "b" }], 2);
    const prepared = prepareColumnFilter(bindWhere("kind != 'c'", FILTER_SCHEMA), columns);
    for (let row = 0; row < 1_000; row += 1) columns.append(bindProperties(SCHEMA, { kind: "c" }));
    const mask = new Uint8Array(2);
    prepared.fill({ from: 0, to: 2 }, mask);
    expect([...mask]).toEqual([1, 1]);
    expect(() => prepared.fill({ from: 0, to: 3 }, new Uint8Array(3))).toThrow(
      expect.objectContaining({ code: "BUG" }),
    );
    expect(admitted("kind != 'c'", columns)).toEqual([0, 1]);
  });

  it("[E9] memory is counted, grows by doubling, and reserved room is not copied again", () => {
    const columns = new Columns(SCHEMA);
    expect(columns.byteLength).toBe(0);
    columns.reserve(1_000);
    const reserved = columns.byteLength;
    expect(reserved).toBe(1_000 * 2 * (9 + 9 + 8 + 4 + 1));
    for (let row = 0; row < 1_000; row += 1) columns.append(bindProperties(SCHEMA, { n: row }));
    expect(columns.byteLength).toBe(reserved);
    columns.append(bindProperties(SCHEMA, { kind: "x".repeat(1_000) }));
    expect(columns.byteLength).toBeGreaterThan(reserved * 2 + 2_000 - 1);
    expect(columns.length).toBe(1_001);
  });

  it("[F4] a row of another shape, or a value that is not bound, is a bug and not a guess", () => {
    const columns = new Columns({ n: "int" });
    for (const row of [[], [1n, 2n], [1], ["1"], [true]]) {
      expect(() => columns.append(row)).toThrow(expect.objectContaining({ code: "BUG" }));
    }
    expect(columns.length).toBe(0);
    columns.append([undefined]);
    expect(columns.get("n", 0)).toBeUndefined();
    expect(() => columns.get("x", 0)).toThrow(expect.objectContaining({ code: "BUG" }));
  });

  it("[F8] a set of pairs holds what was added and nothing else, however values collide", () => {
    const set = new PairSet(4_000);
    const pairs = Array.from({ length: 4_000 }, (_, n) => [n % 7, Math.imul(n, 0x10000)] as const);
    for (const [first, second] of pairs) set.add(first, second);
    const added = new Set(pairs.map(([first, second]) => `${first},${second}`));
    let wrong = 0;
    for (let first = -1; first < 9; first += 1) {
      for (let n = 0; n < 5_000; n += 1) {
        const second = Math.imul(n, 0x10000);
        if (set.has(first, second) !== (added.has(`${first},${second}`) ? 1 : 0)) wrong += 1;
      }
    }
    expect(wrong).toBe(0);
  });
});
