const SLOTS_FIRST = 1024;

/**
 * Counts how often a 64-bit digest came, in 12 to 24 bytes a digest: a file of millions of lines is counted in tens of
 * megabytes. Two contents whose digests agree share a count; their ids stay different and the same at each run.
 */
export class OccurrenceTable {
  #digests = new BigUint64Array(SLOTS_FIRST);
  #counts = new Uint32Array(SLOTS_FIRST);
  #used = 0;

  /** Answers the number of this occurrence, from 1. */
  count(digest: bigint): number {
    if (this.#used * 2 > this.#counts.length) this.#grow();
    const slot = this.#slotOf(digest);
    if (this.#counts[slot] === 0) this.#used += 1;
    this.#digests[slot] = digest;
    const count = (this.#counts[slot] ?? 0) + 1;
    this.#counts[slot] = count;
    return count;
  }

  /** Open addressing: the slot that holds the digest, or the free one where it belongs. */
  #slotOf(digest: bigint): number {
    const mask = this.#counts.length - 1;
    let slot = Number(digest & BigInt(mask));
    while (this.#counts[slot] !== 0 && this.#digests[slot] !== digest) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [digests, counts] = [this.#digests, this.#counts];
    this.#digests = new BigUint64Array(digests.length * 2);
    this.#counts = new Uint32Array(counts.length * 2);
    for (const [index, count] of counts.entries()) {
      if (count === 0) continue;
      const digest = digests[index] ?? 0n;
      const slot = this.#slotOf(digest);
      this.#digests[slot] = digest;
      this.#counts[slot] = count;
    }
  }
}
