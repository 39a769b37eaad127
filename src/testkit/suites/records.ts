import assert from "node:assert/strict";
import { LIMITS } from "../../contract/limits.ts";
import type { RecordInput } from "../../contract/store.ts";
import { assertOwnNearest, direction, fan, idsOf, only, refuses } from "../assertions.ts";
import type { TestCase } from "../test-bed.ts";

const VECTOR: readonly number[] = [1, 0, 0];

/** Around the number of parameters that databases bind at once, divided by 6 and by 1. */
const BATCH_SIZES: readonly number[] = [1, 2, 999, 1_000, 1_001, 5_461, 5_462];

/** Writing, changing and deleting records (V1, V11, V14–V16). */
export function recordSuite(it: TestCase): void {
  batches(it);
  changes(it);
  deletes(it);
}

function batches(it: TestCase): void {
  it("[V1] a batch that names one id twice is refused, naming it, and nothing is written", async (bed) => {
    const partition = await bed.openPartition();
    const batch = [...fan(1_500), { id: "r7", vector: VECTOR }];
    const error = await refuses(partition.upsert(batch), "DUPLICATE_RECORD_ID");
    assert.equal(error.details.id, "r7");
    assert.equal(await partition.count(), 0);
    await partition.upsert([
      { id: "e\u0301", vector: VECTOR },
      { id: "\u00e9", vector: VECTOR },
      { id: "E\u0301", vector: VECTOR },
    ]);
    assert.equal(await partition.count(), 3, "ids are compared as they are, without normalisation or case");
  });

  it("[V14] a batch with one bad record is refused whole, wherever it stands", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    const good = fan(2_500);
    for (const position of [0, 1_250, 2_500]) {
      const batch: readonly RecordInput[] = [
        ...good.slice(0, position),
        { id: "bad", vector: VECTOR, properties: { n: 0.5 } },
        ...good.slice(position),
      ];
      await refuses(partition.upsert(batch), "PROPERTY_TYPE_MISMATCH");
      assert.equal(await partition.count(), 0, `bad record at ${position}`);
    }
    const holes = [...good.slice(0, 3), undefined as unknown as RecordInput];
    await refuses(partition.upsert(holes), "INVALID_ARGUMENT");
    await refuses(partition.upsert("records" as unknown as readonly RecordInput[]), "INVALID_ARGUMENT");
    assert.equal(await partition.count(), 0);
  });

  it("[V14] batches of every size are written, read and deleted whole", async (bed) => {
    const partition = await bed.openPartition();
    for (const size of BATCH_SIZES) {
      const records = fan(size);
      const receipt = await partition.upsert(records);
      assert.deepEqual([receipt.inserted, receipt.replaced], [size, 0]);
      assert.deepEqual(receipt.ids, idsOf(records));
      assert.equal(await partition.count(), size);
      const read = await partition.get(idsOf(records));
      assert.deepEqual(
        read.map((record) => record?.id),
        idsOf(records),
      );
      assert.equal((await partition.delete({ ids: idsOf(records) })).deleted, size);
      assert.equal(await partition.count(), 0);
    }
  });

  it("[V14] a batch, or a list of ids, beyond the limit is refused before anything is looked at", async (bed) => {
    const partition = await bed.openPartition();
    const tooMany = new Array<RecordInput>(LIMITS.recordsPerBatchMax + 1).fill({ id: "a", vector: VECTOR });
    await refuses(partition.upsert(tooMany), "LIMIT_EXCEEDED");
    const ids = new Array<string>(LIMITS.idsPerCallMax + 1).fill("a");
    await refuses(partition.get(ids), "LIMIT_EXCEEDED");
    await refuses(partition.delete({ ids }), "LIMIT_EXCEEDED");
    await refuses(partition.score(VECTOR, ids), "LIMIT_EXCEEDED");
  });

  it("[V15] an empty batch writes nothing", async (bed) => {
    const partition = await bed.openPartition();
    const before = await partition.upsert([{ id: "a", vector: VECTOR }]);
    const receipt = await partition.upsert([]);
    assert.deepEqual(receipt, { ids: [], inserted: 0, replaced: 0, position: before.position });
    assert.equal(await partition.count(), 1);
  });
}

function changes(it: TestCase): void {
  it("[V11] an upsert replaces the whole record", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string", n: "int" } });
    await partition.upsert([{ id: "a", vector: [1, 0, 0], properties: { s: "old", n: 1 } }]);
    const receipt = await partition.upsert([
      { id: "a", vector: [0, 1, 0], properties: { n: 2 } },
      { id: "b", vector: [0, 0, 1] },
    ]);
    assert.deepEqual([receipt.inserted, receipt.replaced], [1, 1]);
    const [stored] = await partition.get(["a"], { includeVectors: true });
    assert.deepEqual(stored?.properties, { n: 2 });
    assert.deepEqual(Array.from(stored?.vector ?? []), [0, 1, 0]);
    const { matches } = await partition.query({ vector: [1, 0, 0], limit: 10 });
    assert.deepEqual(
      matches.map(({ cosineSimilarity }) => cosineSimilarity),
      [0, 0],
    );
  });

  it("[V11] a patch changes properties alone: null removes, undefined and absent leave", async (bed) => {
    const partition = await bed.openPartition({ properties: { s: "string", n: "int", b: "bool", d: "datetime" } });
    await partition.upsert([{ id: "a", vector: [1, 2, 3], properties: { s: "x", n: 1, b: true, d: new Date(0) } }]);
    const receipt = await partition.patch("a", { n: 2, b: null, d: undefined });
    assert.ok((receipt?.position ?? 0) > 0);
    const [stored] = await partition.get(["a"], { includeVectors: true });
    assert.deepEqual(stored?.properties, { s: "x", n: 2, d: "1970-01-01T00:00:00.000000Z" });
    assert.equal(only((await partition.query({ vector: [1, 2, 3], where: "n = 2 AND b IS NULL" })).matches).id, "a");
    assert.equal(await partition.count({ where: "n = 1" }), 0);
    await partition.patch("a", {});
    assert.equal(await partition.count(), 1);
  });

  it("[V11] a patch of an unknown id answers undefined and makes no record", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    assert.equal(await partition.patch("nobody", { n: 1 }), undefined);
    assert.equal(await partition.count(), 0);
  });

  it("[V11] get answers in the order that was asked, unknown ids as undefined, repeated ids again", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(3));
    const stored = await partition.get(["r2", "nobody", "r0", "r2"]);
    assert.deepEqual(
      stored.map((record) => record?.id),
      ["r2", undefined, "r0", "r2"],
    );
    assert.deepEqual(await partition.get([]), []);
    assert.deepEqual(await partition.score(direction(0, 3), ["r0", "nobody"]), [1, undefined]);
  });

  it("[V13] the position of a partition rises with each write and is what the next search is of", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    const positions = [(await partition.upsert(fan(2))).position];
    positions.push((await partition.patch("r0", { n: 1 }))?.position ?? 0);
    positions.push((await partition.delete({ ids: ["r1"] })).position);
    positions.push((await partition.upsert([])).position);
    const answer = await partition.query({ vector: VECTOR });
    const [first = 0, second = 0, third = 0, fourth = 0] = positions;
    assert.ok(first < second && second < third && third === fourth, positions.join(" "));
    assert.equal(answer.position, third);
  });
}

function deletes(it: TestCase): void {
  it("[V16] deleting unknown ids is no error; the answer counts each deleted record once", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(3));
    assert.equal((await partition.delete({ ids: ["nobody"] })).deleted, 0);
    assert.equal((await partition.delete({ ids: [] })).deleted, 0);
    assert.equal((await partition.delete({ ids: ["r0", "nobody", "r0"] })).deleted, 1);
    assert.equal((await partition.delete({ ids: ["r0"] })).deleted, 0);
    assert.equal(await partition.count(), 2);
  });

  it("[V16] a dry run counts what would be deleted and deletes nothing", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    await partition.upsert(fan(4).map((record, n) => ({ ...record, properties: { n } })));
    assert.equal((await partition.delete({ ids: ["r0", "r0", "nobody"] }, { dryRun: true })).deleted, 1);
    assert.equal((await partition.delete({ where: "n >= 2" }, { dryRun: true })).deleted, 2);
    assert.equal(await partition.count(), 4);
    assert.equal((await partition.delete({ where: "n >= 2" })).deleted, 2);
    assert.equal(await partition.count(), 2);
  });

  it("[V16] what to delete is said exactly once", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(2));
    for (const selection of [
      {},
      null,
      undefined,
      "r0",
      [],
      { ids: ["r0"], where: "FALSE" },
      { id: "r0" },
      { ids: "r0" },
      { ids: undefined },
    ]) {
      await refuses(
        partition.delete(selection as { ids: readonly string[] }),
        "INVALID_ARGUMENT",
        JSON.stringify(selection),
      );
    }
    assert.equal(await partition.count(), 2);
  });

  it("[Q8] after b of a, b, c is deleted and d inserted, each is still its own nearest", async (bed) => {
    const partition = await bed.openPartition();
    const [a, b, c, d] = fan(4) as readonly [RecordInput, RecordInput, RecordInput, RecordInput];
    await partition.upsert([a, b, c]);
    await partition.delete({ ids: [b.id] });
    await partition.upsert([d]);
    await assertOwnNearest(partition, [a, c, d]);
    const { matches } = await partition.query({ vector: b.vector, limit: 10 });
    assert.equal(idsOf(matches).includes(b.id), false);
  });

  it("[Q8] a key written twice is one record, and gone after one delete", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert([{ id: "a", vector: [1, 0, 0] }]);
    await partition.upsert([{ id: "a", vector: [0, 1, 0] }]);
    assert.equal(await partition.count(), 1);
    assert.equal(only((await partition.query({ vector: [1, 0, 0], limit: 10 })).matches).cosineSimilarity, 0);
    assert.equal((await partition.delete({ ids: ["a"] })).deleted, 1);
    assert.equal(await partition.count(), 0);
    assert.deepEqual((await partition.query({ vector: [0, 1, 0] })).matches, []);
  });

  it("[E14] an erasing delete says whether the bytes are gone, or is refused where the backend cannot", async (bed) => {
    const store = await bed.open();
    const partition = await store.createPartition("main");
    await partition.upsert(fan(3));
    if (!store.capabilities.erase) {
      await refuses(partition.delete({ ids: ["r0"] }, { erase: true }), "INVALID_ARGUMENT");
      return;
    }
    const receipt = await partition.delete({ ids: ["r0"] }, { erase: true });
    assert.equal(receipt.deleted, 1);
    assert.match(receipt.erasure ?? "", /^(complete|pending)$/);
    const ended = await store.deletePartition("main", { erase: true });
    assert.match(ended.erasure ?? "", /^(complete|pending)$/);
  });
}
