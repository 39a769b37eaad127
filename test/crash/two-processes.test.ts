import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { isHoldfastError, openStore, type Store } from "holdfast";
import { afterEach, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";

interface Seen {
  readonly count: number;
  readonly found: readonly (string | undefined)[];
  readonly present: readonly (string | undefined)[];
}

const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

describe("[backend embedded] several processes on one folder", () => {
  it("[E5, P12] two processes open at once and write 20 records each at once: 40 are present and findable in both", async () => {
    const path = folder();
    const children = await Promise.all([start("shared-writer", path), start("shared-writer", path)]);
    const [left, right] = [ids("a"), ids("b")];
    await Promise.all([
      children[0]?.ask({ type: "write", ids: left }),
      children[1]?.ask({ type: "write", ids: right }),
    ]);
    const all = [...left, ...right];
    for (const child of children) await assertSees(child, all);
    const store = await open(path, { name: "shared", dimensions: 64 });
    assert.equal(await (await store.getPartition("main"))?.count(), 40);
    for (const child of children) assert.equal(await child.ask({ type: "close" }), "closed");
  });

  it("[E5, V13] each process sees the other's writes with its next call, turn by turn", async () => {
    const path = folder();
    const [left, right] = [await start("shared-writer", path), await start("shared-writer", path)];
    const written: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const [writer, reader] = turn % 2 === 0 ? [left, right] : [right, left];
      const id = `${turn % 2 === 0 ? "a" : "b"}${turn}`;
      await writer.ask({ type: "write", ids: [id] });
      written.push(id);
      await assertSees(reader, written);
    }
    await left.kill();
    await assertSees(right, written);
  });

  it("[E5, E7] 300 records of another process are found by one that keeps its partition in memory", async () => {
    const path = folder();
    const [left, right] = [await start("shared-writer", path), await start("shared-writer", path)];
    await left.ask({ type: "write", ids: ids("a", 60) });
    const store = await open(path, { name: "shared", dimensions: 64 });
    const partition = await store.getPartition("main");
    assert.ok(partition !== undefined);
    const vectors = Array.from({ length: 300 }, (_, index) => axis(index));
    await partition.upsert(vectors.map((vector, index) => ({ id: `z${index}`, vector })));
    await assertSees(right, ids("a", 60));
    await partition.delete({ ids: ids("a", 30) });
    const seen = (await right.ask({ type: "read", ids: ids("a", 60) })) as Seen;
    assert.equal(seen.count, 330);
    assert.deepEqual(
      seen.present.slice(0, 30),
      Array.from({ length: 30 }, () => undefined),
    );
    assert.deepEqual(seen.found.slice(30), ids("a", 60).slice(30));
    for (const id of seen.found.slice(0, 30)) assert.ok(!ids("a", 30).includes(id ?? ""), `${id} was deleted`);
    // Nothing is missing now that a reader would have to look for: it has to be told of what is new.
    await left.ask({ type: "write", ids: ids("b", 10) });
    await assertSees(right, ids("b", 10));
  });
});

describe("[backend embedded] a write lock that another process holds", () => {
  it("[E4, E7] is waited for: the write does not fail, and the calling thread goes on reading meanwhile", async () => {
    const path = folder();
    const store = await open(path, { name: "locked", dimensions: 3 });
    const partition = await store.createPartition("main");
    await partition.upsert([{ id: "before", vector: [1, 0, 0] }]);
    const holder = await start("lock-holder", join(path, "holdfast.db"));
    assert.equal(await holder.ask("hold"), "hold");
    let settled = false;
    const writes = ["a", "b", "c"].map((id) => partition.upsert([{ id, vector: [0, 1, 0] }]));
    const writing = Promise.all(writes).finally(() => {
      settled = true;
    });
    // Were this thread held by the lock, it could not send the message that releases it.
    for (let turn = 0; turn < 100; turn += 1) {
      assert.deepEqual(
        (await partition.query({ vector: [1, 0, 0] })).matches.map(({ id }) => id),
        ["before"],
      );
      assert.equal((await partition.get(["a"]))[0], undefined);
    }
    assert.equal(settled, false, "the lock was held all the time");
    assert.equal(await holder.ask("release"), "release");
    await writing;
    assert.equal(await partition.count(), 4);
  });

  it("[E4] that outlasts the bound is a typed error that may be retried, and what it refused is nowhere", async () => {
    const path = folder();
    const store = await open(path, { name: "locked", dimensions: 3 }, 100);
    const partition = await store.createPartition("main");
    const holder = await start("lock-holder", join(path, "holdfast.db"));
    await holder.ask("hold");
    const refused = await partition.upsert([{ id: "a", vector: [1, 0, 0] }]).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(isHoldfastError(refused, "BUSY"), String(refused));
    assert.deepEqual([refused.outcome, refused.retry], ["not-applied", "later"]);
    await holder.ask("release");
    assert.equal(await partition.count(), 0);
    await partition.upsert([{ id: "a", vector: [1, 0, 0] }]);
    assert.equal(await partition.count(), 1);
  });

  it("[E4, O5] ends with the process that held it", async () => {
    const path = folder();
    const store = await open(path, { name: "locked", dimensions: 3 });
    const partition = await store.createPartition("main");
    const holder = await start("lock-holder", join(path, "holdfast.db"));
    await holder.ask("hold");
    const write = partition.upsert([{ id: "a", vector: [1, 0, 0] }]);
    await holder.kill();
    assert.equal((await write).inserted, 1);
  });
});

describe("[backend embedded] locks that a process drops by itself", () => {
  it("[E13, V13] by opening and closing the folder's files beside SQLite: the next write is refused, and none is lost", async () => {
    const { acknowledged, refused, lost } = await writeAfter("touch");
    assert.match(refused ?? "", /^FAILED: .* was removed or replaced/, "another opener should have removed the log");
    assert.deepEqual({ acknowledged, lost }, { acknowledged: 20, lost: 0 });
  });

  it("[E13] are kept when the store is opened again, by any path: every acknowledged write is there", async () => {
    assert.deepEqual(await writeAfter("share"), { acknowledged: 120, refused: undefined, lost: 0 });
  });
});

/**
 * A writer that may have lost its locks; another process opens the folder and closes it, and would so remove the
 * log under the writer; the writer goes on and is killed. Answers how many acknowledged writes are gone.
 */
async function writeAfter(before: "touch" | "share") {
  const path = folder();
  const writer = await start("careless-writer", path);
  let acknowledged = Number(await writer.ask({ type: "write", count: 20 }));
  let refused: string | undefined;
  const alias = `${path}-alias`;
  symlinkSync(path, alias);
  await writer.ask({ type: before, alias });
  const other = await start("shared-writer", path);
  assert.equal(await other.ask({ type: "close" }), "closed");
  await other.kill();
  try {
    acknowledged = Number(await writer.ask({ type: "write", count: 100 }));
  } catch (error) {
    refused = (error as Error).message;
  }
  await writer.kill();
  const store = await open(path, { name: "trap", dimensions: 3 });
  const partition = await store.getPartition("main");
  const found = await partition?.get(Array.from({ length: acknowledged }, (_, index) => `r${index}`));
  return { acknowledged, refused, lost: acknowledged - (found ?? []).filter((record) => record !== undefined).length };
}

async function assertSees(child: Child | undefined, expected: readonly string[]): Promise<void> {
  const seen = (await child?.ask({ type: "read", ids: expected })) as Seen;
  assert.deepEqual(seen.present, expected);
  assert.deepEqual(seen.found, expected);
  assert.ok(seen.count >= expected.length);
}

function ids(prefix: string, count = 20): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

/** Far from every vector of the children, each its own. */
function axis(index: number): Float32Array {
  return Float32Array.from({ length: 64 }, (_, component) => {
    if (component === index % 64) return -1;
    return component === (index * 7) % 63 ? -0.25 - index / 1_000 : 0;
  });
}

function folder(): string {
  const { path, remove } = temporaryFolder();
  undo.push(remove);
  return path;
}

async function start(program: string, path: string): Promise<Child> {
  const child = await Child.start(program, path);
  undo.push(() => child.kill());
  return child;
}

async function open(
  path: string,
  spec: { readonly name: string; readonly dimensions: number },
  lockTimeoutMs = 30_000,
): Promise<Store> {
  const store = await openStore({ path, lockTimeoutMs, ...spec });
  undo.push(() => store.close());
  return store;
}
