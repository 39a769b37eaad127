// How near the vector kernel comes to the bandwidth of memory, on one thread.
//   npm run build && node bench/kernel.js [folder of the built files, default dist]
// Yardstick: a plain f64x2 sum of the same bytes, in the same shared memory, by the same module.
// Each figure is the best of five, measured in turn after a warm-up; ratios above 1 are noise.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dist = pathToFileURL(`${resolve(process.argv[2] ?? "dist")}/`);
const folder = new URL("backends/embedded/kernel/", dist);
const { ChunkPool, CHUNK_BYTES } = await import(new URL("chunk-pool.js", folder));
const { norms, prepareQuery, scoreRows, scoreSlots } = await import(new URL("kernel.js", folder));
const { TopK } = await import(new URL("top-k.js", folder));

const ROUNDS = 5;
const WARM_UP_ROUNDS = 20;

console.log(`node ${process.version}, best of ${ROUNDS}, times in ms`);
for (const [rows, dimensions] of [
  [100_000, 384],
  [20_000, 1536],
]) {
  report(rows, dimensions, measure(prepare(rows, dimensions)));
}

/** Rows of random vectors in chunks, as a partition has them. */
function prepare(rows, dimensions) {
  const pool = new ChunkPool();
  const perChunk = Math.floor(CHUNK_BYTES.large / (dimensions * 4));
  const blocks = [];
  for (let from = 0; from < rows; from += perChunk) {
    const count = Math.min(perChunk, rows - from);
    const chunk = pool.allocate("large");
    for (let i = 0; i < count * dimensions; i += 1) chunk.floats[i] = Math.random() - 0.5;
    const lengths = new Float64Array(count);
    norms(chunk, { from: 0, to: count, dimensions }, lengths);
    const slots = new Map([0.01, 0.1, 0.5].map((share) => [share, pick(count, share)]));
    blocks.push({ chunk, count, lengths, slots, dots: new Float64Array(count) });
  }
  const query = prepareQuery(Float32Array.from({ length: dimensions }, () => Math.random() - 0.5));
  return { blocks, query, dimensions };
}

function pick(count, share) {
  return Uint32Array.from(Array(count).keys()).filter(() => Math.random() < share);
}

function measure({ blocks, query, dimensions }) {
  const sumAll = () => {
    for (const { chunk, count } of blocks) {
      chunk.kernel.sumRegion(chunk.address, Math.floor((count * dimensions) / 16) * 8);
    }
  };
  const scoreAll = () => {
    for (const { chunk, count, dots } of blocks) scoreRows(chunk, count, query, dots);
  };
  const scoreShare = (share) => () => {
    for (const { chunk, slots, dots } of blocks) scoreSlots(chunk, slots.get(share), query, dots);
  };
  const normAll = () => {
    for (const { chunk, count, lengths } of blocks) norms(chunk, { from: 0, to: count, dimensions }, lengths);
  };
  const selectTen = () => {
    const top = new TopK(10, (blockA, slotA, blockB, slotB) => blockA - blockB || slotA - slotB);
    for (const [block, { dots, count, lengths }] of blocks.entries()) {
      top.offerAll({ block, dots, count, norms: lengths, queryNorm: query.norm });
    }
  };
  return bestOf({
    sum: sumAll,
    "slots 1 %": scoreShare(0.01),
    "slots 10 %": scoreShare(0.1),
    "slots 50 %": scoreShare(0.5),
    norms: normAll,
    rows: scoreAll,
    "top 10": selectTen,
  });
}

/** One run of each in turn, so that a slow moment of the machine meets them all. */
function bestOf(runs) {
  const best = new Map(Object.keys(runs).map((name) => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const [name, run] of Object.entries(runs)) {
      const start = performance.now();
      run();
      const time = performance.now() - start;
      if (round >= WARM_UP_ROUNDS) best.set(name, Math.min(best.get(name), time));
    }
  }
  return best;
}

function report(rows, dimensions, best) {
  const bytes = rows * dimensions * 4;
  const gigabytes = (time) => (bytes / time / 1e6).toFixed(1);
  console.log(`\n${rows} x ${dimensions}`);
  console.log(`  f64x2 sum   ${best.get("sum").toFixed(2)}  ${gigabytes(best.get("sum"))} GB/s`);
  console.log(`  score rows  ${best.get("rows").toFixed(2)}  ${gigabytes(best.get("rows"))} GB/s`);
  console.log(`  kernel / bandwidth  ${(best.get("sum") / best.get("rows")).toFixed(2)}`);
  for (const name of ["slots 1 %", "slots 10 %", "slots 50 %", "norms", "top 10"]) {
    console.log(`  ${name.padEnd(10)}  ${best.get(name).toFixed(3)}`);
  }
}
