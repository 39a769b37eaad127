import { makeRecords, PROPERTIES, withFolder } from "./data.js";
import { inTurn, median, rateOf } from "./measure.js";
import { loadProduct } from "./product.js";

const CALLERS = 64;
const SINGLES_A_CALLER = 40;
const SINGLES_ALONE = 400;
const BATCH = 500;
const BATCHES = 10;

/** Concurrent callers share commits (E7): either five times one caller, or half the rate of batches. */
export async function run({ dist, folder, rounds }) {
  const figures = [];
  for (const dimensions of [64, 384]) {
    const rates = await withFolder(folder, (path) => measure({ dist, path, dimensions, rounds }));
    const ratio = (name) => median(rates.get("many").map((rate, round) => rate / rates.get(name)[round]));
    const [toOne, toBatches] = [ratio("one"), ratio("batches")];
    const label = (text) => `${dimensions}-d: ${text}`;
    figures.push(
      { name: label("one caller of singles"), value: Math.max(...rates.get("one")), unit: "rows/s" },
      { name: label("64 callers of singles"), value: Math.max(...rates.get("many")), unit: "rows/s" },
      { name: label("batches of 500"), value: Math.max(...rates.get("batches")), unit: "rows/s" },
      { name: label("64 callers of one caller"), value: toOne, unit: "x" },
      { name: label("64 callers of batches"), value: toBatches, unit: "x" },
      {
        name: label("the better share of its bar (5x one, 0.5x batches)"),
        value: Math.max(toOne / 5, toBatches / 0.5),
        unit: "x",
        atLeast: 1,
      },
    );
  }
  return figures;
}

async function measure({ dist, path, dimensions, rounds }) {
  const { openStore } = await loadProduct(dist);
  const store = await openStore({ path, name: "bench", dimensions, properties: PROPERTIES });
  const partition = await store.createPartition("bench");
  const fresh = (count, round, kind) => makeRecords(count, dimensions, { prefix: `${kind}${round}`, seed: round + 1 });
  try {
    return await inTurn(
      {
        one: (round) => oneByOne(partition, fresh(SINGLES_ALONE, round, "one")),
        many: (round) => atOnce(partition, fresh(CALLERS * SINGLES_A_CALLER, round, "many")),
        batches: (round) => inBatches(partition, fresh(BATCH * BATCHES, round, "batch")),
      },
      { rounds, warmUps: 1 },
    );
  } finally {
    await store.close();
  }
}

function oneByOne(partition, records) {
  return rateOf(records.length, async () => {
    for (const record of records) await partition.upsert([record]);
  });
}

function atOnce(partition, records) {
  const caller = async (first) => {
    for (let index = first; index < records.length; index += CALLERS) await partition.upsert([records[index]]);
  };
  return rateOf(records.length, () => Promise.all(Array.from({ length: CALLERS }, (_, first) => caller(first))));
}

function inBatches(partition, records) {
  return rateOf(records.length, async () => {
    for (let start = 0; start < records.length; start += BATCH) {
      await partition.upsert(records.slice(start, start + BATCH));
    }
  });
}
