import assert from "node:assert/strict";
import type { Filter, FilterOperator } from "../../contract/filter-tree.ts";
import type { PropertyInputValue, PropertyKind, PropertySchema } from "../../contract/properties.ts";
import type { Partition } from "../../contract/store.ts";
import type { Where } from "../../contract/where.ts";
import type { ErrorCode } from "../../errors/index.ts";
import { admittedIds, fan, refuses } from "../assertions.ts";
import { PARTITION_KEY, type TestBed, type TestCase } from "../test-bed.ts";

const VECTOR: readonly number[] = [1, 0, 0];
const EVERYONE: readonly string[] = ["r1", "r2", "r3", "r4"];

/** Two values of a kind, the first before the second, as they are written and as they stand in a filter's text. */
interface KindCase {
  readonly kind: PropertyKind;
  readonly one: PropertyInputValue;
  readonly two: PropertyInputValue;
  readonly oneText: string;
  readonly twoText: string;
}

const KINDS: readonly KindCase[] = [
  { kind: "int", one: 1, two: 2, oneText: "1", twoText: "2" },
  {
    kind: "int",
    one: -(2n ** 63n),
    two: 2n ** 63n - 1n,
    oneText: "-9223372036854775808",
    twoText: "9223372036854775807",
  },
  { kind: "int", one: 2n ** 53n, two: 2n ** 53n + 1n, oneText: "9007199254740992", twoText: "9007199254740993" },
  { kind: "float", one: 1, two: 1.5, oneText: "1", twoText: "1.5" },
  { kind: "float", one: 0.3, two: 0.1 + 0.2, oneText: "0.3", twoText: "0.30000000000000004" },
  { kind: "bool", one: false, two: true, oneText: "false", twoText: "TRUE" },
  { kind: "string", one: "a'b", two: "", oneText: "'a''b'", twoText: "''" },
  {
    kind: "datetime",
    one: "2024-01-01T00:00:00+05:30",
    two: "2023-12-31T18:30:00.000001Z",
    oneText: "timestamp '2023-12-31T18:30:00Z'",
    twoText: "timestamp '2024-01-01T00:00:00.000001+05:30'",
  },
];

/** `$1` and `$2` stand for the two values; r3 has null, r4 nothing. */
const TRUTH: readonly (readonly [text: string, admitted: readonly string[]])[] = [
  ["n = $1", ["r1"]],
  ["n != $1", ["r2", "r3", "r4"]],
  ["n <> $2", ["r1", "r3", "r4"]],
  ["NOT (n = $1)", ["r2", "r3", "r4"]],
  ["NOT NOT n = $1", ["r1"]],
  ["n IN ($1)", ["r1"]],
  ["n IN ($1, $2)", ["r1", "r2"]],
  ["n IN ($1, $1)", ["r1"]],
  ["n NOT IN ($1)", ["r2", "r3", "r4"]],
  ["n NOT IN ($1, $2)", ["r3", "r4"]],
  ["n IN ()", []],
  ["n NOT IN ()", EVERYONE],
  ["n IS NULL", ["r3", "r4"]],
  ["n IS NOT NULL", ["r1", "r2"]],
  ["NOT (n IS NULL)", ["r1", "r2"]],
  ["n IS NOT NULL AND n != $1", ["r2"]],
  ["n = $1 OR n IS NULL", ["r1", "r3", "r4"]],
  ["n = $1 AND n = $2", []],
  ["NOT (n = $1 OR n = $2)", ["r3", "r4"]],
  ["TRUE", EVERYONE],
  ["FALSE", []],
  ["NOT FALSE", EVERYONE],
  ["n = $1 OR n = $2 AND FALSE", ["r1"]],
];

const ORDERED_TRUTH: readonly (readonly [text: string, admitted: readonly string[]])[] = [
  ["n > $1", ["r2"]],
  ["NOT (n > $1)", ["r1", "r3", "r4"]],
  ["n >= $1", ["r1", "r2"]],
  ["n < $2", ["r1"]],
  ["NOT (n < $2)", ["r2", "r3", "r4"]],
  ["n <= $1", ["r1"]],
  ["n BETWEEN $1 AND $2", ["r1", "r2"]],
  ["n BETWEEN $2 AND $1", []],
  ["n NOT BETWEEN $1 AND $1", ["r2", "r3", "r4"]],
  ["n > $1 AND n < $2", []],
];

const SCHEMA: PropertySchema = { i: "int", f: "float", s: "string", b: "bool", d: "datetime" };

const REFUSED: readonly (readonly [where: Where, code: ErrorCode])[] = [
  ["i = '1'", "PROPERTY_TYPE_MISMATCH"],
  ["i = 1.5", "PROPERTY_TYPE_MISMATCH"],
  ["i = true", "PROPERTY_TYPE_MISMATCH"],
  ["i >= 9223372036854775808", "PROPERTY_TYPE_MISMATCH"],
  ["i < -9223372036854775809", "PROPERTY_TYPE_MISMATCH"],
  ["i IN (1, 'a')", "PROPERTY_TYPE_MISMATCH"],
  ["f = '1'", "PROPERTY_TYPE_MISMATCH"],
  ["f = false", "PROPERTY_TYPE_MISMATCH"],
  ["f = 9007199254740993", "PROPERTY_TYPE_MISMATCH"],
  ["s = 1", "PROPERTY_TYPE_MISMATCH"],
  ["s = true", "PROPERTY_TYPE_MISMATCH"],
  ["b = 1", "PROPERTY_TYPE_MISMATCH"],
  ["b = 'true'", "PROPERTY_TYPE_MISMATCH"],
  ["d = 5", "PROPERTY_TYPE_MISMATCH"],
  ["d = '2024-01-01T00:00:00Z'", "PROPERTY_TYPE_MISMATCH"],
  ["nn = 1", "UNDECLARED_PROPERTY"],
  ["nn IS NULL", "UNDECLARED_PROPERTY"],
  ["nn IN ()", "UNDECLARED_PROPERTY"],
  ["m.nn = 1", "UNDECLARED_PROPERTY"],
  ["TRUE OR nn = 1", "UNDECLARED_PROPERTY"],
  ["NOT (FALSE AND (i = 1 OR NOT nn = 1))", "UNDECLARED_PROPERTY"],
  ["constructor = 1", "UNDECLARED_PROPERTY"],
  ["s > 'a'", "INVALID_FILTER"],
  ["b < true", "INVALID_FILTER"],
  ["i = NULL", "FILTER_SYNTAX"],
  ["i > 'a'", "PROPERTY_TYPE_MISMATCH"],
  ["i > true", "PROPERTY_TYPE_MISMATCH"],
  [{ i: Number.NaN }, "PROPERTY_TYPE_MISMATCH"],
  [{ f: Number.POSITIVE_INFINITY }, "PROPERTY_TYPE_MISMATCH"],
  [{ i: 2 ** 53 }, "PROPERTY_TYPE_MISMATCH"],
  [{ i: 2n ** 63n }, "PROPERTY_TYPE_MISMATCH"],
];

/** What a tree must not be: every one of these reached some backend of some system. */
const MALFORMED: readonly unknown[] = [
  { op: "equals", field: { scope: "declared", name: "i" }, value: undefined },
  { op: "equals", field: { scope: "declared", name: "i" }, value: null },
  { op: "equals", field: { scope: "declared", name: "i" } },
  { op: "equals", field: "i", value: 1 },
  { op: "equals", value: 1 },
  { op: "in", field: { scope: "declared", name: "i" }, values: 1 },
  { op: "in", field: { scope: "declared", name: "i" }, values: [1, undefined] },
  { op: "ordering", field: { scope: "declared", name: "i" }, comparison: "=", value: 1 },
  { op: "and" },
  { op: "and", operands: [undefined] },
  { op: "or", operands: {} },
  { op: "not" },
  { op: "not", operand: null },
];

/** Truth tables, refusals and folding (F2–F6, F9), asked of the store itself. */
export function filterSuite(it: TestCase): void {
  truth(it);
  refusals(it);
  deletions(it);
}

function truth(it: TestCase): void {
  for (const fillers of [0, 300]) {
    it(`[F2, F3, F6] the truth table holds on every kind, beside ${fillers} other records`, async (bed) => {
      for (const [index, kindCase] of KINDS.entries()) await assertTruth(bed, `kind_${index}`, kindCase, fillers);
    });
  }

  it("[F5] an integer on a float key is the equal float, in equality, order and membership", async (bed) => {
    const partition = await bed.openPartition({ properties: { x: "float" } });
    await partition.upsert([
      { id: "one", vector: VECTOR, properties: { x: 1 } },
      { id: "big", vector: VECTOR, properties: { x: 2 ** 60 } },
    ]);
    for (const where of ["x = 1", "x = 1.0", "x = 1e0", "x IN (1, 5)", "x <= 1", "x < 2"]) {
      assert.deepEqual(await admittedIds(partition, where, VECTOR), ["one"], where);
    }
    for (const where of [`x = ${2n ** 60n}`, `x > ${2n ** 53n}`, { x: { $in: [2n ** 60n] } }]) {
      assert.deepEqual(await admittedIds(partition, where, VECTOR), ["big"]);
    }
    assert.equal(await partition.count({ where: "x = -0" }), 0);
  });

  it("[F6] strings are equal by code points, without case, normalisation or trailing spaces", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string" } });
    const texts = ["a", "A", "a ", " a", "\u00e9", "e\u0301", "ss", "ß", "a\0", "a\0b"];
    await partition.upsert(texts.map((s, index) => ({ id: `t${index}`, vector: VECTOR, properties: { s } })));
    for (const [index, s] of texts.entries())
      assert.deepEqual(await admittedIds(partition, { s }, VECTOR), [`t${index}`]);
  });

  it("[F9] values and ids that look like SQL are values", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string" } });
    await partition.upsert([{ id: "x' OR 1=1 --", vector: VECTOR, properties: { s: "x' OR 1=1 --" } }, ...fan(5)]);
    assert.deepEqual(await admittedIds(partition, { s: "x' OR 1=1 --" }, VECTOR), ["x' OR 1=1 --"]);
    assert.deepEqual(await admittedIds(partition, { s: "' OR '1'='1" }, VECTOR), []);
    assert.equal((await partition.delete({ ids: ["' OR 1=1 --"] })).deleted, 0);
    assert.equal((await partition.delete({ where: { s: "x' OR 1=1 --" } })).deleted, 1);
    assert.equal(await partition.count(), 5);
  });

  it("[F2] filters over many values and many nodes work up to the limit and are refused beyond it", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    await partition.upsert(fan(300).map((record, n) => ({ ...record, properties: { n } })));
    const values = Array.from({ length: 10_000 }, (_, index) => index * 2);
    assert.equal(await partition.count({ where: { n: { $in: values } } }), 150);
    const { matches } = await partition.query({ vector: VECTOR, where: { n: { $in: values } }, limit: 300 });
    assert.equal(matches.length, 150);
    assert.equal((await partition.delete({ where: { n: { $nin: values } } }, { dryRun: true })).deleted, 150);
    await refuses(partition.count({ where: { n: { $in: [...values, 1] } } }), "INVALID_FILTER");
    const wide = (count: number): Where => ({
      op: "or",
      operands: Array.from({ length: count }, (_, value) => equals("n", value * 3)),
    });
    assert.equal(await partition.count({ where: wide(3_000) }), 100);
    assert.equal((await partition.query({ vector: VECTOR, where: wide(3_000), limit: 300 })).matches.length, 100);
    await refuses(partition.count({ where: wide(10_001) }), "INVALID_FILTER");
    let deep: Filter = equals("n", 1);
    for (let level = 0; level < 90; level += 1)
      deep = { op: level % 2 === 0 ? "and" : "or", operands: [deep, equals("n", level % 2)] };
    assert.equal(await partition.count({ where: deep }), 1);
    for (let level = 0; level < 5_000; level += 1) deep = { op: "not", operand: deep };
    await refuses(partition.count({ where: deep }), "INVALID_FILTER");
    await refuses(partition.count({ where: `${"(".repeat(5_000)}n = 1${")".repeat(5_000)}` }), "FILTER_SYNTAX");
  });
}

async function assertTruth(
  bed: TestBed,
  name: string,
  { kind, one, two, oneText, twoText }: KindCase,
  fillers: number,
): Promise<void> {
  const store = await bed.open({ name, properties: { n: kind, filler: "bool" } });
  const partition = await store.createPartition(PARTITION_KEY);
  await partition.upsert([
    { id: "r1", vector: VECTOR, properties: { n: one } },
    { id: "r2", vector: VECTOR, properties: { n: two } },
    { id: "r3", vector: VECTOR, properties: { n: null } },
    { id: "r4", vector: VECTOR },
    ...fan(fillers, 3, "filler").map((record, index) => ({
      ...record,
      properties: { filler: true, n: index % 2 === 0 ? one : null },
    })),
  ]);
  const rows = kind === "bool" || kind === "string" ? TRUTH : [...TRUTH, ...ORDERED_TRUTH];
  for (const [row, admitted] of rows) {
    const text = row.replaceAll("$1", oneText).replaceAll("$2", twoText);
    assert.deepEqual(
      await admittedIds(partition, `filler IS NULL AND (${text})`, VECTOR),
      admitted,
      `${kind}: ${text}`,
    );
    const [inside, outside] = [
      await partition.count({ where: text }),
      await partition.count({ where: `NOT (${text})` }),
    ];
    assert.equal(inside + outside, 4 + fillers, `${kind}: ${text} and its complement are everything`);
  }
}

function refusals(it: TestCase): void {
  it("[F4] what does not fit the schema is refused at any depth, by every call that takes a filter", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert(fan(3));
    for (const [where, code] of REFUSED) await assertRefused(partition, where, code);
    const nested: Where = { $or: [{ i: 1 }, { $not: { $and: [{ f: 1 }, { b: 1 }] } }] };
    await assertRefused(partition, nested, "PROPERTY_TYPE_MISMATCH");
    assert.equal(await partition.count(), 3);
  });

  it("[F4] a tree that is none, undefined in it most of all, is refused", async (bed) => {
    const partition = await bed.openPartition({ properties: SCHEMA });
    await partition.upsert(fan(3));
    for (const tree of MALFORMED) {
      const error = await refusedBy(() => partition.count({ where: tree as Where }));
      assert.ok(["INVALID_FILTER", "PROPERTY_TYPE_MISMATCH"].includes(error), `${error}: ${JSON.stringify(tree)}`);
      await refusedBy(() => partition.delete({ where: tree as Where }));
    }
    for (const where of [null, 5, true, []]) {
      await refusedBy(() => partition.count({ where: where as unknown as Where }));
      await refusedBy(() => partition.delete({ where: where as unknown as Where }));
    }
    assert.equal(await partition.count(), 3);
  });

  it("[F4] every node is evaluated, or refused where the backend does not have it", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    await partition.upsert(fan(4).map((record, n) => ({ ...record, properties: { n } })));
    for (const [op, filter, admitted] of examplesOfNodes()) {
      if (store.capabilities.filterNodes.includes(op)) {
        assert.equal(await partition.count({ where: filter }), admitted, op);
        assert.equal((await partition.query({ vector: VECTOR, where: filter })).matches.length, admitted, op);
      } else {
        await refuses(partition.count({ where: filter }), "UNSUPPORTED_FILTER", op);
        await refuses(partition.query({ vector: VECTOR, where: filter }), "UNSUPPORTED_FILTER", op);
      }
    }
  });
}

function deletions(it: TestCase): void {
  it("[F3] a delete by a filter that admits everything is refused, however it is written", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    await partition.upsert(fan(4));
    const everything: readonly Where[] = [
      "TRUE",
      "",
      "   ",
      "NOT FALSE",
      "n NOT IN ()",
      "TRUE OR n = 1",
      "NOT (n IN ())",
      "TRUE AND TRUE",
      "n = 1 OR NOT (FALSE AND n = 2)",
      {},
      { $and: [] },
      { $nor: [] },
      { $not: { $or: [] } },
      { n: { $nin: [] } },
      { op: "and", operands: [] },
      { op: "all" },
      { op: "not", operand: { op: "in", field: { scope: "declared", name: "n" }, values: [] } },
      (f) => f.all,
      (f) => f.and(),
      (f) => f.not(f.or()),
    ];
    for (const where of everything) {
      await refuses(partition.delete({ where }), "INVALID_FILTER", JSON.stringify(where) ?? "a function");
    }
    assert.equal(await partition.count(), 4);
  });

  it("[F3] a delete by a filter that admits nothing deletes nothing", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    await partition.upsert(fan(4));
    const nothing: readonly Where[] = [
      "FALSE",
      "n IN ()",
      { $or: [] },
      { n: { $in: [] } },
      { op: "or", operands: [] },
      (f) => f.none,
      "n = 1",
    ];
    for (const where of nothing) assert.equal((await partition.delete({ where })).deleted, 0);
    assert.equal(await partition.count(), 4);
  });

  it("[F2] a delete by filter takes what the filter admits and nothing else", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    for (const size of [20, 600]) {
      await partition.upsert(
        fan(size).map((record, n) => ({ ...record, ...(n % 3 > 0 && { properties: { n: n % 3 } }) })),
      );
      const ones = Math.floor((size + 1) / 3);
      assert.equal((await partition.delete({ where: "n != 1" })).deleted, size - ones);
      assert.equal(await partition.count({ where: "n != 1" }), 0);
      assert.equal(await partition.count(), ones);
      assert.equal((await partition.delete({ where: "n IS NOT NULL" })).deleted, ones);
      assert.equal(await partition.count(), 0);
    }
  });
}

async function assertRefused(partition: Partition, where: Where, code: ErrorCode): Promise<void> {
  const what = typeof where === "string" ? where : "a JSON filter";
  await refuses(partition.count({ where }), code, what);
  await refuses(partition.query({ vector: VECTOR, where }), code, what);
  await refuses(partition.queryMany({ vectors: [], where }), code, what);
  await refuses(() => partition.scan({ where }).next(), code, what);
  await refuses(partition.delete({ where }), code, what);
  await refuses(partition.delete({ where }, { dryRun: true }), code, what);
}

async function refusedBy(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
  assert.fail("the call answered");
}

function equals(name: string, value: number): Filter {
  return { op: "equals", field: { scope: "declared", name }, value };
}

function examplesOfNodes(): readonly (readonly [FilterOperator, Filter, number])[] {
  const field = { scope: "declared", name: "n" } as const;
  return [
    ["all", { op: "all" }, 4],
    ["none", { op: "none" }, 0],
    ["equals", equals("n", 1), 1],
    ["ordering", { op: "ordering", field, comparison: "<=", value: 1 }, 2],
    ["in", { op: "in", field, values: [1, 2] }, 2],
    ["isNull", { op: "isNull", field }, 0],
    ["and", { op: "and", operands: [equals("n", 1), equals("n", 2)] }, 0],
    ["or", { op: "or", operands: [equals("n", 1), equals("n", 2)] }, 2],
    ["not", { op: "not", operand: equals("n", 1) }, 3],
  ];
}
