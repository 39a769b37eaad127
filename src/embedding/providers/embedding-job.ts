import type { HoldfastError } from "../../errors/index.ts";

/** Some neighbouring texts of a job, sent to a thread together. */
export interface JobSlice {
  readonly job: EmbeddingJob;
  readonly start: number;
  readonly texts: readonly string[];
}

/** One call's texts: handed out slice by slice, answered when every vector is there or the first slice failed. */
export class EmbeddingJob {
  readonly answer: Promise<readonly Float32Array[]>;
  readonly #texts: readonly string[];
  readonly #tokens: readonly number[];
  readonly #vectors: Float32Array[] = [];
  readonly #resolve: (vectors: readonly Float32Array[]) => void;
  readonly reject: (error: HoldfastError) => void;
  #next = 0;
  #filled = 0;
  #bytesLeft: number;

  constructor(texts: readonly string[], tokens: readonly number[]) {
    let resolve: (vectors: readonly Float32Array[]) => void = () => undefined;
    let reject: (error: HoldfastError) => void = () => undefined;
    this.answer = new Promise((onResolved, onRejected) => {
      resolve = onResolved;
      reject = onRejected;
    });
    this.#resolve = resolve;
    this.reject = reject;
    this.#texts = texts;
    this.#tokens = tokens;
    this.#bytesLeft = texts.reduce((bytes, text) => bytes + bytesOf(text), 0);
  }

  /** Bytes of the texts that no thread has yet. */
  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  get textsLeft(): number {
    return this.#texts.length - this.#next;
  }

  /** Hands out the next texts: at least one, and no more than both bounds allow. */
  takeSlice(textsMax: number, tokensMax: number): JobSlice {
    const start = this.#next;
    let tokens = 0;
    while (this.#next < this.#texts.length && this.#next - start < textsMax) {
      tokens += this.#tokens[this.#next] ?? 0;
      if (tokens > tokensMax && this.#next > start) break;
      this.#bytesLeft -= bytesOf(this.#texts[this.#next] ?? "");
      this.#next += 1;
    }
    return { job: this, start, texts: this.#texts.slice(start, this.#next) };
  }

  /** Takes the vectors of the slice that began at `start`. */
  fill(start: number, vectors: readonly Float32Array[]): void {
    for (const [index, vector] of vectors.entries()) this.#vectors[start + index] = vector;
    this.#filled += vectors.length;
    if (this.#filled === this.#texts.length) this.#resolve(this.#vectors);
  }
}

/** Two bytes a UTF-16 unit, and what a string object costs: so that no text weighs nothing. */
function bytesOf(text: string): number {
  return 2 * text.length + 32;
}
