/** The two sizes of a chunk: a small one holds one row of the most dimensions, a large one is 64 small ones. */
export const CHUNK_BYTES: { readonly small: number; readonly large: number } = {
  small: 64 * 1024,
  large: 4 * 1024 * 1024,
};

export type ChunkSize = keyof typeof CHUNK_BYTES;

/** Where a chunk lies, for another thread that holds the same memories. */
export interface ChunkPlace {
  /** Index of the memory in its pool; −1 for a chunk of the heap, which no other thread can see. */
  readonly memory: number;
  /** Bytes from the start of the memory. */
  readonly address: number;
  readonly byteLength: number;
}

/** A piece of memory for float32 rows that lie one after the other, row `slot` at `slot × dimensions × 4`. */
export interface Chunk extends ChunkPlace {
  /** The chunk's bytes; valid as long as the chunk is held, also after its memory grew. */
  readonly bytes: Uint8Array;
  /** The same bytes as float32 values. */
  readonly floats: Float32Array;
  /** What computes over this chunk. */
  readonly kernel: Kernel;
}

/** Rows `from` (included) to `to` (excluded), of so many dimensions. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
  readonly dimensions: number;
}

/** A query vector, promoted once; made by `prepareQuery` of kernel.ts. */
export interface PreparedQuery {
  readonly dimensions: number;
  /** Shape [dimensions]; never written again, since memories keep a copy. */
  readonly values: Float64Array;
  /** The same values, which are float32. */
  readonly singles: Float32Array;
  /** In float64, by the same order of additions as the norms of rows. */
  readonly norm: number;
}

export type VisitEstimates = (estimates: Float32Array, from: number) => void;

/** What computes over chunks. It trusts its arguments: call the functions of kernel.ts, which check them. */
export interface Kernel {
  readonly kind: "wasm" | "fallback";
  scoreRows(chunk: Chunk, rows: number, query: PreparedQuery, out: Float64Array): void;
  scoreSlots(chunk: Chunk, slots: Uint32Array, query: PreparedQuery, out: Float64Array): void;
  norms(chunk: Chunk, range: RowRange, out: Float64Array): void;
  /**
   * Dot products near those of `scoreRows`, faster; how near, estimate.ts says. `visit` gets them in pieces:
   * `estimates[i]` belongs to row `from + i`. Answers false, having done nothing, where scoring is as fast.
   */
  estimateRows(chunk: Chunk, rows: number, query: PreparedQuery, visit: VisitEstimates): boolean;
}

/** A chunk over bytes that `place` names in `buffer`. */
export function viewChunk(kernel: Kernel, buffer: ArrayBufferLike, place: ChunkPlace): Chunk {
  const { memory, address, byteLength } = place;
  const bytes = new Uint8Array(buffer, address, byteLength);
  const floats = new Float32Array(buffer, address, byteLength / 4);
  return { memory, address, byteLength, bytes, floats, kernel };
}
