import { LIMITS } from "../contract/limits.ts";
import { HoldfastError } from "../errors/index.ts";
import type { Embedder } from "./embedder.ts";
import { identityText } from "./identity.ts";

/**
 * Refuses what is no embedder, before anything is embedded with it.
 *
 * @throws INVALID_ARGUMENT
 */
export function assertEmbedder(embedder: unknown): asserts embedder is Embedder {
  const { embed, dimensions, identity, maxTokens, countTokens } = (embedder ?? {}) as Partial<Embedder>;
  if (typeof embed !== "function" || typeof identity !== "object" || identity === null || !isDimensions(dimensions))
    throw invalid(`An embedder has identity, dimensions (1 to ${LIMITS.dimensionsMax}) and embed(texts, { kind }).`);
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens >= 1))
    throw invalid("The embedder's maxTokens is a whole number of at least 1.");
  if (countTokens !== undefined && typeof countTokens !== "function")
    throw invalid("The embedder's countTokens is a function of a text that answers a count.");
  // Raises what is wrong with an identity now, and not with the first event.
  identityText({ identity, dimensions });
}

function isDimensions(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LIMITS.dimensionsMax;
}

function invalid(message: string): HoldfastError {
  return new HoldfastError("INVALID_ARGUMENT", message);
}
