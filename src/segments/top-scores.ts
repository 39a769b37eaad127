export interface ScoredSegment {
  readonly segment: number;
  readonly score: number;
}

/** Keeps the `limit` best of its candidates: higher scores first, ties by the lower segment. */
export class TopScores {
  readonly #limit: number;
  /** A binary heap with the worst kept one at the root. */
  readonly #heap: ScoredSegment[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether {@link add} would keep it: asked before anything dearer is asked about the candidate. */
  accepts(candidate: ScoredSegment): boolean {
    const worst = this.#heap[0];
    return this.#heap.length < this.#limit || (worst !== undefined && order(candidate, worst) < 0);
  }

  /** Adds a candidate that {@link accepts} took, in place of the worst one when `limit` are kept. */
  add(candidate: ScoredSegment): void {
    if (this.#heap.length < this.#limit) {
      this.#heap.push(candidate);
      this.#raise(this.#heap.length - 1);
    } else {
      this.#heap[0] = candidate;
      this.#sink();
    }
  }

  /** The lowest kept score once `limit` are kept; nothing below it can come in. */
  get threshold(): number {
    const worst = this.#heap[0];
    return worst === undefined || this.#heap.length < this.#limit ? Number.NEGATIVE_INFINITY : worst.score;
  }

  toSorted(): ScoredSegment[] {
    return [...this.#heap].sort(order);
  }

  #raise(from: number): void {
    let child = from;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfWorse(child, parent)) return;
      child = parent;
    }
  }

  #sink(): void {
    let parent = 0;
    for (;;) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      const worse = this.#isWorse(right, left) ? right : left;
      if (!this.#swapIfWorse(worse, parent)) return;
      parent = worse;
    }
  }

  #swapIfWorse(child: number, parent: number): boolean {
    const [lower, upper] = [this.#heap[child], this.#heap[parent]];
    if (lower === undefined || upper === undefined || order(lower, upper) <= 0) return false;
    this.#heap[child] = upper;
    this.#heap[parent] = lower;
    return true;
  }

  #isWorse(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && order(a, b) > 0;
  }
}

/** Negative when `a` comes before `b`. */
function order(a: ScoredSegment, b: ScoredSegment): number {
  return b.score - a.score || a.segment - b.segment;
}
