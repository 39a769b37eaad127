import assert from "node:assert/strict";
import { LIMITS } from "../../contract/limits.ts";
import { fan, idsOf, refuses, scanned } from "../assertions.ts";
import { PARTITION_KEY, type TestCase } from "../test-bed.ts";
import { HOSTILE_IDS } from "../texts.ts";

/** Paging through records. */
export function scanSuite(it: TestCase): void {
  it("[Q3] a scan answers every record once, ordered by the UTF-8 bytes of its id, in pages of the asked size", async (bed) => {
    const partition = await bed.openPartition();
    const records = [
      ...fan(100),
      ...HOSTILE_IDS.map((id) => ({ id, vector: [1, 0, 0] })),
      { id: "\u{10000}", vector: [1, 0, 0] },
    ];
    await partition.upsert(records);
    const sorted = [...idsOf(records)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const pageSize of [1, 7, sorted.length - 1, sorted.length, sorted.length + 1]) {
      const ids: string[] = [];
      for await (const page of partition.scan({ pageSize })) {
        assert.ok(page.records.length > 0 && page.records.length <= pageSize);
        assert.equal(page.damaged, 0);
        ids.push(...idsOf(page.records));
      }
      assert.deepEqual(ids, sorted, `pages of ${pageSize}`);
    }
    assert.deepEqual(idsOf(await scanned(partition, { after: sorted[9] ?? "" })), sorted.slice(10));
    assert.deepEqual(await scanned(partition, { after: sorted.at(-1) ?? "" }), []);
  });

  it("[Q6] a scan with a filter pages through the admitted records alone", async (bed) => {
    const partition = await bed.openPartition({ properties: { n: "int" } });
    await partition.upsert(fan(500).map((record, n) => ({ ...record, properties: { n } })));
    const found = await scanned(partition, { where: "n IN (3, 250, 499, 7)", pageSize: 2 });
    assert.deepEqual(idsOf(found), ["r250", "r3", "r499", "r7"]);
    assert.deepEqual(
      found.map(({ properties }) => properties.n),
      [250, 3, 499, 7],
    );
  });

  it("[Q8] a record that is there from start to end is answered exactly once while others come and go", async (bed) => {
    const store = await bed.open({ properties: { n: "int" } });
    const partition = await store.createPartition(PARTITION_KEY);
    const staying = fan(200, 3, "stay");
    await partition.upsert([...staying, ...fan(200, 3, "go")]);
    const seen: string[] = [];
    let turn = 0;
    for await (const page of partition.scan({ pageSize: 23 })) {
      seen.push(...idsOf(page.records));
      await partition.delete({ ids: [`go${turn}`, `go${199 - turn}`] });
      await partition.upsert([
        { id: `come${turn}`, vector: [0, 1, 0] },
        { id: `stay${turn}`, vector: [0, 0, 1], properties: { n: turn } },
      ]);
      turn += 1;
    }
    assert.equal(new Set(seen).size, seen.length, "none is answered twice");
    const answered = new Set(seen);
    for (const { id } of staying) assert.ok(answered.has(id), `${id} is answered`);
  });

  it("[Q5] sizes of pages and places to start that mean nothing are refused", async (bed) => {
    const partition = await bed.openPartition();
    for (const pageSize of [0, -1, 1.5, Number.NaN, LIMITS.scanPageMax + 1, "5"]) {
      await refuses(
        () => partition.scan({ pageSize: pageSize as number }).next(),
        "INVALID_ARGUMENT",
        String(pageSize),
      );
    }
    for (const after of ["x".repeat(513), 5, "\ud800"]) {
      await refuses(() => partition.scan({ after: after as string }).next(), "INVALID_NAME", String(after));
    }
  });

  it("[Q8] a scan can be left early and begun again", async (bed) => {
    const partition = await bed.openPartition();
    await partition.upsert(fan(50));
    for await (const page of partition.scan({ pageSize: 10 })) {
      assert.equal(page.records.length, 10);
      break;
    }
    assert.equal((await scanned(partition)).length, 50);
    await partition.upsert(fan(60));
    assert.equal((await scanned(partition, { pageSize: 7 })).length, 60);
  });
}
