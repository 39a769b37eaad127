import { describe, expect, it } from "vitest";
import { bindProperties, type PropertySchema } from "../../../src/contract/properties.ts";
import { bindWhere, Columns, evaluate, evaluateColumns, type FilterSchema } from "../../../src/filter/index.ts";
import { lookupOf, SqliteRecords, type TestRecord } from "./sqlite-records.ts";

const SCHEMA = { n: "int", score: "float", at: "datetime" } as const satisfies PropertySchema;
const FILTER_SCHEMA: FilterSchema = { declared: SCHEMA, userKeys: false };
const MEMORY_SCHEMA: FilterSchema = { declared: {}, system: { session: "string" }, userKeys: true };

/** The numbers (from 1) of the records that a filter admits, the same by every way. */
function admitted(
  where: string,
  records: readonly TestRecord[],
  schema: FilterSchema = FILTER_SCHEMA,
): readonly number[] {
  const bound = bindWhere(where, schema);
  const answers = records.map((record) => evaluate(bound, lookupOf(SCHEMA, record)));
  const sqlite = new SqliteRecords(SCHEMA);
  sqlite.fill(records);
  expect(sqlite.admitted(bound)).toEqual(answers);
  if (!schema.userKeys) {
    const columns = new Columns(SCHEMA, records.length);
    for (const record of records) columns.append(bindProperties(SCHEMA, record.declared));
    const mask = new Uint8Array(records.length);
    evaluateColumns(bound, columns, { from: 0, to: records.length }, mask);
    expect([...mask]).toEqual(answers.map(Number));
  }
  return answers.flatMap((answer, index) => (answer ? [index + 1] : []));
}

const RECORDS: readonly TestRecord[] = [
  { declared: { n: 1 } },
  { declared: { n: 2 } },
  { declared: { n: null } },
  { declared: {} },
];

describe("the truth table", () => {
  it.each([
    ["n = 1", [1]],
    ["n != 1", [2, 3, 4]],
    ["NOT (n = 1)", [2, 3, 4]],
    ["n IN (1)", [1]],
    ["n NOT IN (1)", [2, 3, 4]],
    ["n IN ()", []],
    ["n NOT IN ()", [1, 2, 3, 4]],
    ["n > 1", [2]],
    ["NOT (n > 1)", [1, 3, 4]],
    ["n <= 1", [1]],
    ["n IS NULL", [3, 4]],
    ["n IS NOT NULL", [1, 2]],
    ["n IS NOT NULL AND n != 1", [2]],
    ["n BETWEEN 1 AND 2", [1, 2]],
    ["n NOT BETWEEN 1 AND 1", [2, 3, 4]],
    ["TRUE", [1, 2, 3, 4]],
    ["FALSE", []],
    ["", [1, 2, 3, 4]],
    [" \t\r\n", [1, 2, 3, 4]],
    ["n = 1.0", [1]],
    ["n = 1e0", [1]],
    ["n IN (1, 3, 5, 2.0)", [1, 2]],
  ])("[F2] %s admits %j", (where, expected) => {
    expect(admitted(where, RECORDS)).toEqual(expected);
  });

  it("[F3] and() of nothing admits all, or() of nothing none", () => {
    const bound = (op: "and" | "or") => bindWhere({ op, operands: [] }, FILTER_SCHEMA);
    expect(bound("and")).toEqual({ op: "all" });
    expect(bound("or")).toEqual({ op: "none" });
  });

  it.each([
    ["n = '1'", "PROPERTY_TYPE_MISMATCH"],
    ["n = 1.5", "PROPERTY_TYPE_MISMATCH"],
    ["n > 1.5", "PROPERTY_TYPE_MISMATCH"],
    ["n = true", "PROPERTY_TYPE_MISMATCH"],
    ["n >= 9223372036854775808", "PROPERTY_TYPE_MISMATCH"],
    ["n >= -9223372036854775809", "PROPERTY_TYPE_MISMATCH"],
    ["n > 'a'", "PROPERTY_TYPE_MISMATCH"],
    ["n > true", "PROPERTY_TYPE_MISMATCH"],
    ["n IN (1, 'a')", "PROPERTY_TYPE_MISMATCH"],
    ["nn = 1", "UNDECLARED_PROPERTY"],
    ["m.nn = 1", "UNDECLARED_PROPERTY"],
    ["NOT (n = 1 OR (score > 1 AND nn IN ()))", "UNDECLARED_PROPERTY"],
  ])("[F4] %s is refused with %s", (where, code) => {
    expect(() => bindWhere(where, FILTER_SCHEMA)).toThrow(expect.objectContaining({ code }));
  });

  it("[F5] an int on a float key is the float that it equals", () => {
    const records = [{ declared: { score: 1 } }, { declared: { score: 1.5 } }, {}];
    expect(admitted("score = 1", records)).toEqual([1]);
    expect(admitted("score >= 1 AND score < 2", records)).toEqual([1, 2]);
    expect(admitted("score IN (1, 2, 3)", records)).toEqual([1]);
    expect(() => bindWhere("score = 9007199254740993", FILTER_SCHEMA)).toThrow(
      expect.objectContaining({ code: "PROPERTY_TYPE_MISMATCH" }),
    );
  });

  it("[F6] datetimes compare by instant at any offset", () => {
    const records = [
      { declared: { at: "2024-01-01T00:00:00+05:30" } },
      { declared: { at: "2023-12-31T18:30:00Z" } },
      {},
    ];
    expect(admitted("at = timestamp '2023-12-31T20:30:00+02:00'", records)).toEqual([1, 2]);
    expect(admitted("at < timestamp '2023-12-31T18:30:00.000001Z'", records)).toEqual([1, 2]);
    expect(admitted("at < date '2023-12-31'", records)).toEqual([]);
    expect(() => bindWhere("at = '2023-12-31T18:30:00Z'", FILTER_SCHEMA)).toThrow(/write timestamp '/);
  });

  it("[V5] 9007199254740993 and 9007199254740992 are different", () => {
    const records = [
      { declared: { n: 9007199254740993n } },
      { declared: { n: 9007199254740992n } },
      { user: { n: 9007199254740993n } },
    ];
    expect(admitted("n = 9007199254740993", records)).toEqual([1]);
    expect(admitted("n = 9007199254740993.0", records)).toEqual([1]);
    expect(admitted("n < 9007199254740993", records)).toEqual([2]);
    expect(admitted("m.n = 9007199254740993", records, MEMORY_SCHEMA)).toEqual([3]);
    expect(admitted("m.n = 9007199254740992", records, MEMORY_SCHEMA)).toEqual([]);
  });

  it("[F4] at the memory level an unknown bare name is refused and m. names a user's key", () => {
    expect(() => bindWhere("nn = 1", MEMORY_SCHEMA)).toThrow(expect.objectContaining({ code: "UNDECLARED_PROPERTY" }));
    expect(admitted("m.nn = 1", RECORDS, MEMORY_SCHEMA)).toEqual([]);
    expect(admitted("metadata.nn IS NULL", RECORDS, MEMORY_SCHEMA)).toEqual([1, 2, 3, 4]);
  });

  it("[F11] a user's own value keeps its kind, and a comparison with another kind is false", () => {
    const values = ["1", 1, 1n, true, 1.5, { datetime: "1970-01-01T00:00:00.000001Z" }, 2 ** 60];
    const records = values.map((x): TestRecord => ({ user: { x } }));
    expect(admitted("m.x = 1", records, MEMORY_SCHEMA)).toEqual([2, 3]);
    expect(admitted("m.x = '1'", records, MEMORY_SCHEMA)).toEqual([1]);
    expect(admitted("m.x = true", records, MEMORY_SCHEMA)).toEqual([4]);
    expect(admitted("m.x >= 1", records, MEMORY_SCHEMA)).toEqual([2, 3, 5, 7]);
    expect(admitted("m.x = 1152921504606846976", records, MEMORY_SCHEMA)).toEqual([7]);
    expect(admitted("m.x != 1", records, MEMORY_SCHEMA)).toEqual([1, 4, 5, 6, 7]);
    expect(admitted("m.x > date '1970-01-01'", records, MEMORY_SCHEMA)).toEqual([6]);
    expect(admitted("m.x IN (1.5, 2, 1152921504606846976, 3.5)", records, MEMORY_SCHEMA)).toEqual([5, 7]);
    expect(admitted("m.x IS NULL", records, MEMORY_SCHEMA)).toEqual([]);
  });
});
