import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindProperties, type PropertyInput, type PropertySchema } from "../../../src/contract/properties.ts";
import {
  bindWhere,
  Columns,
  evaluate,
  evaluateColumns,
  type FilterSchema,
  prepareColumnFilter,
} from "../../../src/filter/index.ts";
import { FILTER_SCHEMA } from "./arbitraries.ts";
import { lookupOf } from "./sqlite-records.ts";

const SCHEMA: PropertySchema = { n: "int", k: "string" };
const NARROW_SCHEMA: FilterSchema = { ...FILTER_SCHEMA, declared: SCHEMA };

const EDGE_VALUES = [-(2 ** 31), -(2 ** 31) + 1, -1, 0, 1, 2 ** 31 - 2, 2 ** 31 - 1];
const BEYOND_INT32 = [-(2 ** 31) - 1, 2 ** 31, 2 ** 32, -(2 ** 32), 2 ** 53 - 1];

const narrowValues = fc.oneof(fc.constantFrom(...EDGE_VALUES), fc.integer({ min: -3, max: 3 }));
const literals = fc.oneof(narrowValues, fc.constantFrom(...BEYOND_INT32));
const labels = fc.constantFrom("a", "b");

/** Rows whose ints are all int32; in a third of the cases some have no value, in a third one lies beyond. */
const rows: fc.Arbitrary<readonly PropertyInput[]> = fc
  .record({
    rows: fc.array(fc.record({ n: narrowValues, k: labels }), { maxLength: 45 }),
    kind: fc.constantFrom("complete", "absent", "wide"),
    at: fc.nat(44),
  })
  .map(({ rows: narrow, kind, at }) =>
    narrow.map((row, index) => {
      if (kind === "absent" && index % 3 === at % 3) return { k: row.k };
      return kind === "wide" && index === at ? { ...row, n: 2 ** 40 } : row;
    }),
  );

const leaves = fc.oneof(
  fc.tuple(fc.constantFrom("=", "!=", "<", "<=", ">", ">="), literals).map(([op, value]) => `n ${op} ${value}`),
  labels.map((label) => `k = '${label}'`),
  fc.constantFrom("n IS NULL", "n IS NOT NULL"),
);
const filters = fc
  .array(fc.tuple(fc.boolean(), leaves), { minLength: 1, maxLength: 4 })
  .chain((parts) =>
    fc
      .constantFrom(" AND ", " OR ")
      .map((connective) => parts.map(([negated, leaf]) => (negated ? `NOT (${leaf})` : leaf)).join(connective)),
  );

function columnsOf(records: readonly PropertyInput[]): Columns {
  const columns = new Columns(SCHEMA);
  for (const record of records) columns.append(bindProperties(SCHEMA, record));
  return columns;
}

function maskOf(where: string, columns: Columns, from = 0): readonly number[] {
  const mask = new Uint8Array(columns.length - from);
  evaluateColumns(bindWhere(where, NARROW_SCHEMA), columns, { from, to: columns.length }, mask);
  return [...mask];
}

describe("columns of small ints", () => {
  it("[F8] answer as the evaluator does, at the edges of int32, without values and beside one large value", () => {
    fc.assert(
      fc.property(filters, rows, fc.nat(5), (where, records, start) => {
        const bound = bindWhere(where, NARROW_SCHEMA);
        const wanted = records.map((declared) => Number(evaluate(bound, lookupOf(SCHEMA, { declared }))));
        const columns = columnsOf(records);
        const from = Math.min(start, records.length);
        expect(maskOf(where, columns, from)).toEqual(wanted.slice(from));
        const prepared = prepareColumnFilter(bound, columns);
        expect(records.map((_, row) => Number(prepared.admits(row)))).toEqual(wanted);
      }),
      { numRuns: 1_500, seed: 20_260_511 },
    );
  });

  it("[F8] a conjunction that few rows pass at first asks the rest for those rows alone, and answers the same", () => {
    const records = Array.from({ length: 9_001 }, (_, n) => ({ n, k: n % 2 === 0 ? "a" : "b" }));
    const columns = columnsOf(records);
    const admitted = maskOf("n >= 8188 AND n < 8200 AND k = 'a' AND NOT n = 8190", columns);
    expect(admitted.flatMap((bit, row) => (bit === 1 ? [row] : []))).toEqual([8188, 8192, 8194, 8196, 8198]);
    expect(maskOf("n = 9000 AND NOT k = 'b'", columns).lastIndexOf(1)).toBe(9_000);
  });

  it("[Q9] a prepared filter answers for its own rows when a large value or a missing one is appended", () => {
    const columns = columnsOf([{ n: 1 }, { n: 2 }, { n: 3 }]);
    const prepared = prepareColumnFilter(bindWhere("n < 3", NARROW_SCHEMA), columns);
    columns.append(bindProperties(SCHEMA, { n: 2 ** 40 }));
    columns.append(bindProperties(SCHEMA, {}));
    const mask = new Uint8Array(3);
    prepared.fill({ from: 0, to: 3 }, mask);
    expect([...mask]).toEqual([1, 1, 0]);
    expect(maskOf("n < 3", columns)).toEqual([1, 1, 0, 0, 0]);
  });
});
