import assert from "node:assert/strict";
import { cpSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isHoldfastError, openStore, restore } from "holdfast";
import { afterEach, describe, it } from "vitest";
import { Child } from "../doubles/child.ts";
import { temporaryFolder } from "../doubles/embedded-places.ts";

const INLINE = { threads: "inline" } as const;
const SPEC = { name: "shared", dimensions: 64, ...INLINE } as const;
const [OLD, NEW] = ["o", "n"];
const undo: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

/** A folder with an old memory and a backup of another one. */
async function bed() {
  const { path, remove } = temporaryFolder();
  undo.push(remove);
  const [old, source, backup] = ["old", "source", "backup"].map((name) => `${path}-${name}`);
  if (old === undefined || source === undefined || backup === undefined) throw new Error("three paths");
  await fill(old, OLD);
  const store = await openStore({ path: source, ...SPEC });
  await write(store, NEW);
  await store.backup(backup);
  await store.close();
  return { path, old, backup };
}

async function write(store: Awaited<ReturnType<typeof openStore>>, prefix: string): Promise<void> {
  const partition = await store.createPartition("main");
  await partition.upsert(Array.from({ length: 300 }, (_, index) => ({ id: `${prefix}${index}`, vector: axis(index) })));
}

async function fill(path: string, prefix: string): Promise<void> {
  const store = await openStore({ path, ...SPEC });
  await write(store, prefix);
  await store.close();
}

/** Of which memory all 300 records are; a mix, a loss or an addition fails. */
async function contentOf(path: string): Promise<string> {
  const store = await openStore({ path, ...SPEC });
  try {
    const partition = await store.getPartition("main");
    if (partition === undefined) return "nothing";
    const ids: string[] = [];
    for await (const page of partition.scan()) {
      assert.equal(page.damaged, 0);
      ids.push(...page.records.map(({ id }) => id));
    }
    const [first = ""] = ids[0] ?? "";
    assert.deepEqual([...ids].sort(), Array.from({ length: 300 }, (_, index) => `${first}${index}`).sort());
    const { matches } = await partition.query({ vector: axis(7), limit: 1 });
    assert.equal(matches[0]?.id, `${first}7`);
    return first;
  } finally {
    await store.close();
  }
}

function axis(index: number): Float32Array {
  return Float32Array.from({ length: 64 }, (_, at) => (at === index % 64 ? 1 : (index * 0.37 + at * 0.11) % 0.5));
}

describe("[backend embedded] a restore that is killed", () => {
  it("[O2, O5] at any of its steps, over a memory, leaves the old or the new one whole, and is done again", async () => {
    const { path, old, backup } = await bed();
    const seen: string[] = [];
    for (let steps = 1; ; steps += 1) {
      const folder = `${path}-${steps}`;
      cpSync(old, folder, { recursive: true });
      const isDone = await killedAfter(steps, backup, folder, "replace");
      seen.push(await contentOf(folder));
      await restore(backup, folder, { replace: true, ...INLINE });
      assert.equal(await contentOf(folder), NEW);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes(".part-")),
        [],
        "what the killed one left is gone",
      );
      if (isDone) break;
    }
    assert.ok(seen.length > 5, `${seen.length} steps`);
    assert.deepEqual(seen, [...seen.slice(0, -1).map(() => OLD), NEW], "one step decides");
  });

  it("[O2, O5] at any of its steps, into a new folder, leaves nothing or all of it", async () => {
    const { path, backup } = await bed();
    const seen: string[] = [];
    for (let steps = 1; ; steps += 1) {
      const folder = `${path}-${steps}`;
      const isDone = await killedAfter(steps, backup, folder, "keep");
      // Opened as a memory it is a new one, or the backup.
      cpSync(folder, `${folder}-seen`, { recursive: true });
      seen.push(await contentOf(`${folder}-seen`));
      await restore(backup, folder, { replace: isDone, ...INLINE });
      assert.equal(await contentOf(folder), NEW);
      if (isDone) break;
    }
    assert.deepEqual(seen, [...seen.slice(0, -1).map(() => "nothing"), NEW]);
  });

  it("[O2, O5] at any of its steps, over what cannot be opened, leaves what says so, or the new one", async () => {
    const { path, backup } = await bed();
    const seen: string[] = [];
    for (let steps = 1; ; steps += 1) {
      const folder = `${path}-${steps}`;
      await fill(folder, OLD);
      writeFileSync(join(folder, "holdfast.db"), "damaged from its first page on ".repeat(2_000));
      writeFileSync(join(folder, "holdfast.db-wal"), "and what was its log");
      const isDone = await killedAfter(steps, backup, folder, "replace");
      const content = await contentOf(folder).catch((error: unknown) => {
        assert.ok(isHoldfastError(error), String(error));
        return error.code;
      });
      seen.push(content);
      await restore(backup, folder, { replace: true, ...INLINE });
      assert.equal(await contentOf(folder), NEW);
      if (isDone) break;
    }
    assert.deepEqual([...new Set(seen.slice(0, -1))].sort(), ["DAMAGED", "FOREIGN_STORAGE"]);
    assert.equal(seen.at(-1), NEW);
  });
});

describe("[backend embedded] a restore beside other processes", () => {
  it("[O2, E5] is refused while one of them has the folder open, also when it is idle, and goes on when it has closed", async () => {
    const { old, backup } = await bed();
    const other = await start("shared-writer", old);
    const refused = await restore(backup, old, { replace: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(isHoldfastError(refused, "BUSY"), String(refused));
    assert.deepEqual(
      readdirSync(old).filter((name) => !/^holdfast\.db(-wal|-shm)?$/.test(name)),
      [],
    );
    await other.ask({ type: "write", ids: ["a1"] });
    assert.equal(await other.ask({ type: "close" }), "closed");
    await other.kill();
    await restore(backup, old, { replace: true });
    assert.equal(await contentOf(old), NEW);
  });

  it("[O2, E10] in the place of a folder that was moved away: its handles are told, and write and read nothing more", async () => {
    const { old, backup } = await bed();
    const other = await start("shared-writer", old);
    await other.ask({ type: "write", ids: ["a1"] });
    renameSync(old, `${old}-moved`);
    await restore(backup, old);
    await assert.rejects(other.ask({ type: "read", ids: ["a1"] }), /^Error: FAILED: .* was removed or replaced/);
    await assert.rejects(other.ask({ type: "write", ids: ["a2"] }), /^Error: FAILED: /);
    await other.kill();
    assert.equal(await contentOf(old), NEW);
  });
});

/** Kills a restore after so many of its steps; answers whether it had ended by itself. */
async function killedAfter(steps: number, backup: string, folder: string, replace: string): Promise<boolean> {
  const child = await start("stepped-restore", backup, folder, replace);
  let answer: unknown = "more";
  for (let step = 0; step < steps && answer === "more"; step += 1) answer = await child.ask("step");
  await child.kill();
  return answer !== "more";
}

async function start(program: string, ...args: readonly string[]): Promise<Child> {
  const child = await Child.start(program, ...args);
  undo.push(() => child.kill());
  return child;
}
