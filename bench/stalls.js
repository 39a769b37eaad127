import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { makeRecords, PROPERTIES, randomVectors, withFolder } from "./data.js";
import { loadProduct } from "./product.js";
import { StallWatch } from "./stall-watch.js";

const LOCK_HELD_MS = 1_500;
const QUERIED_RECORDS = 20_000;
const IDLE_MS = 1_000;

/** How long the calling thread is held at most while everything happens at once (E7). */
export async function run({ dist, folder, rows }) {
  return withFolder(folder, async (path) => {
    const watch = new StallWatch();
    const took = new Map();
    const phase = async (name, action) => took.set(name, await watch.during(name, action));
    const bed = await Bed.open(dist, path);
    const large = new Map([64, 384].map((dimensions) => [dimensions, makeRecords(rows, dimensions)]));
    watch.start();
    await phase("nothing (the machine's own noise)", () => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    for (const [dimensions, records] of large) {
      await phase(`batch of ${rows}, ${dimensions}-d, with queries and singles`, () =>
        bed.underLoad(() => bed.of(dimensions).upsert(records)),
      );
      await phase(`the same batch replaced, ${dimensions}-d`, () =>
        bed.underLoad(() => bed.of(dimensions).upsert(records)),
      );
    }
    const ids = large.get(64).map(({ id }) => id);
    await phase(`get of ${rows} ids with vectors`, () => bed.of(64).get(ids, { includeVectors: true }));
    await phase("scan of everything in pages", async () => {
      for await (const page of bed.of(384).scan({ includeVectors: true })) if (page.damaged > 0) throw new Error();
    });
    await phase("query of 10,000 with vectors", () =>
      bed.of(384).query({ vector: large.get(384)[0].vector, limit: 10_000, includeVectors: true }),
    );
    await phase("delete by filter, under load", () =>
      bed.underLoad(() => bed.of(64).delete({ where: (f) => f.lang.eq("en") })),
    );
    await phase(`delete of ${rows} ids`, () => bed.of(64).delete({ ids }));
    await phase("erase, which empties the log", () => bed.of(384).delete({ ids: ["r-1"] }, { erase: true }));
    const underForeignLock = await bed.prepareForeignLock();
    await phase(`foreign write lock of ${LOCK_HELD_MS} ms, under load`, underForeignLock);
    await phase("close()", () => bed.close());
    watch.stop();
    return figuresOf(watch, took);
  });
}

function figuresOf(watch, took) {
  const figures = [...watch.longest].map(([name, { heldMs, ranMs, gapMs }]) => ({
    name,
    value: heldMs,
    unit: "ms",
    note: `computing ${Math.round(ranMs)}; with waits for a processor ${Math.round(gapMs)}; took ${Math.round(took.get(name))}`,
  }));
  const [idle, ...phases] = figures;
  const longest = phases.reduce((worst, figure) => (figure.value > worst.value ? figure : worst));
  return [
    idle,
    ...phases,
    { name: "monitorEventLoopDelay, over all", value: watch.histogramMaxMs, unit: "ms" },
    { name: "longest hold", value: longest.value, unit: "ms", atMost: 50, note: longest.name.trim() },
  ];
}

/** One folder with a store of each width, and a partition that others query and write meanwhile. */
class Bed {
  #dist;
  #path;
  #stores;
  #partitions;
  #queried;
  #singles = 0;

  static async open(dist, path) {
    const { openStore } = await loadProduct(dist);
    const bed = new Bed();
    bed.#dist = dist;
    bed.#path = path;
    const open = (dimensions) => openStore({ path, name: `d${dimensions}`, dimensions, properties: PROPERTIES });
    bed.#stores = new Map([
      [64, await open(64)],
      [384, await open(384)],
    ]);
    bed.#partitions = new Map();
    for (const [dimensions, store] of bed.#stores) {
      bed.#partitions.set(dimensions, await store.createPartition("large"));
    }
    bed.#queried = await bed.#stores.get(384).createPartition("queried");
    await bed.#queried.upsert(makeRecords(QUERIED_RECORDS, 384));
    await bed.#queried.query({ vector: randomVectors(1, 384, 5) });
    return bed;
  }

  of(dimensions) {
    return this.#partitions.get(dimensions);
  }

  /** Runs `action` while one caller queries, one writes singles and one looks up ids. */
  async underLoad(action) {
    let done = false;
    const until = async (call) => {
      while (!done) await call();
    };
    const vector = randomVectors(1, 384, 6);
    const others = [
      until(() => this.#queried.query({ vector, where: (f) => f.year.gte(2010) })),
      until(() => this.#queried.upsert([{ id: `single-${this.#singles++ % 1_000}`, vector }])),
      until(async () => {
        await this.#queried.get(["r-1", "r-2", "r-3"]);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }),
    ];
    try {
      await action();
    } finally {
      done = true;
    }
    await Promise.all(others);
  }

  /** Starts the process here already: starting one holds this thread, and is not what is measured. */
  async prepareForeignLock() {
    const args = [this.#dist, join(this.#path, "holdfast.db"), String(LOCK_HELD_MS)];
    const holder = fork(new URL("lock-holder.js", import.meta.url), args, { execArgv: [] });
    await once(holder, "message");
    const records = makeRecords(500, 64);
    return async () => {
      holder.send("hold");
      await once(holder, "message");
      await this.underLoad(() => this.of(64).upsert(records));
      if (holder.exitCode === null) await once(holder, "exit");
    };
  }

  async close() {
    for (const store of this.#stores.values()) await store.close();
  }
}
