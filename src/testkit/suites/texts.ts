import assert from "node:assert/strict";
import type { Partition } from "../../contract/store.ts";
import { idsOf, only, refuses } from "../assertions.ts";
import { PARTITION_KEY, type TestBed, type TestCase } from "../test-bed.ts";
import { HOSTILE_IDS, HOSTILE_TEXTS, LONE_SURROGATES } from "../texts.ts";

const VECTOR: readonly number[] = [1, 0, 0];
const LONG_TEXT_BYTES = 1024 * 1024;

/** Strings, ids and names (V8, V12). */
export function textSuite(it: TestCase): void {
  it("[V8] any Unicode text round-trips as it is and is found by equality, each alone", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string" } });
    await partition.upsert(HOSTILE_TEXTS.map((s, index) => ({ id: `t${index}`, vector: VECTOR, properties: { s } })));
    for (const [index, s] of HOSTILE_TEXTS.entries()) {
      assert.equal((await partition.get([`t${index}`]))[0]?.properties.s, s);
      const { matches } = await partition.query({ vector: VECTOR, where: { s }, limit: 100 });
      assert.deepEqual(idsOf(matches), [`t${index}`], JSON.stringify(s));
      assert.equal(await partition.count({ where: `s = '${s.replaceAll("'", "''")}'` }), 1);
      assert.equal(await partition.count({ where: (f) => f.field("s").in([s, "nowhere"]) }), 1);
    }
  });

  it("[V8] a half of a surrogate pair is refused, naming the field, and nothing of the batch is written", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string" } });
    for (const s of LONE_SURROGATES) {
      const batch = ["a", "b", s, "d", "e"].map((text, index) => ({
        id: `t${index}`,
        vector: VECTOR,
        properties: { s: text },
      }));
      const error = await refuses(partition.upsert(batch), "INVALID_TEXT");
      assert.match(error.message, /"s"/);
      await refuses(partition.patch("t0", { s }), "INVALID_TEXT");
      await refuses(partition.count({ where: { s } }), "INVALID_TEXT");
    }
    assert.equal(await partition.count(), 0);
  });

  it("[V8] a text of any length round-trips, or one beyond the backend's limit is refused before it is sent", async (bed) => {
    const store = await bed.open({ properties: { s: "string" } });
    const partition = await store.createPartition(PARTITION_KEY);
    const { stringBytesMax } = store.capabilities;
    const lengthBytes = stringBytesMax ?? LONG_TEXT_BYTES;
    const s = `${"ab\0".repeat(Math.floor((lengthBytes - 4) / 3))}😀`;
    await partition.upsert([{ id: "long", vector: VECTOR, properties: { s } }]);
    assert.ok((await partition.get(["long"]))[0]?.properties.s === s);
    assert.equal(await partition.count({ where: (f) => f.field("s").eq(s) }), 1);
    assert.equal(await partition.count({ where: (f) => f.field("s").eq(`${s} `) }), 0);
    if (stringBytesMax === null) return;
    const longer = "a".repeat(stringBytesMax + 1);
    await refuses(partition.upsert([{ id: "longer", vector: VECTOR, properties: { s: longer } }]), "LIMIT_EXCEEDED");
    assert.equal(await partition.count(), 1);
  });

  ids(it);
  names(it);
}

function ids(it: TestCase): void {
  it("[V12] any Unicode text of 1 to 512 bytes is an id of a record, in every call", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    const all = [...HOSTILE_IDS, "x".repeat(512), "😀".repeat(128), "3f2504e0-4f89-41d3-9a0c-0305e82c3301"];
    await partition.upsert(all.map((id, n) => ({ id, vector: VECTOR, properties: { n } })));
    assert.equal(await partition.count(), all.length);
    for (const [n, id] of all.entries()) await assertAddressable(partition, id, n);
    for (const id of all) {
      assert.equal((await partition.delete({ ids: [id] })).deleted, 1, JSON.stringify(id));
      assert.deepEqual(await partition.get([id]), [undefined]);
    }
    assert.equal(await partition.count(), 0);
  });

  it("[V12] what is no id is refused by every call that takes one", async (bed) => {
    const partition = await bed.openPartition();
    const wrong: readonly unknown[] = [
      "",
      "x".repeat(513),
      "😀".repeat(129),
      ...LONE_SURROGATES,
      1,
      null,
      undefined,
      {},
      ["a"],
    ];
    for (const value of wrong) {
      const id = value as string;
      await refuses(partition.upsert([{ id, vector: VECTOR }]), "INVALID_NAME");
      await refuses(partition.patch(id, {}), "INVALID_NAME");
      await refuses(partition.get(["a", id]), "INVALID_NAME");
      await refuses(partition.delete({ ids: ["a", id] }), "INVALID_NAME");
      await refuses(partition.score(VECTOR, [id]), "INVALID_NAME");
    }
    assert.equal(await partition.count(), 0);
  });
}

async function assertAddressable(partition: Partition, id: string, n: number): Promise<void> {
  const [stored] = await partition.get([id]);
  assert.deepEqual(stored, { id, properties: { n } });
  const { matches } = await partition.query({ vector: VECTOR, where: `n = ${n}` });
  assert.equal(only(matches).id, id);
  assert.notEqual(await partition.patch(id, { n: n + 1_000 }), undefined);
  assert.equal((await partition.get([id]))[0]?.properties.n, n + 1_000);
  assert.equal((await partition.score(VECTOR, [id]))[0], 1);
}

function names(it: TestCase): void {
  it("[V12] names of partitions, stores and properties are 1 to 32 of a-z, 0-9 and _", async (bed) => {
    const store = await bed.open();
    const wrong: readonly unknown[] = [
      "",
      "A",
      "a b",
      "a-b",
      "a.b",
      "a\n",
      "\na",
      "a/b",
      "../a",
      "é",
      "x".repeat(33),
      "__proto__",
      "a'",
      '"',
      "a%",
      1,
      null,
      undefined,
      {},
    ];
    for (const value of wrong) {
      const name = value as string;
      await refuses(store.createPartition(name), "INVALID_NAME", String(value));
      await refuses(store.getPartition(name), "INVALID_NAME", String(value));
      await refuses(store.deletePartition(name), "INVALID_NAME", String(value));
      await refuses(() => bed.open({ name }), "INVALID_NAME", String(value));
    }
    for (const name of ["", "Year", "a b", "x".repeat(33), "m", "metadata", "a\n"]) {
      await refuses(() => bed.open({ name: "names", properties: { [name]: "int" } }), "INVALID_NAME", name);
    }
    assert.deepEqual(await store.listPartitions(), []);
    for (const key of ["a", "_", "0", "x".repeat(32), "con", "nul", "select"]) await store.createPartition(key);
    assert.equal((await store.listPartitions()).length, 7);
  });

  it("[V12, P10] keys that are wildcards or prefixes of one another do not meet", async (bed) => {
    await assertApart(bed, ["a", "a_", "ab", "aa", "_", "a1"]);
  });
}

async function assertApart(bed: TestBed, keys: readonly string[]): Promise<void> {
  const store = await bed.open();
  for (const key of keys) {
    const partition = await store.createPartition(key);
    await partition.upsert([{ id: `of ${key}`, vector: VECTOR }]);
  }
  for (const key of keys) {
    const partition = await store.getPartition(key);
    const { matches } = (await partition?.query({ vector: VECTOR, limit: 100 })) ?? { matches: [] };
    assert.deepEqual(idsOf(matches), [`of ${key}`]);
  }
  await store.deletePartition("a_");
  const left = await store.listPartitions();
  assert.deepEqual(
    left.map(({ key, records }) => [key, records]),
    keys
      .filter((key) => key !== "a_")
      .sort()
      .map((key) => [key, 1]),
  );
}
