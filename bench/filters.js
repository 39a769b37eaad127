import { fill, makeRecords, randomVectors, seededRandom, withFolder } from "./data.js";
import { inTurn, median, timesOf } from "./measure.js";
import { loadProduct } from "./product.js";

const DIMENSIONS = 384;
const LIMIT = 10;
const QUERIES_A_ROUND = 15;
const WARM_UPS = 3;

/** `n` and the labels are drawn independently of each other and of the vectors. */
const FILTER_PROPERTIES = { n: "int", s2: "string", s10: "string", s100: "string", s1000: "string" };

/** Below the bytes of a partition of 100,000 records, so that it is streamed from the file. */
const STREAMING_BUDGET_BYTES = 16 * 1024 * 1024;

/** Each admits about `share` of the records; the compound ones exactly those of `int` beside them. */
const FILTERS = [50, 10, 1, 0.1].flatMap((percent) => {
  const below = percent * 10;
  const labels = `s${100 / percent}`;
  return [
    { percent, kind: "int", where: (f) => f.n.lt(below) },
    { percent, kind: "string", where: (f) => f.field(labels).eq("v0") },
    {
      percent,
      kind: "compound",
      where: (f) =>
        f.or(f.and(f.n.lt(below), f.not(f.s2.eq("v1"))), f.and(f.not(f.n.gte(below)), f.s2.eq("v1"), f.n.gte(0))),
    },
  ];
});

/** Filters during the search at four selectivities, end to end. */
export async function run({ dist, folder, rows, rounds }) {
  return withFolder(folder, async (path) => {
    const { openStore } = await loadProduct(dist);
    const settings = { path, name: "bench", dimensions: DIMENSIONS, properties: FILTER_PROPERTIES };
    const store = await openStore(settings);
    const partition = await store.createPartition("bench");
    await fill(partition, labelledRecords(rows));
    const resident = await measure(partition, rounds);
    await store.close();
    const small = await openStore({ ...settings, memoryBudgetBytes: STREAMING_BUDGET_BYTES });
    const streamed = await measureStreamed(await small.getPartition("bench"));
    await small.close();
    return [...figuresOf(resident), ...streamed];
  });
}

function labelledRecords(rows) {
  const random = seededRandom(11);
  const label = (values) => `v${Math.floor(random() * values)}`;
  const propertiesOf = () => ({
    n: Math.floor(random() * 1000),
    s2: label(2),
    s10: label(10),
    s100: label(100),
    s1000: label(1000),
  });
  return makeRecords(rows, DIMENSIONS, { propertiesOf });
}

async function measure(partition, rounds) {
  const queries = randomVectors(QUERIES_A_ROUND, DIMENSIONS, 7);
  const runs = FILTERS.map(({ percent, kind, where }) => [
    `${percent} ${kind}`,
    async () => median(await timesOf(QUERIES_A_ROUND, (index) => partition.query(queryOf(queries, index, where)))),
  ]);
  const times = await inTurn(Object.fromEntries(runs), { rounds, warmUps: WARM_UPS });
  return new Map([...times].map(([name, medians]) => [name, Math.min(...medians)]));
}

function queryOf(queries, index, where) {
  return { vector: queries.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS), limit: LIMIT, where };
}

function figuresOf(best) {
  const simple = FILTERS.map(({ percent, kind }) => ({
    name: `${percent} %: ${kind}`,
    value: best.get(`${percent} ${kind}`),
    unit: "ms",
    ...(percent === 1 && kind !== "compound" && { atMost: 1.5 }),
  }));
  const beyond = [50, 10, 1, 0.1].map((percent) => ({
    name: `${percent} %: compound with NOT and OR beyond the simple one`,
    value: best.get(`${percent} compound`) - best.get(`${percent} int`),
    unit: "ms",
    atMost: 1,
  }));
  return [...simple, ...beyond];
}

async function measureStreamed(partition) {
  const queries = randomVectors(1, DIMENSIONS, 7);
  const figures = [];
  for (const { percent, kind, where } of [{ percent: 100, kind: "no filter" }, ...FILTERS]) {
    if (kind === "compound") continue;
    const times = await timesOf(1, () => partition.query(queryOf(queries, 0, where)));
    figures.push({ name: `streamed, ${percent} %: ${kind}`, value: times[0], unit: "ms" });
  }
  return figures;
}
