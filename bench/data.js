import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Uniform in [0, 1), the same in each run (mulberry32). */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Shape [count × dimensions], one behind the other. */
export function randomVectors(count, dimensions, seed = 1) {
  const random = seededRandom(seed);
  const vectors = new Float32Array(count * dimensions);
  for (let index = 0; index < vectors.length; index += 1) vectors[index] = random() - 0.5;
  return vectors;
}

/** What the bench's stores declare unless a section says otherwise. */
export const PROPERTIES = { lang: "string", year: "int" };

const LANGUAGES = ["de", "en", "fr", "ja"];

/**
 * Records of random vectors with two properties.
 *
 * @param options.prefix - of their ids
 * @param options.propertiesOf - properties of the index-th, default a language and a year
 */
export function makeRecords(count, dimensions, { prefix = "r", seed = 1, propertiesOf = languageAndYear } = {}) {
  const vectors = randomVectors(count, dimensions, seed);
  return Array.from({ length: count }, (_, index) => ({
    id: `${prefix}-${index}`,
    vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
    properties: propertiesOf(index),
  }));
}

function languageAndYear(index) {
  return { lang: LANGUAGES[index % LANGUAGES.length], year: 2000 + (index % 26) };
}

/** Calls `use` with a new folder and removes it afterwards. */
export async function withFolder(parent, use) {
  const folder = mkdtempSync(join(parent, "holdfast-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes records in batches, one after the other. */
export async function fill(partition, records, batch = 10_000) {
  for (let start = 0; start < records.length; start += batch) {
    await partition.upsert(records.slice(start, start + batch));
  }
}
