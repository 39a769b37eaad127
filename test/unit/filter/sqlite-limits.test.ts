import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Filter, Literal } from "../../../src/contract/filter-tree.ts";
import { bindFilter, compileSqlite, evaluate } from "../../../src/filter/index.ts";
import { EXTREME_INTS, FILTER_SCHEMA, HOSTILE_TEXTS, SCHEMA } from "./arbitraries.ts";
import { lookupOf, SqliteRecords, type TestRecord } from "./sqlite-records.ts";

function agree(filter: Filter, records: readonly TestRecord[], sqlite = new SqliteRecords(SCHEMA)): readonly boolean[] {
  const bound = bindFilter(filter, FILTER_SCHEMA);
  sqlite.fill(records);
  const expected = records.map((record) => evaluate(bound, lookupOf(SCHEMA, record)));
  expect(sqlite.admitted(bound)).toEqual(expected);
  return expected;
}

const declared = (name: string) => ({ scope: "declared", name }) as const;
const user = (name: string) => ({ scope: "m", name }) as const;
const isIn = (field: Extract<Filter, { op: "in" }>["field"], values: readonly Literal[]): Filter => ({
  op: "in",
  field,
  values,
});
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

describe("the limits of SQLite", () => {
  it("[F9] four lists of 10,000 values of each type, on declared and users' own keys, stay below its variables", () => {
    const values = range(10_000);
    const lists: readonly Filter[] = [
      isIn(declared("n"), values),
      isIn(
        declared("score"),
        values.map((n) => n / 7),
      ),
      isIn(
        declared("kind"),
        values.map((n) => `it's "${n}"\0`),
      ),
      isIn(
        declared("at"),
        values.map((n) => ({ datetime: new Date(n).toISOString() })),
      ),
      isIn(
        user("topic"),
        values.map((n) => `${n}`),
      ),
      isIn(
        user("topic"),
        values.map((n) => (n % 2 === 0 ? n : n / 7)),
      ),
    ];
    const records: readonly TestRecord[] = [
      { declared: { n: 9_999 } },
      { declared: { n: 10_000, score: 9_999 / 7 } },
      { declared: { kind: 'it\'s "77"\0' } },
      { declared: { kind: 'it\'s "77"' } },
      { declared: { at: new Date(5) }, user: { topic: "x" } },
      { user: { topic: "9998" } },
      { user: { topic: 9_998 } },
      { user: { topic: 9_999 / 7 } },
      {},
    ];
    expect(agree({ op: "or", operands: lists }, records)).toEqual([
      true,
      true,
      true,
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
    expect(agree({ op: "or", operands: lists.map((operand): Filter => ({ op: "not", operand })) }, records)).toEqual(
      records.map(() => true),
    );
    const { parameters } = compileSqlite(
      bindFilter({ op: "or", operands: lists }, FILTER_SCHEMA),
      new SqliteRecords(SCHEMA).target,
    );
    expect(parameters.length).toBeLessThan(20);
  });

  it.each(["and", "or"] as const)("[F7] 5,000 operands of %s do not meet its expression depth", (op) => {
    const records: readonly TestRecord[] = [
      { declared: { n: 4_999 }, user: { x: 4_999 } },
      { declared: { n: -1 }, user: { x: -1 } },
      {},
    ];
    for (const field of [declared("n"), user("x")]) {
      const orders = range(4_990).map(
        (value): Filter => ({ op: "ordering", field, comparison: value % 2 === 0 ? "<" : ">", value }),
      );
      agree({ op, operands: orders }, records);
    }
    agree(
      {
        op,
        operands: range(4_990).map(
          (n): Filter => ({ op: "not", operand: { op: "equals", field: user(`k${n}`), value: n } }),
        ),
      },
      records,
    );
    agree(
      { op, operands: range(4_990).map((value): Filter => ({ op: "equals", field: declared("n"), value })) },
      records,
    );
  });

  it("[F7] a tree of 100 levels and 10,000 nodes compiles", () => {
    let filter: Filter = { op: "equals", field: user("x"), value: 1 };
    for (let level = 0; level < 49; level += 1) {
      const leaves = range(198).map(
        (n): Filter => ({ op: "ordering", field: declared("n"), comparison: "<", value: n }),
      );
      filter = { op: "not", operand: { op: level % 2 === 0 ? "and" : "or", operands: [...leaves, filter] } };
    }
    agree(filter, [{ declared: { n: 5 } }, { user: { x: 1 } }, {}]);
  });

  it("[F9] 9,000 lists of three on users' own keys, floats and ints mixed, stay below its variables", () => {
    const lists = range(9_000).map((n): Filter => isIn(user(`k${n}`), [n, n + 0.5, 2 ** 60]));
    const { parameters } = compileSqlite(
      bindFilter({ op: "or", operands: lists }, FILTER_SCHEMA),
      new SqliteRecords(SCHEMA).target,
    );
    expect(parameters.length).toBeLessThanOrEqual(32_766);
  });

  it("[V5] every float of a list is matched exactly, also those that SQLite would read as their neighbours", () => {
    const sqlite = new SqliteRecords(SCHEMA);
    const floats = fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 3,
      maxLength: 300,
    });
    fc.assert(
      fc.property(floats, (values) => {
        const records = values.map((score): TestRecord => ({ declared: { score }, user: { x: score } }));
        const listed = values.filter((_, index) => index % 3 !== 0);
        agree(isIn(declared("score"), listed), records, sqlite);
        agree(isIn(user("x"), listed), records, sqlite);
      }),
      { numRuns: 60, seed: 20_260_508 },
    );
    const edges = [
      5e-324,
      -5e-324,
      2.2250738585072009e-308,
      2.2250738585072014e-308,
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      0,
      0.1 + 0.2,
    ];
    agree(
      isIn(declared("score"), edges),
      edges.map((score) => ({ declared: { score } })),
      sqlite,
    );
  });

  it("[V8] every hostile text and every extreme int is matched exactly, alone and in a list", () => {
    const records = [
      ...HOSTILE_TEXTS.map((text): TestRecord => ({ declared: { kind: text }, user: { x: text } })),
      ...EXTREME_INTS.map((n): TestRecord => ({ declared: { n }, user: { x: n } })),
    ];
    const sqlite = new SqliteRecords(SCHEMA);
    const one = (filter: Filter): void => expect(agree(filter, records, sqlite).filter(Boolean)).toHaveLength(1);
    for (const value of HOSTILE_TEXTS) {
      one({ op: "equals", field: declared("kind"), value });
      one({ op: "equals", field: user("x"), value });
      one(isIn(declared("kind"), [value, "absent", "absent too"]));
      one(isIn(user("x"), [value, "absent", "absent too"]));
    }
    for (const value of EXTREME_INTS) {
      one({ op: "equals", field: declared("n"), value });
      one({ op: "equals", field: user("x"), value });
      one(isIn(declared("n"), [value, 77, 78]));
      one(isIn(user("x"), [value, 77.5, 78]));
    }
  });

  it("[F9] values and users' keys never enter the text, and column names come from the target", () => {
    const filter: Filter = {
      op: "or",
      operands: [
        { op: "equals", field: user("x' OR 1=1 --"), value: "'; DROP TABLE record" },
        { op: "equals", field: declared("kind"), value: "evil" },
      ],
    };
    const { sql, parameters } = compileSqlite(bindFilter(filter, FILTER_SCHEMA), {
      column: (name) => `"c_${name}"`,
      userKeys: { table: '"own"', owner: '"e".id' },
    });
    expect(sql).not.toMatch(/DROP|1=1|evil/);
    expect(parameters).toEqual(["x' OR 1=1 --", "'; DROP TABLE record", "evil"]);
    expect(sql).toContain('"c_kind"');
  });

  it("a filter on a user's own key is not compiled where there are none", () => {
    const bound = bindFilter({ op: "isNull", field: user("x") }, FILTER_SCHEMA);
    expect(() => compileSqlite(bound, { column: (name) => name })).toThrow(expect.objectContaining({ code: "BUG" }));
  });
});
