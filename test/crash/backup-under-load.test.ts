import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore, restore } from "holdfast";
import { afterEach, describe, it } from "vitest";
import { temporaryFolder } from "../doubles/embedded-places.ts";

const CHILD = fileURLToPath(new URL("../doubles/children/counting-writer.js", import.meta.url));
const SPEC = { name: "counted", dimensions: 8, properties: { number: "int" } } as const;
const ROUNDS = 3;

interface Write {
  readonly ids: readonly string[];
  readonly deletes: boolean;
}

/** A child that writes, with all that it told. */
class CountingWriter {
  readonly begun: Write[] = [];
  answered = 0;
  readonly prefix: string;
  readonly #process: ChildProcess;
  #wake: (() => void) | undefined;

  constructor(path: string, prefix: string, seed: number) {
    this.prefix = prefix;
    this.#process = fork(CHILD, [path, prefix, String(seed)], { execArgv: [] });
    this.#process.on("message", (message: { readonly type: string } & Write) => {
      if (message.type === "begun") this.begun.push(message);
      else this.answered += 1;
      this.#wake?.();
    });
    this.#process.on("close", () => this.#wake?.());
  }

  async untilAnswered(count: number): Promise<void> {
    while (this.answered < count) {
      assert.equal(this.#process.exitCode, null, "the writer ended");
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** What is there after so many of its writes: the number of the last write of each id. */
  after(count: number): ReadonlyMap<string, number> {
    const state = new Map<string, number>();
    for (const [index, { ids, deletes }] of this.begun.slice(0, count).entries())
      for (const id of ids) deletes ? state.delete(id) : state.set(id, index + 1);
    return state;
  }
}

const undo: (() => void)[] = [];

afterEach(() => {
  for (const action of undo.splice(0).reverse()) action();
});

describe("[backend embedded] a backup while two processes write", () => {
  it("[O2, Q9] equals a model of both at the position of its moment, neither early nor late", async () => {
    const { path, remove } = temporaryFolder();
    undo.push(remove);
    const writers = ["a", "b"].map((prefix, index) => new CountingWriter(path, prefix, index + 1));
    for (const writer of writers) undo.push(() => writer.kill());
    await Promise.all(writers.map((writer) => writer.untilAnswered(20)));
    const store = await openStore({ path, ...SPEC });
    const positions: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const answeredBefore = writers.map((writer) => writer.answered);
      const backup = join(path, "..", `backup-${round}`);
      await store.backup(backup);
      const begunAfter = writers.map((writer) => writer.begun.length);
      const restored = join(path, "..", `restored-${round}`);
      await restore(backup, restored);
      const { position, records } = await contentOf(restored);
      let counted = 0;
      for (const [index, writer] of writers.entries()) {
        const own = new Map([...records].filter(([id]) => id.startsWith(writer.prefix)));
        const writes = prefixOf(writer, own, answeredBefore[index] ?? 0, begunAfter[index] ?? 0);
        counted += writes;
      }
      assert.equal(position, counted, "the partition counts as many commits as its records are of");
      positions.push(position);
      await Promise.all(writers.map((writer) => writer.untilAnswered(writer.answered + 5)));
    }
    assert.deepEqual(
      positions,
      [...new Set(positions)].sort((left, right) => left - right),
      "each is later",
    );
    await store.close();
  });
});

/** After how many of its writes a writer's records are what the backup holds; all that was answered before is in it. */
function prefixOf(writer: CountingWriter, own: ReadonlyMap<string, number>, atLeast: number, atMost: number): number {
  for (let count = atLeast; count <= atMost; count += 1) {
    const state = writer.after(count);
    if (state.size === own.size && [...state].every(([id, number]) => own.get(id) === number)) return count;
  }
  throw new assert.AssertionError({
    message: `no state of ${writer.prefix} between ${atLeast} and ${atMost} writes is what the backup holds`,
  });
}

async function contentOf(path: string) {
  const store = await openStore({ path, ...SPEC });
  const partition = await store.getPartition("main");
  assert.ok(partition !== undefined);
  const records = new Map<string, number>();
  for await (const page of partition.scan({ includeVectors: true })) {
    assert.equal(page.damaged, 0);
    for (const { id, properties, vector } of page.records) {
      const number = Number(properties.number);
      records.set(id, number);
      const expected = Float32Array.from({ length: 8 }, (_, component) => ((number >> component) & 1) + 0.5);
      assert.deepEqual(vector, expected, `${id} has the vector of another write`);
    }
  }
  const [info] = await store.listPartitions();
  await store.close();
  return { position: info?.position ?? 0, records };
}
