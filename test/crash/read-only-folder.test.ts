import assert from "node:assert/strict";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "holdfast";
import { afterEach, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";

const SPEC = { name: "shared", dimensions: 64, threads: "inline" } as const;
const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

describe("[backend embedded] a folder that may not be written", () => {
  for (const threads of ["workers", "inline"]) {
    it(`[E6] that was closed is read from a copy, which goes with the handle (${threads})`, async () => {
      const { path, before, temporary } = closed(await filled());
      const reader = await start("unprivileged-reader", path, temporary, threads);
      assert.equal(await reader.ask({ type: "open" }), 1);
      assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2"], found: 2 });
      await assert.rejects(reader.ask({ type: "write" }), /READ_ONLY/);
      assert.equal(await reader.ask({ type: "close" }), 0);
      assert.deepEqual(contentsOf(path), before);
    });
  }

  it("[E6] and was left by a crash is read with its log, which is left as it is", async () => {
    const { path } = await filled();
    const writer = await start("shared-writer", path);
    await writer.ask({ type: "write", ids: ["a3"] });
    await writer.kill();
    assert.ok(readdirSync(path).includes("holdfast.db-wal"));
    for (const names of [[], ["holdfast.db-shm"]]) {
      const copy = `${path}-${names.length}`;
      cpSync(path, copy, { recursive: true });
      for (const name of names) rmSync(join(copy, name));
      const { before, temporary } = closed({ path: copy });
      const reader = await start("unprivileged-reader", copy, temporary, "workers");
      await reader.ask({ type: "open" });
      assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2", "a3"], found: 3 });
      assert.equal(await reader.ask({ type: "close" }), 0);
      assert.deepEqual(contentsOf(copy), before);
    }
  });

  it("[E5, E6] is followed while its owner writes into it", async () => {
    const { path } = await filled();
    const writer = await start("shared-writer", path);
    await writer.ask({ type: "write", ids: ["a3"] });
    const { temporary } = closed({ path });
    const reader = await start("unprivileged-reader", path, temporary, "workers");
    assert.equal(await reader.ask({ type: "open" }), 0, "no copy is made of what can be shared");
    assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2", "a3"], found: 3 });
    chmodSync(path, 0o755);
    await writer.ask({ type: "write", ids: ["a4"] });
    assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2", "a3", "a4"], found: 4 });
    await assert.rejects(reader.ask({ type: "write" }), /READ_ONLY/);
    await reader.ask({ type: "close" });
  });

  it("[E6] and is written by its owner after all: a reader of a copy is told, and sees it when it opens again", async () => {
    const { path, temporary } = closed(await filled());
    const reader = await start("unprivileged-reader", path, temporary, "workers");
    assert.equal(await reader.ask({ type: "open" }), 1);
    chmodSync(path, 0o755);
    chmodSync(join(path, "holdfast.db"), 0o644);
    const writer = await start("shared-writer", path);
    await writer.ask({ type: "write", ids: ["a3"] });
    await assert.rejects(reader.ask({ type: "read" }), /FAILED: .* was changed since it was opened/);
    await reader.ask({ type: "close" });
    await reader.ask({ type: "open" });
    assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2", "a3"], found: 3 });
    await reader.ask({ type: "close" });
  });

  it("[E6, O2] and is a backup is read where it is", async () => {
    const { path } = await filled();
    const store = await openStore({ path, ...SPEC });
    await store.backup(`${path}-backup`);
    await store.close();
    const { before, temporary } = closed({ path: `${path}-backup` });
    const reader = await start("unprivileged-reader", `${path}-backup`, temporary, "workers");
    assert.equal(await reader.ask({ type: "open" }), 0);
    assert.deepEqual(await reader.ask({ type: "read" }), { ids: ["a1", "a2"], found: 2 });
    await assert.rejects(reader.ask({ type: "write" }), /READ_ONLY/);
    await reader.ask({ type: "close" });
    assert.deepEqual(contentsOf(`${path}-backup`), before);
  });

  it("[E6] is refused by name when it is opened to be written", async () => {
    const { path } = closed(await filled());
    const writer = await Child.start("unprivileged-writer", path).catch((error: unknown) => error);
    assert.match(String(writer), /READ_ONLY/);
  });
});

/** A closed folder with two records. */
async function filled(): Promise<{ readonly path: string }> {
  const { path, remove } = temporaryFolder();
  undo.push(remove);
  chmodSync(dirname(path), 0o755);
  const store = await openStore({ path, ...SPEC });
  const partition = await store.createPartition("main");
  const vector = (index: number): Float32Array => Float32Array.from({ length: 64 }, (_, at) => (at === index ? 2 : 1));
  await partition.upsert(["a1", "a2"].map((id, index) => ({ id, vector: vector(index) })));
  await store.close();
  return { path };
}

/** Takes the right to write into it from everybody, and gives the reader a temporary folder of its own. */
function closed({ path }: { readonly path: string }) {
  const temporary = `${path}-temporary`;
  mkdirSync(temporary);
  chmodSync(temporary, 0o777);
  const before = contentsOf(path);
  for (const name of readdirSync(path)) chmodSync(join(path, name), 0o444);
  chmodSync(path, 0o555);
  undo.push(() => chmodSync(path, 0o755));
  return { path, before, temporary };
}

function contentsOf(path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), "base64")]));
}

async function start(program: string, ...args: readonly string[]): Promise<Child> {
  const child = await Child.start(program, ...args);
  undo.push(() => child.kill());
  return child;
}
