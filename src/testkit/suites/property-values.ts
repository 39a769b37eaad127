import assert from "node:assert/strict";
import type { PropertyInputValue, PropertyKind, PropertySchema } from "../../contract/properties.ts";
import type { Partition } from "../../contract/store.ts";
import { only, refuses } from "../assertions.ts";
import type { TestCase } from "../test-bed.ts";

const VECTOR: readonly number[] = [1, 0, 0];
const ALL_KINDS: PropertySchema = { s: "string", i: "int", f: "float", b: "bool", d: "datetime" };

/** Values that no key of the kind takes, as a caller without types would write them. */
const MISTYPED: Readonly<Record<PropertyKind, readonly unknown[]>> = {
  string: [1, true, 1n, new Date(0), {}, ["a"], Symbol("s")],
  int: ["1", 1.5, true, false, "", [], {}, new Date(0), Number.MIN_VALUE],
  float: ["1.5", true, false, [], {}, new Date(0)],
  bool: [0, 1, "true", "", 1n, {}],
  datetime: [0, 1n, true, "yesterday", "", {}, []],
};

const INT64 = [
  0n,
  1n,
  -1n,
  9_007_199_254_740_991n,
  -9_007_199_254_740_991n,
  9_007_199_254_740_992n,
  9_007_199_254_740_993n,
  -9_007_199_254_740_993n,
  2n ** 62n + 1n,
  -(2n ** 63n),
  2n ** 63n - 1n,
] as const;

const FLOATS = [
  0,
  0.1 + 0.2,
  0.3,
  -1.5,
  1e21,
  1e-300,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
  2 ** 53,
  1 / 3,
] as const;

/** What is written, and how it is read back. */
const DATETIMES: readonly (readonly [PropertyInputValue, string])[] = [
  [new Date(0), "1970-01-01T00:00:00.000000Z"],
  [new Date(-1), "1969-12-31T23:59:59.999000Z"],
  ["2024-01-01T00:00:00+05:30", "2023-12-31T18:30:00.000000Z"],
  ["2024-02-29T23:59:59.123456Z", "2024-02-29T23:59:59.123456Z"],
  ["2024-05-01T12:00:00", "2024-05-01T12:00:00.000000Z"],
  ["2024-05-01T12:00:00.5", "2024-05-01T12:00:00.500000Z"],
  ["1900-01-01T00:00:00-00:44:30", "1900-01-01T00:44:30.000000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
  [{ epochNanoseconds: 1_700_000_000_123_456_000n }, "2023-11-14T22:13:20.123456Z"],
];

const NO_INSTANTS: readonly unknown[] = [
  "2024-01-01T00:00:00.1234567Z",
  "2024-12-31T23:59:60Z",
  "2024-02-30T00:00:00Z",
  "2023-02-29T00:00:00Z",
  "2024-13-01T00:00:00Z",
  "2024-01-01T24:00:00Z",
  "2024-01-01T00:00:00+24:00",
  "0001-01-01T00:00:00+00:01",
  "9999-12-31T23:59:59.999999-00:01",
  "0000-12-31T23:59:59Z",
  "2024-01-01",
  "12:00:00",
  "2024-01-01T00:00:00Z\n",
  new Date(Number.NaN),
  { epochNanoseconds: 1n },
];

/** Types, bounds and forms of values (V2–V7, V9). */
export function propertyValueSuite(it: TestCase): void {
  refusals(it);
  roundTrips(it);
  datetimes(it);
}

function refusals(it: TestCase): void {
  it("[V2] a key that is not declared is refused, and nothing of the batch is written", async (bed) => {
    const partition = await bed.openPartition({ properties: { year: "int" } });
    const names = ["yaer", "Year", "constructor", "toString", "hasOwnProperty", "", "year ", "id", "vector"];
    for (const name of names) {
      const batch = [
        { id: "a", vector: VECTOR, properties: { year: 1 } },
        { id: "b", vector: VECTOR, properties: { [name]: 1 } },
      ];
      await refuses(partition.upsert(batch), "UNDECLARED_PROPERTY", JSON.stringify(name));
      await refuses(partition.patch("a", { [name]: 1 }), "UNDECLARED_PROPERTY", `patch ${JSON.stringify(name)}`);
    }
    const polluting = JSON.parse('{"__proto__": {"year": 1}}') as Record<string, number>;
    await refuses(partition.upsert([{ id: "a", vector: VECTOR, properties: polluting }]), "UNDECLARED_PROPERTY");
    assert.equal(await partition.count(), 0);
  });

  it("[V3] a value of another type than declared is refused, and nothing is written", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const [key, kind] of Object.entries(ALL_KINDS)) {
      for (const value of MISTYPED[kind]) {
        const properties = { [key]: value as PropertyInputValue };
        const what = `${typeof value} for ${kind}`;
        await refuses(partition.upsert([{ id: "a", vector: VECTOR, properties }]), "PROPERTY_TYPE_MISMATCH", what);
        await refuses(partition.patch("a", properties), "PROPERTY_TYPE_MISMATCH", `patch, ${what}`);
      }
    }
    assert.equal(await partition.count(), 0);
  });

  it("[V5] an int that its number cannot hold exactly, or beyond 64 bits, is refused for int and float", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    const unsafe: readonly PropertyInputValue[] = [2 ** 53, -(2 ** 53), 1e21, 2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n];
    for (const i of unsafe) await refuses(write(partition, { i }), "PROPERTY_TYPE_MISMATCH", `int ${i}`);
    for (const f of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n]) {
      await refuses(write(partition, { f }), "PROPERTY_TYPE_MISMATCH", `float ${f}`);
    }
    assert.equal(await partition.count(), 0);
  });

  it("[V6] NaN and the infinities are refused as values", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      await refuses(write(partition, { f: value }), "PROPERTY_TYPE_MISMATCH");
      await refuses(write(partition, { i: value }), "PROPERTY_TYPE_MISMATCH");
    }
    assert.equal(await partition.count(), 0);
  });
}

function roundTrips(it: TestCase): void {
  it("[V3, V4] an integral number is an int, and −0 on an int key is 0", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const [written, read] of [
      [1.0, 1],
      [1e3, 1_000],
      [-0, 0],
      [5n, 5],
    ] as const) {
      assert.ok(Object.is(await readBack(partition, "i", written), read), `${written} is read as ${read}`);
    }
  });

  it("[V4] an integer for a float key becomes the float that it equals, or is refused when there is none", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    assert.equal(await readBack(partition, "f", 3n), 3);
    assert.equal(await readBack(partition, "f", 2n ** 60n), 2 ** 60);
    assert.equal(await readBack(partition, "f", -(2n ** 63n)), -(2 ** 63));
    assert.ok(Object.is(await readBack(partition, "f", -0), 0));
    for (const f of [2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 53n) - 1n]) {
      await refuses(write(partition, { f }), "PROPERTY_TYPE_MISMATCH", `${f} has no float`);
    }
  });

  it("[V4] what is written is the bound value, not the caller's object", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    const record = { id: "a", vector: [1, 0, 0], properties: { s: "before", d: new Date(0) } };
    await partition.upsert([record]);
    record.vector[0] = -1;
    record.properties.s = "after";
    record.properties.d.setTime(1);
    const [stored] = await partition.get(["a"], { includeVectors: true });
    assert.deepEqual(stored?.properties, { s: "before", d: "1970-01-01T00:00:00.000000Z" });
    assert.deepEqual(Array.from(stored?.vector ?? []), [1, 0, 0]);
  });

  it("[V5] the extremes of 64 bits round-trip exactly and are found by equality, each alone", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    await partition.upsert(INT64.map((i) => ({ id: String(i), vector: VECTOR, properties: { i } })));
    for (const value of INT64) {
      const [stored] = await partition.get([String(value)]);
      const safe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
      assert.deepEqual(stored?.properties, { i: safe ? Number(value) : value });
      const { matches } = await partition.query({ vector: VECTOR, where: `i = ${value}` });
      assert.equal(only(matches).id, String(value));
      assert.deepEqual(only(matches).properties, stored?.properties);
    }
  });

  it("[V5] a handle opened for bigints reads every int as one", async (bed) => {
    const store = await bed.open({ properties: ALL_KINDS, int64: "bigint" });
    const partition = await store.createPartition("main");
    for (const value of [0, 7, -1, 2n ** 63n - 1n]) assert.equal(await readBack(partition, "i", value), BigInt(value));
    assert.equal(await readBack(partition, "f", 7), 7);
  });

  it("[V5] a float key takes every finite number and gives it back", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const value of FLOATS) {
      assert.equal(await readBack(partition, "f", value), value);
      assert.equal(await partition.count({ where: (f) => f.field("f").eq(value) }), 1, `${value} is found`);
    }
  });

  it("[V9] an absent key, null and undefined are one state", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    const nothing = { s: null, i: null, f: undefined, b: null, d: undefined };
    await partition.upsert([
      { id: "absent", vector: VECTOR },
      { id: "empty", vector: VECTOR, properties: {} },
      { id: "nothing", vector: VECTOR, properties: nothing },
    ]);
    const stored = await partition.get(["absent", "empty", "nothing"]);
    for (const record of stored) assert.deepEqual(record?.properties, {});
    for (const key of Object.keys(ALL_KINDS)) assert.equal(await partition.count({ where: `${key} IS NULL` }), 3);
  });

  it("[V12] properties that are named like words of SQL, of records or of the builder work", async (bed) => {
    const names = [
      "id",
      "vector",
      "rowid",
      "select",
      "order",
      "and",
      "all",
      "field",
      "constructor",
      "row",
      "partition",
      "_",
      "0",
    ];
    const properties = Object.fromEntries(names.map((name) => [name, "int"] as const));
    const partition = await bed.openPartition({ properties });
    await partition.upsert([
      { id: "a", vector: VECTOR, properties: Object.fromEntries(names.map((name, index) => [name, index])) },
    ]);
    for (const [index, name] of names.entries()) {
      assert.equal((await partition.get(["a"]))[0]?.properties[name], index);
      assert.equal(await partition.count({ where: (f) => f.field(name).eq(index) }), 1, name);
      assert.equal(await partition.count({ where: (f) => f.field(name).ne(index) }), 0, name);
    }
  });
}

function datetimes(it: TestCase): void {
  it("[V7] an instant is kept to the microsecond and read in the one form", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const [written, read] of DATETIMES) {
      assert.equal(await readBack(partition, "d", written), read);
      assert.equal(await partition.count({ where: `d = timestamp '${read}'` }), 1, read);
    }
  });

  it("[V7] what is no instant of the years 0001 to 9999 to the microsecond is refused", async (bed) => {
    const partition = await bed.openPartition({ properties: ALL_KINDS });
    for (const value of NO_INSTANTS) {
      await refuses(write(partition, { d: value as PropertyInputValue }), "PROPERTY_TYPE_MISMATCH", String(value));
    }
    assert.equal(await partition.count(), 0);
  });
}

function write(partition: Partition, properties: Readonly<Record<string, PropertyInputValue>>): Promise<unknown> {
  return partition.upsert([{ id: "a", vector: VECTOR, properties }]);
}

async function readBack(partition: Partition, key: string, value: PropertyInputValue): Promise<unknown> {
  await write(partition, { [key]: value });
  return (await partition.get(["a"]))[0]?.properties[key];
}
