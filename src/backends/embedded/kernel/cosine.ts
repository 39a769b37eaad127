/**
 * The cosine of two vectors from their dot product and norms: every score of the embedded backend
 * is computed here (Q1).
 *
 * The product of the norms neither overflows nor loses bits: norms lie between 2^−126 and about
 * 2^135 (16,384 components of the largest float32), so it lies between 2^−252 and 2^270.
 *
 * @param dot - by a kernel, in float64
 * @param normA - above 0
 * @param normB - above 0
 * @returns in [−1, 1], never −0
 */
export function cosine(dot: number, normA: number, normB: number): number {
  return clampCosine(dot / (normA * normB));
}

/** Rounding can carry the quotient past 1 by a unit in the last place. */
function clampCosine(quotient: number): number {
  if (quotient > 1) return 1;
  if (quotient < -1) return -1;
  // −0 + 0 is 0.
  return quotient + 0;
}
