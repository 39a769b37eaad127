import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Filter } from "../../../src/contract/filter-tree.ts";
import { bindProperties } from "../../../src/contract/properties.ts";
import {
  type BoundFilter,
  bindFilter,
  Columns,
  evaluate,
  evaluateColumns,
  prepareColumnFilter,
} from "../../../src/filter/index.ts";
import { declaredTrees, FILTER_SCHEMA, mixedTrees, SCHEMA, testRecords } from "./arbitraries.ts";
import { lookupOf, SqliteRecords, type TestRecord } from "./sqlite-records.ts";

/** What the random cases were like: a test that compares constants with constants proves nothing. */
class Tally {
  cases = 0;
  split = 0;
  leaves = 0;
  absent = 0;
  deep = 0;

  add(filter: Filter, bound: BoundFilter, admitted: readonly boolean[], records: readonly TestRecord[]): void {
    const count = admitted.filter(Boolean).length;
    this.cases += 1;
    if (count > 0 && count < records.length) this.split += 1;
    if (depthOf(filter) >= 3) this.deep += 1;
    for (const { scope, name } of fieldsOf(bound)) {
      for (const record of records) {
        const value = scope === "m" ? record.user?.[name] : record.declared?.[name];
        this.leaves += 1;
        if (value === undefined || value === null) this.absent += 1;
      }
    }
  }

  assertTelling(): void {
    expect(this.split / this.cases).toBeGreaterThan(0.5);
    expect(this.absent / this.leaves).toBeGreaterThan(0.3);
    expect(this.deep / this.cases).toBeGreaterThan(0.4);
  }
}

function depthOf(filter: Filter): number {
  if (filter.op === "not") return 1 + depthOf(filter.operand);
  if (filter.op === "and" || filter.op === "or") return 1 + Math.max(0, ...filter.operands.map(depthOf));
  return 1;
}

function fieldsOf(filter: BoundFilter): readonly { readonly scope: string; readonly name: string }[] {
  if (filter.op === "all" || filter.op === "none") return [];
  if (filter.op === "not") return fieldsOf(filter.operand);
  return filter.op === "and" || filter.op === "or" ? filter.operands.flatMap(fieldsOf) : [filter.field];
}

function expected(bound: BoundFilter, records: readonly TestRecord[]): readonly boolean[] {
  return records.map((record) => evaluate(bound, lookupOf(SCHEMA, record)));
}

/** Filters whose tree folds to a constant tell nothing of a compiler. */
const isTelling = (filter: Filter): boolean => fieldsOf(bindFilter(filter, FILTER_SCHEMA)).length > 0;

describe("the evaluator and its compilers", () => {
  it("[F8] columns answer as the evaluator does, for whole ranges, parts of them and single rows", () => {
    const tally = new Tally();
    fc.assert(
      fc.property(declaredTrees.filter(isTelling), testRecords, fc.nat(10), (filter, records, from) => {
        const bound = bindFilter(filter, FILTER_SCHEMA);
        const wanted = expected(bound, records);
        const columns = new Columns(SCHEMA);
        for (const record of records) columns.append(bindProperties(SCHEMA, record.declared));
        const mask = new Uint8Array(records.length).fill(7);
        evaluateColumns(bound, columns, { from, to: records.length }, mask);
        expect([...mask.subarray(0, records.length - from)]).toEqual(wanted.slice(from).map(Number));
        expect([...mask.subarray(records.length - from)]).toEqual(Array(from).fill(7));
        const prepared = prepareColumnFilter(bound, columns);
        expect(records.map((_, row) => prepared.admits(row))).toEqual(wanted);
        tally.add(filter, bound, wanted, records);
      }),
      { numRuns: 600, seed: 20_260_501 },
    );
    tally.assertTelling();
  });

  it("[F8] SQLite answers as the evaluator does, on columns, on bare expressions and on users' own keys", () => {
    const tally = new Tally();
    const sqlite = new SqliteRecords(SCHEMA);
    fc.assert(
      fc.property(mixedTrees.filter(isTelling), testRecords, (filter, records) => {
        const bound = bindFilter(filter, FILTER_SCHEMA);
        const wanted = expected(bound, records);
        sqlite.fill(records);
        expect(sqlite.admitted(bound)).toEqual(wanted);
        expect(sqlite.admitted(bound, sqlite.bareTarget)).toEqual(wanted);
        expect(sqlite.count(bound)).toBe(wanted.filter(Boolean).length);
        tally.add(filter, bound, wanted, records);
      }),
      { numRuns: 600, seed: 20_260_502 },
    );
    tally.assertTelling();
  });

  it("[F2] a filter and its negation part the records, and negating twice is nothing", () => {
    const sqlite = new SqliteRecords(SCHEMA);
    fc.assert(
      fc.property(mixedTrees, testRecords, (filter, records) => {
        sqlite.fill(records);
        const count = (tree: Filter): number => sqlite.count(bindFilter(tree, FILTER_SCHEMA));
        const not: Filter = { op: "not", operand: filter };
        expect(count(filter) + count(not)).toBe(records.length);
        expect(bindFilter({ op: "not", operand: not }, FILTER_SCHEMA)).toEqual(bindFilter(filter, FILTER_SCHEMA));
      }),
      { numRuns: 200, seed: 20_260_503 },
    );
  });

  it("[F4] a bound filter is plain data that survives a structured clone", () => {
    fc.assert(
      fc.property(mixedTrees, (filter) => {
        const bound = bindFilter(filter, FILTER_SCHEMA);
        expect(structuredClone(bound)).toEqual(bound);
      }),
      { numRuns: 200, seed: 20_260_504 },
    );
  });
});
