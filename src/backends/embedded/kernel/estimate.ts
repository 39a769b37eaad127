/** Half a unit in the last place of 1 in float32: the largest relative error of one rounding. */
const ROUNDING = 2 ** -24;

/** Half the least subnormal float32: the largest absolute error of a product that underflows. */
const UNDERFLOW = 2 ** -150;

/** Elements that one step of `estimate_rows` adds side by side. */
const LANES = 8;

/** Roundings of an element outside the loop: its product, the tail (up to 7 elements), and 3 sums of lanes. */
const ROUNDINGS_BESIDE = 1 + (LANES - 1) + 3;

/** Covers what is beyond the first order, and the roundings of the float64 scores that estimates are compared with. */
const SLACK = 1.01;

/**
 * How far an estimated dot product may lie from the true one, as a share of the product of both norms.
 *
 * Each element goes through at most dimensions / 8 additions of its lane and the roundings beside. So the error is
 * at most that count × 2^−24 × Σ|aᵢ·bᵢ| (to first order; Higham, Accuracy and Stability of Numerical Algorithms,
 * §3.1), and Σ|aᵢ·bᵢ| ≤ ‖a‖·‖b‖. At 384 dimensions 3.6e−6, at 16,384 1.2e−4.
 */
export function cosineErrorMax(dimensions: number): number {
  return (Math.ceil(dimensions / LANES) + ROUNDINGS_BESIDE) * ROUNDING * SLACK;
}

/** What products below the normal range of float32 add to that error; sums add nothing there. */
export function underflowErrorMax(dimensions: number): number {
  return dimensions * UNDERFLOW * SLACK;
}
