import { assertNotAborted } from "../embedding/abort.ts";
import { embedChecked } from "../embedding/checked.ts";
import { countTokens } from "../embedding/count-tokens.ts";
import { openEmbedder } from "../embedding/embed-call.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { segmentTextInSlices } from "../segments/segmenter.ts";

/** Windows that a question is embedded in at most: a page or two is a question, a book is none. */
const PIECES_MAX = 16;

/** Below this length the pieces' vectors point away from each other, and nothing lies between them. */
const LENGTH_MIN = 1e-6;

/**
 * The vector of a question of any length. One that is over the embedder's window is embedded in pieces, and its vector
 * lies in the middle of theirs: nothing of it is cut off in silence.
 *
 * @returns `undefined` for a question of more than 16 windows
 * @throws as `embedChecked` does
 */
export async function embedQuestion(
  embedder: Embedder,
  question: string,
  signal: AbortSignal,
): Promise<Float32Array | undefined> {
  await openEmbedder(embedder, signal);
  const pieces = await toPieces(embedder, question, signal);
  if (pieces.length > PIECES_MAX) return undefined;
  return middleOf(await embedChecked(embedder, pieces, { kind: "query", signal }));
}

async function toPieces(embedder: Embedder, question: string, signal: AbortSignal): Promise<readonly string[]> {
  const { maxTokens } = embedder;
  const count = (text: string): number => countTokens(embedder, text) ?? 0;
  if (maxTokens === undefined || embedder.countTokens === undefined || count(question) <= maxTokens) return [question];
  const window = { maxTokens, countTokens: count };
  const pieces = await segmentTextInSlices(question, window, () => assertNotAborted(signal));
  return pieces.map(({ text }) => text);
}

function middleOf(vectors: readonly Float32Array[]): Float32Array | undefined {
  const [first] = vectors;
  if (first === undefined || vectors.length === 1) return first;
  const sum = new Float64Array(first.length);
  for (const vector of vectors) {
    const length = lengthOf(vector);
    for (const [index, component] of vector.entries()) sum[index] = (sum[index] ?? 0) + component / length;
  }
  return lengthOf(sum) < LENGTH_MIN ? first : Float32Array.from(sum);
}

function lengthOf(vector: Float32Array | Float64Array): number {
  let squares = 0;
  for (const component of vector) squares += component * component;
  return Math.sqrt(squares);
}
