import { join } from "node:path";
import { makeRecords, PROPERTIES, withFolder } from "./data.js";
import { inTurn, median, rateOf } from "./measure.js";
import { loadProduct } from "./product.js";
import { openRaw } from "./raw-writes.js";

const BATCH = 500;
const BATCHES_A_ROUND = 20;
const SINGLES_A_ROUND = 400;

const BARS = new Map([
  [64, { batches: 0.5, singles: 0.4 }],
  [384, { batches: undefined, singles: 0.4 }],
]);

/** Upserts through the public surface against the same rows written by the raw statements. */
export async function run({ dist, folder, rounds }) {
  const figures = [];
  for (const [dimensions, bars] of BARS) {
    const rates = await withFolder(folder, (made) => measure({ dist, folder: made, dimensions, rounds }));
    for (const kind of ["batches", "singles"]) {
      const [product, raw] = [rates.get(`product ${kind}`), rates.get(`raw ${kind}`)];
      const ratios = product.map((rate, round) => rate / raw[round]);
      const name = `${kind === "batches" ? "batches of 500" : "singles"}, ${dimensions}-d`;
      figures.push(
        { name: `${name}: raw`, value: Math.max(...raw), unit: "rows/s" },
        { name: `${name}: Holdfast`, value: Math.max(...product), unit: "rows/s" },
        { name: `${name}: of raw`, value: median(ratios), unit: "x", ...(bars[kind] && { atLeast: bars[kind] }) },
      );
    }
  }
  return figures;
}

async function measure({ dist, folder, dimensions, rounds }) {
  const { openStore } = await loadProduct(dist);
  const store = await openStore({ path: join(folder, "product"), name: "bench", dimensions, properties: PROPERTIES });
  const partition = await store.createPartition("bench");
  const raw = await openRaw(dist, join(folder, "raw"), dimensions);
  const rawBatches = batchRound((records) => raw.write(records), dimensions);
  const productBatches = batchRound((records) => partition.upsert(records), dimensions);
  const rawSingles = singleRound((records) => raw.write(records), dimensions);
  const productSingles = singleRound((records) => partition.upsert(records), dimensions);
  try {
    const batches = { "raw batches": rawBatches, "product batches": productBatches };
    const singles = { "raw singles": rawSingles, "product singles": productSingles };
    return new Map([
      ...(await inTurn(batches, { rounds, warmUps: 1 })),
      ...(await inTurn(singles, { rounds, warmUps: 1 })),
    ]);
  } finally {
    raw.close();
    await store.close();
  }
}

function batchRound(write, dimensions) {
  return (round) => {
    const records = makeRecords(BATCH * BATCHES_A_ROUND, dimensions, { prefix: `b${round}`, seed: round + 1 });
    return rateOf(records.length, async () => {
      for (let start = 0; start < records.length; start += BATCH) await write(records.slice(start, start + BATCH));
    });
  };
}

function singleRound(write, dimensions) {
  return (round) => {
    const records = makeRecords(SINGLES_A_ROUND, dimensions, { prefix: `s${round}`, seed: round + 1 });
    return rateOf(records.length, async () => {
      for (const record of records) await write([record]);
    });
  };
}
