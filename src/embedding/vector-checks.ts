import { HoldfastError } from "../errors/index.ts";
import type { Embedder } from "./embedder.ts";

/** Below this norm a cosine in float32 loses its digits; the store refuses such vectors too (V10). */
const NORM_MIN = 2 ** -126;

/** The vector of one text, or why it has none. */
export type Embedded = { readonly vector: Float32Array } | { readonly error: HoldfastError };

/**
 * Checks an embedder's answer to the texts at `positions` of a call: one outcome a text. Vectors are
 * copied, so that a buffer that the embedder uses again changes nothing.
 *
 * @throws EMBEDDING_FAILED when the answer is no list of as many vectors, so that none can be matched to its text
 */
export function checkVectors(embedder: Embedder, answer: unknown, positions: readonly number[]): readonly Embedded[] {
  if (!Array.isArray(answer) || answer.length !== positions.length) {
    const found = Array.isArray(answer) ? `${answer.length} vectors` : "no list";
    const details = { position: positions[0] ?? 0, count: positions.length };
    throw failure(embedder, `The embedder answered ${found} for ${positions.length} texts`, details);
  }
  const values: readonly unknown[] = answer;
  return positions.map((position, index) => checkVector(embedder, values[index], position));
}

function checkVector(embedder: Embedder, value: unknown, position: number): Embedded {
  const vector = toFloat32(value);
  if (vector === undefined)
    return {
      error: failure(embedder, `The embedder answered no vector for the text at position ${position}`, { position }),
    };
  if (vector.length !== embedder.dimensions) {
    const message = `The embedder answered ${vector.length} dimensions for the text at position ${position} and declares ${embedder.dimensions}; correct its declaration or its model.`;
    const details = { ...nameOf(embedder), position, dimensions: vector.length, declared: embedder.dimensions };
    return { error: new HoldfastError("DIMENSION_MISMATCH", message, { details, operation: "embed" }) };
  }
  // Float64 squares of float32 values neither overflow nor vanish.
  const norm = Math.sqrt(vector.reduce((sum, component) => sum + component * component, 0));
  if (!Number.isFinite(norm))
    return { error: failure(embedder, `The vector of the text at position ${position} is not finite`, { position }) };
  if (norm < NORM_MIN)
    return { error: failure(embedder, `The vector of the text at position ${position} is zero`, { position }) };
  return { vector };
}

/** JavaScript embedders often answer plain arrays; anything else than numbers in one is no vector. */
function toFloat32(value: unknown): Float32Array | undefined {
  if (value instanceof Float32Array || value instanceof Float64Array) return new Float32Array(value);
  if (Array.isArray(value) && value.every((component) => typeof component === "number"))
    return Float32Array.from(value);
  return undefined;
}

/** An EMBEDDING_FAILED that names the embedder and positions, never a text (O4). */
export function failure(
  embedder: Pick<Embedder, "identity">,
  what: string,
  details: Readonly<Record<string, number>>,
  cause?: unknown,
): HoldfastError<"EMBEDDING_FAILED"> {
  const advice = cause === undefined ? "check the model behind it" : "its own error is the cause";
  return new HoldfastError("EMBEDDING_FAILED", `${what}; ${advice}.`, {
    details: { ...nameOf(embedder), ...details },
    operation: "embed",
    ...(cause !== undefined && { cause }),
  });
}

function nameOf(embedder: Pick<Embedder, "identity">): { readonly provider: string; readonly model: string } {
  return { provider: embedder.identity.provider, model: embedder.identity.model };
}
