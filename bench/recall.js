import { join } from "node:path";
import { randomVectors, seededRandom, withFolder } from "./data.js";
import { median, timesOf } from "./measure.js";
import { loadProduct } from "./product.js";

const DIMENSIONS = 384;
const EVENTS_PER_SESSION = 100;
const EVENTS_PER_CALL = 500;
const WORDS = 20_000;
const WORDS_PER_EVENT = 16;
const MODEL_OPENS_IN_MS = 3_000;

/** A folder of conversations: from opening it to the first answer, and recalls with filters of every plan. */
export async function run({ dist, folder, rows, rounds }) {
  const { openMemory } = await loadProduct(dist);
  const opened = await withFolder(folder, async (parent) => {
    const path = join(parent, "memory.holdfast");
    await fillMemory(openMemory, path, rows / 2);
    return firstAnswers(openMemory, path, { events: rows / 2, rounds });
  });
  const asked = await withFolder(folder, async (parent) => {
    const path = join(parent, "memory.holdfast");
    await fillMemory(openMemory, path, rows);
    return recalls(openMemory, path, { events: rows, rounds });
  });
  return [...opened, ...asked];
}

async function firstAnswers(openMemory, path, { events, rounds }) {
  const times = { words: [], vectors: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, waitForModel] of [
      ["words", false],
      ["vectors", true],
    ]) {
      const start = performance.now();
      const memory = await openMemory({ path, embedder: createEmbedder(MODEL_OPENS_IN_MS) });
      const { hits, vectorSearch } = await memory.recall(questionOf(round), { waitForModel });
      times[name].push(performance.now() - start);
      if (hits.length !== 10 || (vectorSearch === "searched") !== waitForModel)
        throw new Error(`The first answer is not whole: ${hits.length} hits, ${vectorSearch}.`);
      await memory.close();
    }
  }
  const named = (text) => `${events} events: ${text}`;
  return [
    { name: named("open to the first answer, words"), value: median(times.words), unit: "ms", atMost: 1_000 },
    {
      name: named("the same, waiting for the model"),
      value: median(times.vectors),
      unit: "ms",
      note: `the model opens in ${MODEL_OPENS_IN_MS} ms`,
    },
  ];
}

async function recalls(openMemory, path, { events, rounds }) {
  const memory = await openMemory({ path, embedder: createEmbedder() });
  const plans = {
    "no filter": {},
    "one session, on columns": { session: "s7" },
    "own key, 1 %": { where: "m.percent = 7" },
    "own key, 50 %": { where: "m.percent < 50" },
    "own key absent, 90 %": { where: "m.tenth IS NULL" },
    "limit 1,000": { limit: 1_000 },
  };
  const figures = [];
  for (const [name, options] of Object.entries(plans)) {
    await memory.recall(questionOf(0), options);
    const times = await timesOf(rounds * 4, (index) => memory.recall(questionOf(index + 1), options));
    figures.push({ name: `${events} events: recall, ${name}`, value: median(times), unit: "ms" });
  }
  await memory.close();
  return figures;
}

async function fillMemory(openMemory, path, count) {
  const memory = await openMemory({ path, embedder: createEmbedder() });
  const textOf = texts();
  for (let start = 0; start < count; start += EVENTS_PER_SESSION) {
    const number = start / EVENTS_PER_SESSION;
    const session = await memory.createSession(`s${number}`, { user: `u${number % 50}` });
    const events = Array.from({ length: Math.min(EVENTS_PER_SESSION, count - start) }, (_, index) => ({
      id: `e${start + index}`,
      text: textOf(),
      producer: index % 2 === 0 ? "alice" : "bob",
      at: new Date(Date.UTC(2026, 0, 1) + (start + index) * 60_000),
      properties: { percent: (start + index) % 100, ...(index % 10 === 0 && { tenth: true }) },
    }));
    for (let from = 0; from < events.length; from += EVENTS_PER_CALL)
      await session.rememberMany(events.slice(from, from + EVENTS_PER_CALL));
  }
  await memory.close();
}

/** Words as frequent as in a language: the n-th about 1 / n. */
function texts() {
  const random = seededRandom(3);
  return () => Array.from({ length: WORDS_PER_EVENT }, () => wordOf(random())).join(" ");
}

function wordOf(share) {
  return `word${Math.floor(WORDS ** share)}`;
}

/** Three rare words and a common one. */
function questionOf(index) {
  const random = seededRandom(100 + index);
  return [0.5, 0.75, 0.8, 0.9].map((from) => wordOf(from + random() * 0.1)).join(" ");
}

/** Vectors at random: what a model costs is not what is measured. */
function createEmbedder(opensInMs = 0) {
  let seed = 0;
  return {
    identity: { provider: "bench", model: "random" },
    dimensions: DIMENSIONS,
    open: () => new Promise((resolve) => setTimeout(resolve, opensInMs)),
    embed: async (given) =>
      given.map(() => {
        seed += 1;
        return randomVectors(1, DIMENSIONS, seed);
      }),
  };
}
