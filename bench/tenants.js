/**
 * Recall in one of many tenants: whether its time grows with their number, and whether memory stays within the budget.
 *
 *     npm run build && node bench/tenants.js [--tenants 10000] [--events 100] [--folder /tmp]
 *
 * Filling takes minutes. Asked are tenants in random order, so that their partitions take turns in the budget; once more
 * the same few, so that they are resident. The embedder is a double that hashes words: its time is not counted.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openMemory } from "../dist/index.js";

const { values } = parseArgs({
  options: {
    tenants: { type: "string", default: "10000" },
    events: { type: "string", default: "100" },
    folder: { type: "string", default: tmpdir() },
  },
});
const TENANTS = Number(values.tenants);
const EVENTS = Number(values.events);
const DIMENSIONS = 384;
const ASKED = 400;
const BUDGET_BYTES = 64 * 1024 * 1024;
const FILLERS = 16;
const P50_BAR_MS = 5;
const WORDS = Array.from({ length: 5_000 }, (_, index) => `word${index.toString(36)}`);

let seed = 1;
const folder = mkdtempSync(join(values.folder, "holdfast-tenants-"));
try {
  const counts = [Math.min(10, TENANTS), Math.min(1_000, TENANTS), TENANTS].filter(
    (count, at, all) => all.indexOf(count) === at,
  );
  const memory = await openMemory({ path: folder, embedder: hashEmbedder(), memoryBudgetBytes: BUDGET_BYTES });
  let filled = 0;
  for (const count of counts) {
    await fill(memory, filled, count);
    filled = count;
    for (const [name, options] of [
      ["both channels", {}],
      ["words", { channels: ["text"] }],
      ["vectors", { channels: ["vector"] }],
    ]) {
      const spread = await ask(memory, options, () => Math.floor(random() * count));
      const few = await ask(memory, options, (turn) => turn % Math.min(5, count));
      console.log(
        `${count} tenants, ${name}: any tenant p50 ${spread.p50} ms, p95 ${spread.p95} ms; the same five p50 ${few.p50} ms`,
      );
      if (count === TENANTS && Number(spread.p50) > P50_BAR_MS) process.exitCode = 1;
    }
    const { rss } = process.memoryUsage();
    console.log(
      `${count} tenants: ${Math.round(rss / 1e6)} MB resident, budget for vectors ${BUDGET_BYTES / 2 ** 20} MiB`,
    );
  }
  await memory.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function fill(memory, from, to) {
  const began = performance.now();
  let next = from;
  const work = async () => {
    for (let number = next++; number < to; number = next++) {
      const tenant = await memory.createTenant(`tenant-${number}`);
      const session = await tenant.createSession("chat", { user: "alice" });
      await session.rememberMany(
        Array.from({ length: EVENTS }, (_, index) => ({ id: `e${index}`, producer: "alice", text: sentence() })),
      );
    }
  };
  await Promise.all(Array.from({ length: FILLERS }, work));
  const seconds = (performance.now() - began) / 1000;
  console.log(`filled to ${to} tenants: ${Math.round(((to - from) * EVENTS) / seconds)} events/s`);
}

async function ask(memory, options, pick) {
  const times = [];
  for (let turn = 0; turn < ASKED; turn += 1) {
    const tenant = await memory.tenant(`tenant-${pick(turn)}`);
    const question = sentence();
    const began = performance.now();
    const { hits } = await tenant.recall(question, options);
    times.push(performance.now() - began);
    if (hits.length === 0 && options.channels?.[0] !== "text") throw new Error("A recall by vectors found nothing.");
  }
  times.sort((a, b) => a - b);
  return { p50: times[ASKED >> 1].toFixed(2), p95: times[Math.floor(ASKED * 0.95)].toFixed(2) };
}

function sentence() {
  return Array.from({ length: 12 }, () => WORDS[Math.floor(random() ** 2 * WORDS.length)]).join(" ");
}

function hashEmbedder() {
  const vectors = new Map();
  const vectorOf = (word) => {
    let vector = vectors.get(word);
    if (vector === undefined) {
      vector = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5);
      vectors.set(word, vector);
    }
    return vector;
  };
  return {
    identity: { provider: "bench", model: "hash" },
    dimensions: DIMENSIONS,
    embed: async (texts) =>
      texts.map((text) => {
        const sum = new Float32Array(DIMENSIONS);
        for (const word of text.split(/\W+/)) {
          const vector = vectorOf(word);
          for (let index = 0; index < DIMENSIONS; index += 1) sum[index] += vector[index];
        }
        return sum;
      }),
  };
}

/** A small generator with a seed: two runs ask the same. */
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}
