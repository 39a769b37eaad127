/** A set of 64-bit values as pairs of signed 32-bit halves: open addressing, no allocation and no bigint in `has`. */
export class PairSet {
  readonly #mask: number;
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #used: Uint8Array;

  /** @param size - how many pairs are added at most */
  constructor(size: number) {
    // At most a third full: a miss looks at one or two slots.
    const slots = 2 ** Math.ceil(Math.log2(Math.max(8, size * 3)));
    this.#mask = slots - 1;
    this.#first = new Int32Array(slots);
    this.#second = new Int32Array(slots);
    this.#used = new Uint8Array(slots);
  }

  add(first: number, second: number): void {
    let slot = this.#slotOf(first, second);
    while (this.#used[slot] === 1) {
      if (this.#first[slot] === first && this.#second[slot] === second) return;
      slot = (slot + 1) & this.#mask;
    }
    this.#used[slot] = 1;
    this.#first[slot] = first;
    this.#second[slot] = second;
  }

  has(first: number, second: number): boolean {
    let slot = this.#slotOf(first, second);
    while (this.#used[slot] === 1) {
      if (this.#first[slot] === first && this.#second[slot] === second) return true;
      slot = (slot + 1) & this.#mask;
    }
    return false;
  }

  /** Multiplicative mixing (Knuth's golden ratio, Murmur3's finaliser): integers in a row spread. */
  #slotOf(first: number, second: number): number {
    let hash = Math.imul(first, 0x9e3779b1) ^ second;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) & this.#mask;
  }
}
