import { assertNotAborted } from "./abort.ts";
import { type CheckedOptions, embedBatch, openEmbedder, toBatches } from "./embed-call.ts";
import type { Embedder } from "./embedder.ts";
import { checkTexts } from "./text-checks.ts";

/**
 * Embeds every text or raises: nothing is sent before all texts are checked (V14), and no answer is
 * passed on that a store would refuse.
 *
 * @returns one vector a text in input order, shape [embedder.dimensions], float32, finite, norm above 0
 * @throws INVALID_TEXT (empty, lone surrogate), LIMIT_EXCEEDED (longer than the model's window),
 *   EMBEDDING_FAILED, DIMENSION_MISMATCH, PACKAGE_MISSING, ABORTED, TIMEOUT; positions are those of `texts`
 */
export async function embedChecked(
  embedder: Embedder,
  texts: readonly string[],
  options: CheckedOptions,
): Promise<readonly Float32Array[]> {
  assertNotAborted(options.signal);
  if (texts.length === 0) return [];
  await openEmbedder(embedder, options.signal);
  for (const check of await checkTexts(embedder, texts, options.signal)) {
    if ("error" in check) throw check.error;
  }
  const vectors: Float32Array[] = [];
  for (const batch of toBatches(texts, [...texts.keys()], options)) {
    for (const embedded of await embedBatch(embedder, batch, options)) {
      if ("error" in embedded) throw embedded.error;
      vectors.push(embedded.vector);
    }
  }
  return vectors;
}
