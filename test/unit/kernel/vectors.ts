/** A small generator with a seed, so that a failing case can be run again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const EXTREMES = [0, -0, 2 ** -149, -(2 ** -149), 2 ** -127, 2 ** -126, -1e-40, 1e38, -1e38, 3.4028234663852886e38, 1];

/** Fills `floats` with values of all magnitudes; one in five is an extreme one. */
export function fillHostile(floats: Float32Array, random: () => number): void {
  for (let i = 0; i < floats.length; i += 1) {
    const extreme = EXTREMES[Math.floor(random() * EXTREMES.length * 5)];
    floats[i] = extreme ?? (random() - 0.5) * 10 ** Math.floor(random() * 12 - 6);
  }
}

export function hostileVector(dimensions: number, random: () => number): Float32Array {
  const vector = new Float32Array(dimensions);
  fillHostile(vector, random);
  return vector;
}

/** The first index at which float64 values differ in a bit (−0 from 0, any rounding), or −1. */
export function firstDifference(seen: Float64Array, expected: Float64Array): number {
  if (seen.length !== expected.length) return Math.min(seen.length, expected.length);
  const seenBits = new BigUint64Array(seen.slice().buffer);
  const expectedBits = new BigUint64Array(expected.slice().buffer);
  return seenBits.findIndex((bits, index) => bits !== expectedBits[index]);
}

/** The next float32 above a positive one. */
export function nextFloat32(value: number): number {
  const bits = new Uint32Array(new Float32Array([value]).buffer);
  bits[0] = (bits[0] ?? 0) + 1;
  return new Float32Array(bits.buffer)[0] ?? Number.NaN;
}
