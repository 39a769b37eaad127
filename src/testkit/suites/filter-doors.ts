import assert from "node:assert/strict";
import type { PropertySchema } from "../../contract/properties.ts";
import type { Where } from "../../contract/where.ts";
import type { ErrorCode } from "../../errors/index.ts";
import { admittedIds, fan, refuses } from "../assertions.ts";
import type { TestCase } from "../test-bed.ts";

const VECTOR: readonly number[] = [1, 0, 0];
const SCHEMA: PropertySchema = { kind: "string", year: "int", score: "float", draft: "bool", at: "datetime" };

/** One question through each door, and the records of r0 … r3 that it admits. */
const DOORS: readonly (readonly [admitted: readonly string[], doors: readonly Where[]])[] = [
  [
    ["r0"],
    [
      "kind = 'fact' AND year >= 2024",
      { kind: "fact", year: { $gte: 2024 } },
      (f) => f.and(f.field("kind").eq("fact"), f.field("year").gte(2024)),
      {
        op: "and",
        operands: [
          { op: "equals", field: { scope: "declared", name: "kind" }, value: "fact" },
          { op: "ordering", field: { scope: "declared", name: "year" }, comparison: ">=", value: 2024 },
        ],
      },
    ],
  ],
  [
    ["r0", "r1"],
    [
      "kind in ('fact', 'task')",
      { kind: { $in: ["fact", "task"] } },
      { $or: [{ kind: "fact" }, { kind: { $eq: "task" } }] },
      (f) => f.field("kind").in(["fact", "task"]),
    ],
  ],
  [
    ["r1", "r2", "r3"],
    [
      "NOT kind = 'fact'",
      "kind != 'fact'",
      { kind: { $ne: "fact" } },
      { $not: { kind: "fact" } },
      { $nor: [{ kind: "fact" }] },
      (f) => f.field("kind").ne("fact"),
    ],
  ],
  [
    ["r1"],
    [
      "year BETWEEN 2020 AND 2023",
      "year >= 2020 AND year < 2024",
      { year: { $gte: 2020, $lt: 2024 } },
      { year: { $between: [2020, 2023] } },
      (f) => f.field("year").between(2020, 2023),
    ],
  ],
  [
    ["r2", "r3"],
    [
      "year IS NULL",
      { year: null },
      { year: { $isNull: true } },
      { year: { $exists: false } },
      (f) => f.field("year").isNull(),
    ],
  ],
  [
    ["r0", "r1"],
    [
      "at <= timestamp '2024-06-01T00:00:00Z'",
      "at <= date '2024-06-01'",
      { at: { $lte: "2024-06-01T00:00:00Z" } },
      (f) => f.field("at").lte(new Date("2024-06-01T00:00:00Z")),
    ],
  ],
  [["r0"], ["draft = true", '"draft" = TRUE', { draft: true }, (f) => f.field("draft").eq(true)]],
  [
    ["r2"],
    [
      "score > -5 AND score < -0.5",
      { score: { $gt: -5, $lt: -0.5 } },
      (f) => f.and(f.field("score").gt(-5), f.field("score").lt(-0.5)),
    ],
  ],
];

const SYNTAX_ERRORS: readonly string[] = [
  "kind =",
  "kind",
  "= 'fact'",
  "kind = 'fact",
  "kind = fact",
  "kind == 'fact'",
  "kind = 'fact' AND",
  "AND kind = 'fact'",
  "kind = 'fact' kind = 'task'",
  "(kind = 'fact'",
  "kind = 'fact')",
  "kind IN",
  "kind IN (",
  "kind IN ('a' 'b')",
  "kind IN ('a',)",
  "kind NOT",
  "kind IS",
  "kind IS NOT",
  "year BETWEEN 1",
  "year BETWEEN 1 OR 2",
  "year > ",
  "year > +5",
  "year > 5.",
  "year > .5",
  "year > 1e",
  "year > 0x10",
  "year > - 5 5",
  "year ! 5",
  'kind = "fact"',
  "kind # 'fact'",
  "kind = 'fact';",
  "kind = 'fact' -- x",
  "NOT",
  "()",
  "kind = 'O'Brien'",
  "year = NULL",
  "year = NaN",
  "year = Infinity",
];

const JSON_ERRORS: readonly (readonly [where: unknown, code: ErrorCode])[] = [
  [{ kind: ["fact"] }, "INVALID_FILTER"],
  [{ kind: {} }, "INVALID_FILTER"],
  [{ kind: { $like: "f%" } }, "INVALID_FILTER"],
  [{ $where: "1" }, "INVALID_FILTER"],
  [{ kind: undefined }, "INVALID_FILTER"],
  [{ year: { $gte: 1, $foo: 2 } }, "INVALID_FILTER"],
  [{ year: { $gte: undefined } }, "INVALID_FILTER"],
  [{ year: { $in: 5 } }, "INVALID_FILTER"],
  [{ year: { $between: [1] } }, "INVALID_FILTER"],
  [{ $and: { year: 1 } }, "INVALID_FILTER"],
  [{ $not: [{ year: 1 }] }, "INVALID_FILTER"],
  [{ nn: 1 }, "UNDECLARED_PROPERTY"],
  [{ __proto__x: 1 }, "UNDECLARED_PROPERTY"],
  [{ year: "5" }, "PROPERTY_TYPE_MISMATCH"],
  [{ at: "yesterday" }, "PROPERTY_TYPE_MISMATCH"],
];

/** Text, JSON, builder and tree ask the same question (F7). */
export function filterDoorSuite(it: TestCase): void {
  it("[F7] a question admits the same records through every door", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert([
      {
        id: "r0",
        vector: VECTOR,
        properties: { kind: "fact", year: 2024, score: 1, draft: true, at: "2024-01-01T00:00:00Z" },
      },
      {
        id: "r1",
        vector: VECTOR,
        properties: { kind: "task", year: 2023, score: 5.5, draft: false, at: "2024-06-01T02:00:00+02:00" },
      },
      { id: "r2", vector: VECTOR, properties: { kind: "note", score: -1, at: "2024-06-01T00:00:00.000001Z" } },
      { id: "r3", vector: VECTOR },
    ]);
    for (const [admitted, doors] of DOORS) {
      for (const where of doors) {
        assert.deepEqual(
          await admittedIds(partition, where, VECTOR),
          admitted,
          typeof where === "string" ? where : JSON.stringify(where),
        );
      }
    }
  });

  it("[F7] a text that does not follow the grammar is refused with its position; nothing is skipped or guessed", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert(fan(3));
    for (const where of SYNTAX_ERRORS) {
      const error = await refuses(partition.count({ where }), "FILTER_SYNTAX", where);
      assert.equal(typeof error.details.position, "number", `${where}: ${JSON.stringify(error.details)}`);
      await refuses(partition.delete({ where }), "FILTER_SYNTAX", where);
    }
    assert.equal(await partition.count(), 3);
  });

  it("[F7] a JSON filter that says something else than it seems to is refused", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert(fan(3));
    for (const [where, code] of JSON_ERRORS) {
      await refuses(partition.count({ where: where as Where }), code, JSON.stringify(where));
      await refuses(partition.delete({ where: where as Where }), code, JSON.stringify(where));
    }
    assert.equal(await partition.count(), 3);
  });

  it("[F7] no filter and an empty one admit everything", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert(fan(3));
    for (const where of ["", "  \n", {}, undefined]) {
      assert.equal(await partition.count({ ...(where !== undefined && { where }) }), 3);
      assert.equal(
        (await partition.query({ vector: VECTOR, ...(where !== undefined && { where }) })).matches.length,
        3,
      );
    }
  });
}
