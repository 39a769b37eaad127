/**
 * Random numbers that a seed repeats: a failing case is told by its seed alone.
 * The state is one 32-bit word walked by a fixed odd step and mixed by two multiplications.
 */
export class SeededRandom {
  #state: number;

  /** @param seed - an unsigned 32-bit integer */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 to `bound` − 1. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new RangeError("There is nothing to pick from.");
    return value;
  }

  /** Components in [−1, 1); never the zero vector. */
  vector(dimensions: number): Float32Array {
    const vector = Float32Array.from({ length: dimensions }, () => this.fraction() * 2 - 1);
    if (vector.every((component) => component === 0)) vector[0] = 1;
    return vector;
  }
}
