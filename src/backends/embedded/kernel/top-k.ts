import { cosine } from "./cosine.ts";

/**
 * Compares the record ids of two rows in UTF-8 byte order: below 0 when the first comes first.
 * Called for equal scores alone, so that ids need not be at hand for every row.
 */
export type CompareIds = (blockA: number, slotA: number, blockB: number, slotB: number) => number;

/** A selected row. */
export interface Ranked {
  readonly score: number;
  readonly block: number;
  readonly slot: number;
}

/** Scored rows of one block. */
export interface ScoredRows {
  readonly block: number;
  /** Shape [≥ count]; dot products of the rows, or of the rows that `slots` names. */
  readonly dots: Float64Array;
  readonly count: number;
  /** By slot. */
  readonly norms: Float64Array;
  readonly queryNorm: number;
  /** The row of each dot product; without it the i-th is row i. */
  readonly slots?: Uint32Array;
  /** By slot: 0 leaves the row out. Without it every row counts. */
  readonly alive?: Uint8Array;
}

/**
 * The `limit` best rows by cosine, ties by record id: a total order, so the selection is the same
 * whatever the order of the offers (Q3).
 */
export class TopK {
  readonly #limit: number;
  readonly #compareIds: CompareIds;
  readonly #minCosine: number;
  /** A binary heap with the worst selected row at 0. */
  readonly #heap: Ranked[] = [];

  /**
   * @param limit - count, ≥ 0
   * @param minCosine - inclusive (Q2)
   */
  constructor(limit: number, compareIds: CompareIds, minCosine = -1) {
    this.#limit = limit;
    this.#compareIds = compareIds;
    this.#minCosine = minCosine;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** A row with a lower cosine than this cannot be selected any more; one that equals it may. */
  get threshold(): number {
    if (this.#limit === 0) return Number.POSITIVE_INFINITY;
    const worst = this.#heap[0];
    return worst === undefined || this.#heap.length < this.#limit ? this.#minCosine : worst.score;
  }

  /** The threshold for a quotient that is not clamped yet: below −1 it may still become −1. */
  get floor(): number {
    const { threshold } = this;
    return threshold <= -1 ? Number.NEGATIVE_INFINITY : threshold;
  }

  /** Offers one row, each row once. */
  offer(score: number, block: number, slot: number): void {
    if (!(score >= this.threshold)) return;
    const row = { score, block, slot };
    if (this.#heap.length < this.#limit) {
      this.#heap.push(row);
      this.#rise(this.#heap.length - 1, row);
      return;
    }
    const worst = this.#heap[0];
    if (worst !== undefined && this.#isWorse(worst, row)) this.#sink(row);
  }

  /** Offers the rows of a block, each row once. */
  offerAll(rows: ScoredRows): void {
    const { block, dots, count, norms, queryNorm, slots, alive } = rows;
    let floor = this.floor;
    for (let i = 0; i < count; i += 1) {
      // Indexes are in range: the caller sized the arrays.
      const slot = slots === undefined ? i : (slots[i] as number);
      const dot = dots[i] as number;
      const norm = norms[slot] as number;
      // Before the clamp, which no row below the floor can pass. Also skips NaN.
      if (!(dot / (norm * queryNorm) >= floor)) continue;
      if (alive !== undefined && alive[slot] === 0) continue;
      this.offer(cosine(dot, norm, queryNorm), block, slot);
      floor = this.floor;
    }
  }

  /** The selected rows, best first, ties by id. */
  sorted(): Ranked[] {
    return [...this.#heap].sort((a, b) => (a.score === b.score ? this.#compare(a, b) : b.score - a.score));
  }

  #compare(a: Ranked, b: Ranked): number {
    return this.#compareIds(a.block, a.slot, b.block, b.slot);
  }

  #isWorse(a: Ranked, b: Ranked): boolean {
    return a.score === b.score ? this.#compare(a, b) > 0 : a.score < b.score;
  }

  /** Moves `row` from `at` towards the root until its parent is worse. */
  #rise(from: number, row: Ranked): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Ranked;
      if (!this.#isWorse(row, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = row;
  }

  /** Puts `row` in the place of the worst, then down until it is worse than both below it. */
  #sink(row: Ranked): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      const right = below + 1;
      if (right < heap.length && this.#isWorse(heap[right] as Ranked, heap[below] as Ranked)) below = right;
      const child = heap[below] as Ranked;
      if (!this.#isWorse(child, row)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = row;
  }
}
