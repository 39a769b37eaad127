import { createHash } from "node:crypto";
import type { Embedder, EmbeddingKind } from "../../src/embedding/embedder.ts";

export interface HashEmbedderOptions {
  /** Two names give two spaces: the same text gets unrelated vectors. */
  readonly model?: string;
  readonly dimensions?: number;
  readonly maxTokens?: number;
  readonly endpoint?: string;
  /** Called before each call is answered: throw to fail it, await a gate to hold it. */
  readonly before?: (texts: readonly string[], kind: EmbeddingKind) => void | Promise<void>;
}

export interface HashEmbedder extends Embedder {
  /** Every call's texts, in order: what a test may count. */
  readonly calls: readonly (readonly string[])[];
  readonly textsEmbedded: number;
  countTokens(text: string): number;
}

/**
 * Vectors from a hashed bag of words: the same for the same model name, dimensions and text in every
 * process, of norm 1, and closer to each other the more words two texts share.
 */
export function createHashEmbedder(options: HashEmbedderOptions = {}): HashEmbedder {
  const { model = "hash-1", dimensions = 64, maxTokens, endpoint, before } = options;
  const calls: (readonly string[])[] = [];
  return {
    identity: { provider: "test", model, normalization: "unit", ...(endpoint !== undefined && { endpoint }) },
    dimensions,
    ...(maxTokens !== undefined && { maxTokens }),
    calls,
    get textsEmbedded() {
      return calls.reduce((sum, texts) => sum + texts.length, 0);
    },
    countTokens: (text) => words(text).length,
    async embed(texts, { kind }) {
      calls.push([...texts]);
      await before?.(texts, kind);
      return texts.map((text) => toVector(text, model, dimensions));
    },
  };
}

function toVector(text: string, model: string, dimensions: number): Float32Array {
  const sum = new Float64Array(dimensions);
  for (const word of words(text)) {
    for (const [index, component] of wordVector(word, model, dimensions).entries())
      sum[index] = (sum[index] ?? 0) + component;
  }
  const norm = Math.hypot(...sum);
  return Float32Array.from(sum, (component) => component / norm);
}

/** A pseudo-random direction a word: two words are nearly at right angles, more so with more dimensions. */
function wordVector(word: string, model: string, dimensions: number): Float64Array {
  const vector = new Float64Array(dimensions);
  for (let block = 0; block * 32 < dimensions; block += 1) {
    const digest = createHash("sha256").update(`${model}\n${block}\n${word}`).digest();
    for (let byte = 0; byte < 32 && block * 32 + byte < dimensions; byte += 1)
      vector[block * 32 + byte] = digest.readUInt8(byte) - 127.5;
  }
  return vector;
}

function words(text: string): readonly string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu);
  return found ?? [text];
}
