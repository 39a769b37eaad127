import { fill, makeRecords, PROPERTIES, randomVectors, withFolder } from "./data.js";
import { KernelBench } from "./kernel.js";
import { inTurn, median, timeOf, timesOf } from "./measure.js";
import { loadProduct } from "./product.js";

const DIMENSIONS = 384;
const LIMIT = 10;
const QUERIES_A_ROUND = 20;
const WARM_UPS = 3;

/** `partition.query` over everything against the kernel alone and against plain reading of the same bytes. */
export async function run({ dist, folder, rows, rounds }) {
  return withFolder(folder, async (path) => {
    const { openStore } = await loadProduct(dist);
    const store = await openStore({ path, name: "bench", dimensions: DIMENSIONS, properties: PROPERTIES });
    const partition = await store.createPartition("bench");
    await fill(partition, makeRecords(rows, DIMENSIONS));
    const queries = randomVectors(QUERIES_A_ROUND, DIMENSIONS, 7);
    const kernel = await KernelBench.create(dist, rows, DIMENSIONS);
    const endToEnd = async () => {
      const times = await timesOf(QUERIES_A_ROUND, (index) =>
        partition.query({ vector: queries.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS), limit: LIMIT }),
      );
      return { best: Math.min(...times), median: median(times) };
    };
    const times = await inTurn(
      {
        sum: () => bestOf(QUERIES_A_ROUND, () => kernel.sum()),
        kernel: () => bestOf(QUERIES_A_ROUND, () => kernel.select()),
        endToEnd,
      },
      { rounds, warmUps: WARM_UPS },
    );
    await store.close();
    return figuresOf(times);
  });
}

function bestOf(count, call) {
  return Math.min(...Array.from({ length: count }, () => timeOf(call)));
}

function figuresOf(times) {
  const sum = Math.min(...times.get("sum"));
  const kernel = Math.min(...times.get("kernel"));
  const endToEnd = Math.min(...times.get("endToEnd").map(({ best }) => best));
  const middle = Math.min(...times.get("endToEnd").map((round) => round.median));
  return [
    { name: "plain f64x2 sum of the same bytes", value: sum, unit: "ms" },
    { name: "kernel alone", value: kernel, unit: "ms" },
    { name: "partition.query, limit 10: best", value: endToEnd, unit: "ms" },
    { name: "partition.query, limit 10: median of the best round", value: middle, unit: "ms" },
    { name: "kernel of bandwidth", value: sum / kernel, unit: "x", atLeast: 0.8 },
    { name: "partition.query of bandwidth", value: sum / endToEnd, unit: "x", atLeast: 0.7 },
    { name: "partition.query of the kernel alone", value: kernel / endToEnd, unit: "x" },
  ];
}
