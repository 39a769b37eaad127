/**
 * A set of 64-bit values as pairs of signed 32-bit halves: open addressing, no bigint and no allocation when asked.
 * A loop over many pairs looks at `used[hashPair(a, b) & mask]` first, which mostly answers no, and then asks `has`.
 */
export class PairSet {
  readonly mask: number;
  readonly used: Uint8Array;
  readonly #first: Int32Array;
  readonly #second: Int32Array;

  /** @param size - how many pairs are added at most */
  constructor(size: number) {
    // At most an eighth full, so that mostly the first byte looked at says no.
    const slots = 2 ** Math.ceil(Math.log2(Math.max(8, size) * 8));
    this.mask = slots - 1;
    this.used = new Uint8Array(slots);
    this.#first = new Int32Array(slots);
    this.#second = new Int32Array(slots);
  }

  add(first: number, second: number): void {
    const slot = this.#find(first, second);
    this.used[slot] = 1;
    this.#first[slot] = first;
    this.#second[slot] = second;
  }

  /** 1 when the pair is in the set, else 0. */
  has(first: number, second: number): number {
    return this.used[this.#find(first, second)] as number;
  }

  /** The slot of the pair, or the free one where it would go. */
  #find(first: number, second: number): number {
    let slot = hashPair(first, second) & this.mask;
    while (this.used[slot] === 1 && (this.#first[slot] !== first || this.#second[slot] !== second)) {
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }
}

/** Multiplicative mixing with the constants of Knuth's golden ratio and Murmur3's finaliser: neighbours spread. */
export function hashPair(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ second;
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
