import { HoldfastError } from "../errors/index.ts";

/** A vector as a caller gives it; it is rounded to float32. */
export type VectorInput = Float32Array | Float64Array | readonly number[];

/** The square of 2^−126, float32's smallest normal number: a shorter vector has too few bits left to have a direction. */
const SQUARED_NORM_MIN = 2 ** -252;

/**
 * Copies `input` into `target` at `offset`, rounded to float32, and checks it (V10).
 * When it throws, what it wrote to `target` is of no meaning.
 *
 * @param input - shape [dimensions], finite also after rounding, norm ≥ 2^−126
 * @param where - whose vector it is, for messages: `record 3`
 * @returns the squared norm of the rounded values, summed in float64
 * @throws INVALID_VECTOR naming the component, DIMENSION_MISMATCH
 */
// biome-ignore lint/complexity/useMaxParams: the hot path of batches; an object or a subarray a record would cost more than the copy.
export function writeVector(
  input: VectorInput,
  dimensions: number,
  target: Float32Array,
  offset: number,
  where: string,
): number {
  assertShape(input, dimensions, where);
  let squaredNorm = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const component: unknown = input[index];
    if (typeof component !== "number") throw invalid(where, index, "is not a number");
    const rounded = Math.fround(component);
    target[offset + index] = rounded;
    squaredNorm += rounded * rounded;
  }
  // One comparison for all: NaN and Infinity travel into the sum, and float32 squares cannot overflow a float64.
  if (squaredNorm >= SQUARED_NORM_MIN && squaredNorm < Number.POSITIVE_INFINITY) return squaredNorm;
  throw diagnose(input, where);
}

function assertShape(input: unknown, dimensions: number, where: string): void {
  if (!isVectorLike(input)) {
    throw new HoldfastError(
      "INVALID_VECTOR",
      `${where}: the vector must be a Float32Array, a Float64Array or an array of numbers.`,
      {
        details: { where },
      },
    );
  }
  if (input.length === dimensions) return;
  throw new HoldfastError(
    "DIMENSION_MISMATCH",
    `${where}: the vector has ${input.length} dimensions, the store has ${dimensions}; embed with the store's model.`,
    { details: { where, dimensions: input.length, expected: dimensions } },
  );
}

/** By tag rather than `instanceof`: a test runner's realm has classes of its own. */
function isVectorLike(input: unknown): input is ArrayLike<unknown> {
  if (Array.isArray(input)) return true;
  if (!ArrayBuffer.isView(input)) return false;
  const tag = Object.prototype.toString.call(input);
  return tag === "[object Float32Array]" || tag === "[object Float64Array]";
}

function diagnose(input: VectorInput, where: string): HoldfastError {
  for (let index = 0; index < input.length; index += 1) {
    const component = input[index] ?? Number.NaN;
    if (!Number.isFinite(component)) return invalid(where, index, "is not finite");
    if (!Number.isFinite(Math.fround(component))) return invalid(where, index, "is beyond the range of float32");
  }
  return new HoldfastError(
    "INVALID_VECTOR",
    `${where}: the vector is zero, or its norm is below 2^-126; it has no direction to compare. Was its text embedded?`,
    { details: { where } },
  );
}

function invalid(where: string, component: number, problem: string): HoldfastError {
  return new HoldfastError("INVALID_VECTOR", `${where}: component ${component} of the vector ${problem}.`, {
    details: { where, component },
  });
}
