import { createHash } from "node:crypto";
import { SeededRandom } from "holdfast/testkit";

export const DIMENSIONS = 16;

/** One vector for each text and no two alike: a text that is asked for finds its own segment with a cosine of 1. */
export function laneVector(text) {
  return new SeededRandom(createHash("sha256").update(text).digest().readUInt32LE(0)).vector(DIMENSIONS);
}

/**
 * An embedder that needs no model. With `fails` it refuses that share of its calls, as a service would: what it refuses
 * waits and is embedded later.
 */
export function laneEmbedder({ fails = 0, seed = 1 } = {}) {
  const random = new SeededRandom(seed);
  return {
    identity: { provider: "lane", model: "hash" },
    dimensions: DIMENSIONS,
    async embed(texts) {
      if (fails > 0 && random.chance(fails)) throw new Error("The embedder of this lane is down.");
      return texts.map(laneVector);
    },
  };
}
