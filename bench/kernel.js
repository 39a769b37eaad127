// How near the vector kernel comes to the bandwidth of memory, on one thread. Yardstick: a plain f64x2
// sum of the same bytes, in the same shared memory, by the same module. Each figure is the best of the
// rounds, measured in turn after a warm-up; ratios a little above 1 are noise.
import { randomVectors } from "./data.js";
import { inTurn, timeOf } from "./measure.js";
import { loadProduct } from "./product.js";

const WARM_UPS = 20;
const SHARES = [0.01, 0.1, 0.5];

export async function run({ dist, rows, rounds }) {
  const figures = [];
  for (const [count, dimensions] of [
    [rows, 384],
    [Math.ceil(rows / 5), 1536],
  ]) {
    const bench = await KernelBench.create(dist, count, dimensions);
    const best = await bench.best(rounds);
    const gigabytes = (count * dimensions * 4) / 1e6;
    const named = (text) => `${count} x ${dimensions}: ${text}`;
    figures.push(
      { name: named("f64x2 sum"), value: gigabytes / best.get("sum"), unit: "GB/s" },
      { name: named("score rows, float64"), value: best.get("rows"), unit: "ms" },
      { name: named("score rows of bandwidth"), value: best.get("sum") / best.get("rows"), unit: "x" },
      { name: named("select rows that may win, and score them"), value: best.get("select"), unit: "ms" },
      {
        name: named("kernel of bandwidth"),
        value: best.get("sum") / best.get("select"),
        unit: "x",
        // At other widths the figure is for information.
        ...(dimensions === 384 && { atLeast: 0.8 }),
      },
      ...SHARES.map((share) => ({
        name: named(`score ${share * 100} % of the slots`),
        value: best.get(`slots ${share}`),
        unit: "ms",
      })),
      { name: named("norms"), value: best.get("norms"), unit: "ms" },
      { name: named("top 10 of all scores"), value: best.get("top"), unit: "ms" },
    );
  }
  return figures;
}

/** Rows of random vectors in chunks, as a partition in memory has them. */
export class KernelBench {
  #kernel;
  #blocks = [];
  #query;
  #dimensions;

  static async create(dist, rows, dimensions) {
    const { part } = await loadProduct(dist);
    const bench = new KernelBench();
    bench.#kernel = {
      ...(await part("backends/embedded/kernel/kernel.js")),
      ...(await part("backends/embedded/kernel/top-k.js")),
      ...(await part("backends/embedded/kernel/chunk-pool.js")),
    };
    bench.#dimensions = dimensions;
    bench.#fill(rows);
    bench.#query = bench.#kernel.prepareQuery(randomVectors(1, dimensions, 2));
    return bench;
  }

  #fill(rows) {
    const { ChunkPool, CHUNK_BYTES, norms } = this.#kernel;
    const dimensions = this.#dimensions;
    const pool = new ChunkPool();
    const perChunk = Math.floor(CHUNK_BYTES.large / (dimensions * 4));
    for (let from = 0; from < rows; from += perChunk) {
      const count = Math.min(perChunk, rows - from);
      const chunk = pool.allocate("large");
      chunk.floats.set(randomVectors(count, dimensions, from + 3));
      const lengths = new Float64Array(count);
      norms(chunk, { from: 0, to: count, dimensions }, lengths);
      const slots = new Map(SHARES.map((share) => [share, pick(count, share)]));
      const room = { dots: new Float64Array(count), selected: new Uint32Array(count) };
      this.#blocks.push({ chunk, count, lengths, slots, ...room });
    }
  }

  sum() {
    for (const { chunk, count } of this.#blocks) {
      chunk.kernel.sumRegion(chunk.address, Math.floor((count * this.#dimensions) / 16) * 8);
    }
  }

  scoreRows() {
    for (const { chunk, count, dots } of this.#blocks) this.#kernel.scoreRows(chunk, count, this.#query, dots);
  }

  /** What a search does: one block scored whole, then of each block those that may still be among the best 10. */
  select() {
    const top = this.#top();
    for (const [block, { chunk, count, dots, lengths, selected }] of this.#blocks.entries()) {
      const rows = { block, dots, norms: lengths, queryNorm: this.#query.norm };
      const reach = { rows: count, minCosine: top.floor, norms: lengths };
      if (block === 0) {
        this.#kernel.scoreRows(chunk, count, this.#query, dots);
        top.offerAll({ ...rows, count });
      } else {
        const slots = selected.subarray(0, this.#kernel.selectRows(chunk, this.#query, reach, selected));
        this.#kernel.scoreSlots(chunk, slots, this.#query, dots);
        top.offerAll({ ...rows, count: slots.length, slots });
      }
    }
  }

  scoreShare(share) {
    for (const { chunk, slots, dots } of this.#blocks) {
      this.#kernel.scoreSlots(chunk, slots.get(share), this.#query, dots);
    }
  }

  norms() {
    const dimensions = this.#dimensions;
    for (const { chunk, count, lengths } of this.#blocks) {
      this.#kernel.norms(chunk, { from: 0, to: count, dimensions }, lengths);
    }
  }

  selectTen() {
    const top = this.#top();
    for (const [block, { dots, count, lengths }] of this.#blocks.entries()) {
      top.offerAll({ block, dots, count, norms: lengths, queryNorm: this.#query.norm });
    }
  }

  #top() {
    return new this.#kernel.TopK(10, (blockA, slotA, blockB, slotB) => blockA - blockB || slotA - slotB);
  }

  async best(rounds) {
    const slots = SHARES.map((share) => [`slots ${share}`, () => timeOf(() => this.scoreShare(share))]);
    const runs = {
      sum: () => timeOf(() => this.sum()),
      ...Object.fromEntries(slots),
      norms: () => timeOf(() => this.norms()),
      rows: () => timeOf(() => this.scoreRows()),
      select: () => timeOf(() => this.select()),
      top: () => timeOf(() => this.selectTen()),
    };
    const times = await inTurn(runs, { rounds, warmUps: WARM_UPS });
    return new Map([...times].map(([name, values]) => [name, Math.min(...values)]));
  }
}

function pick(count, share) {
  return Uint32Array.from(Array(count).keys()).filter(() => Math.random() < share);
}
