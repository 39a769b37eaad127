import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type MaintenanceProgress, openStore, repairFolder, verifyFolder } from "holdfast";
import { afterEach, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";

const RECORDS = 3_000;
const DIMENSIONS = 64;
const PAGE_BYTES = 16_384;

/** The first byte of a page of a table that holds no rows itself. */
const TABLE_INTERIOR = 0x05;

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

describe("[backend embedded] a repair that is killed", () => {
  it.each(["verify", "salvage", "stores", "proof"])(
    "[O1] during %s has left the folder as it was, and the next one brings everything back",
    async (stage) => {
      const path = await damagedFolder();
      const before = digestOf(path);
      const child = await start(path);
      assert.equal(await child.ask({ type: "until", stage }), stage);
      await child.kill();
      if (stage === "verify") assert.equal(digestOf(path), before);
      const next = await start(path);
      assert.deepEqual(await next.ask({ type: "rest" }), { outcome: "repaired", complete: true });
      await assertWhole(path);
    },
  );

  it("[O1, E5] keeps others out of the folder while it is at work, and a second repair too", async () => {
    const path = await damagedFolder();
    const child = await start(path);
    await child.ask({ type: "until", stage: "stores" });
    await assert.rejects(repairFolder(path), { code: "BUSY" });
    await assert.rejects(openStore({ path, name: "docs", dimensions: DIMENSIONS, lockTimeoutMs: 50 }), {
      code: "BUSY",
    });
    await child.kill();
    assert.equal((await repairFolder(path)).complete, true);
    await assertWhole(path);
  });
});

describe("[backend embedded] verify and repair in a thread of their own", () => {
  it("[O1, O6] leave the calling thread free, tell how far they are, and end where they are stopped", async () => {
    const path = await damagedFolder();
    let turns = 0;
    let isOver = false;
    const tick = (): void => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    tick();
    undo.push(() => {
      isOver = true;
    });
    const stages: string[] = [];
    const onProgress = ({ stage }: MaintenanceProgress): void => void stages.push(stage);
    const report = await verifyFolder(path, { deep: true, onProgress });
    assert.equal(report.ok, false);
    assert.ok(turns > 10, `${turns} turns of the calling thread`);
    assert.ok(stages.length > 0);
    await assert.rejects(verifyFolder(path, { signal: AbortSignal.abort() }), { code: "ABORTED" });
    const controller = new AbortController();
    const stopped = repairFolder(path, { signal: controller.signal, onProgress: () => controller.abort() });
    await assert.rejects(stopped, { code: "ABORTED" });
    assert.deepEqual(readdirSync(path), ["holdfast.db"]);
    assert.equal((await repairFolder(path)).outcome, "repaired");
    await assertWhole(path);
  });

  it("[O1] see a live folder of another handle at one moment, and refuse to repair it", async () => {
    const { path, remove } = temporaryFolder();
    undo.push(remove);
    const store = await openStore({ path, name: "docs", dimensions: DIMENSIONS });
    undo.push(() => store.close());
    const partition = await store.createPartition("main");
    await partition.upsert(Array.from({ length: 200 }, (_, index) => ({ id: `r${index}`, vector: vectorOf(index) })));
    const verifying = verifyFolder(path);
    await partition.upsert([{ id: "late", vector: vectorOf(999) }]);
    const report = await verifying;
    assert.equal(report.ok, true);
    assert.ok([200, 201].includes(report.counts.records));
    await assert.rejects(repairFolder(path, { force: true }), { code: "BUSY" });
    assert.equal(await partition.count(), 201);
  });
});

/** A store of some pages whose records lie behind a damaged root. */
async function damagedFolder(): Promise<string> {
  const { path, remove } = temporaryFolder();
  undo.push(remove);
  const store = await openStore({ path, name: "docs", dimensions: DIMENSIONS });
  const partition = await store.createPartition("main");
  await partition.upsert(Array.from({ length: RECORDS }, (_, index) => ({ id: `r${index}`, vector: vectorOf(index) })));
  await store.close();
  breakInnerPages(join(path, "holdfast.db"));
  return path;
}

/** Every page that only leads to others: no row is lost, and no row is found. */
function breakInnerPages(file: string): void {
  const content = readFileSync(file);
  const descriptor = openSync(file, "r+");
  let broken = 0;
  for (let at = PAGE_BYTES; at < content.byteLength; at += PAGE_BYTES) {
    if (content[at] !== TABLE_INTERIOR) continue;
    writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, at);
    broken += 1;
  }
  closeSync(descriptor);
  assert.ok(broken > 0, "the store has inner pages");
}

async function assertWhole(path: string): Promise<void> {
  const { findings, ok } = await verifyFolder(path);
  assert.deepEqual([ok, findings.filter(({ kind }) => kind !== "set-aside")], [true, []]);
  const store = await openStore({ path, name: "docs", dimensions: DIMENSIONS });
  const partition = await store.getPartition("main");
  assert.equal(await partition?.count(), RECORDS);
  const asked = Array.from({ length: 60 }, (_, index) => index * 50);
  const answers = await partition?.queryMany({ vectors: asked.map(vectorOf), limit: 1 });
  assert.deepEqual(
    answers?.map(({ matches }) => matches[0]?.id),
    asked.map((index) => `r${index}`),
  );
  await store.close();
}

function vectorOf(index: number): Float32Array {
  return Float32Array.from({ length: DIMENSIONS }, (_, component) => Math.sin((index + 1) * (component + 1)));
}

function digestOf(path: string): string {
  return createHash("sha256")
    .update(readFileSync(join(path, "holdfast.db")))
    .digest("hex");
}

async function start(path: string): Promise<Child> {
  const child = await Child.start("repairer", path);
  undo.push(() => child.kill());
  return child;
}
