import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { assertNotAborted, untilAborted } from "./abort.ts";
import type { Embedder, EmbedOptions } from "./embedder.ts";
import { checkVectors, type Embedded, failure } from "./vector-checks.ts";

export interface CheckedOptions extends EmbedOptions {
  /** Texts of one call to the embedder, at least 1; default 64. */
  readonly textsPerCall?: number;
}

/** Most services take 100 texts and more a call; 64 keep what one failed call costs small. */
const TEXTS_PER_CALL = 64;

/** Some texts of a caller's list: those at `positions`, so that errors name the caller's positions. */
export interface TextBatch {
  readonly texts: readonly string[];
  readonly positions: readonly number[];
}

/** Cuts the texts at `positions` into batches of at most `textsPerCall`. */
export function toBatches(
  texts: readonly string[],
  positions: readonly number[],
  options: CheckedOptions,
): readonly TextBatch[] {
  const { textsPerCall = TEXTS_PER_CALL } = options;
  if (!Number.isSafeInteger(textsPerCall) || textsPerCall < 1) {
    throw new HoldfastError("INVALID_ARGUMENT", "textsPerCall must be a whole number of at least 1.");
  }
  const batches: TextBatch[] = [];
  for (let start = 0; start < positions.length; start += textsPerCall) {
    const slice = positions.slice(start, start + textsPerCall);
    batches.push({ texts: slice.map((position) => texts[position] ?? ""), positions: slice });
  }
  return batches;
}

/** Opens an embedder; what it raises becomes EMBEDDING_FAILED unless it is an error of ours. */
export async function openEmbedder(embedder: Embedder, signal: AbortSignal | undefined): Promise<void> {
  try {
    await untilAborted(Promise.resolve(embedder.open?.()), signal);
  } catch (error) {
    throw isHoldfastError(error) ? error : failure(embedder, "The embedder could not be opened", {}, error);
  }
}

/** Closes an embedder; what it raises becomes EMBEDDING_FAILED. */
export async function closeEmbedder(embedder: Embedder): Promise<void> {
  try {
    await embedder.close?.();
  } catch (error) {
    throw isHoldfastError(error) ? error : failure(embedder, "The embedder could not be closed", {}, error);
  }
}

/** One call to an embedder with its answer checked: one outcome a text of the batch. */
export async function embedBatch(
  embedder: Embedder,
  batch: TextBatch,
  options: EmbedOptions,
): Promise<readonly Embedded[]> {
  const { kind, signal } = options;
  assertNotAborted(signal);
  let answer: unknown;
  try {
    // A list of its own: an embedder that empties or sorts what it is given would move vectors to other texts.
    const texts = [...batch.texts];
    // It may ignore the signal; its caller is let go all the same.
    answer = await untilAborted(embedder.embed(texts, { kind, ...(signal !== undefined && { signal }) }), signal);
  } catch (error) {
    if (isHoldfastError(error)) throw error;
    assertNotAborted(signal);
    throw failure(
      embedder,
      "The embedder failed",
      { position: batch.positions[0] ?? 0, count: batch.texts.length },
      error,
    );
  }
  return checkVectors(embedder, answer, batch.positions);
}
