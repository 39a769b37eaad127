import { isHoldfastError } from "../errors/index.ts";
import type { TextReader } from "./embedder.ts";
import { failure } from "./vector-checks.ts";

/**
 * Tokens of `text` by the embedder's own counter; `undefined` where it has none.
 *
 * @throws EMBEDDING_FAILED when the counter fails, or answers what is no count
 */
export function countTokens(embedder: TextReader, text: string): number | undefined {
  if (embedder.countTokens === undefined) return undefined;
  let tokens: unknown;
  try {
    tokens = embedder.countTokens(text);
  } catch (error) {
    throw isHoldfastError(error) ? error : failure(embedder, "The embedder could not count tokens", {}, error);
  }
  if (typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens >= 0) return tokens;
  throw failure(embedder, "The embedder counted tokens and answered no whole number of at least 0", {});
}
