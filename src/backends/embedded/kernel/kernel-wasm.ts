import { LIMITS } from "../../../contract/limits.ts";
import type { Chunk, Kernel, PreparedQuery, RowRange, VisitEstimates } from "./chunk.ts";
import { instantiateKernel, type KernelExports, type SharedMemory } from "./webassembly.ts";

/** Rows of one call into WebAssembly: their scores and slots fit in the scratch. */
const BLOCK_ROWS = 4096;
const QUERY_BYTES = LIMITS.dimensionsMax * 8;
const SCORES_BYTES = BLOCK_ROWS * 8;
const SLOTS_BYTES = BLOCK_ROWS * 4;
const SINGLES_OFFSET = QUERY_BYTES + SCORES_BYTES + SLOTS_BYTES;

/**
 * One thread's scratch in a memory: a query in float64 (128 KiB), scores or estimates (32 KiB), slots (16 KiB), the
 * query in float32 (64 KiB), and 16 KiB unused.
 */
export const SCRATCH_BYTES: number = 256 * 1024;

/** The kernel in WebAssembly over one shared memory, for one thread: its scratch is nobody else's. */
export class WasmKernel implements Kernel {
  readonly kind = "wasm";
  readonly #exports: KernelExports;
  readonly #scratch: number;
  readonly #query: Float64Array;
  readonly #scores: Float64Array;
  readonly #estimates: Float32Array;
  readonly #slots: Uint32Array;
  readonly #singles: Float32Array;
  #loaded: PreparedQuery | undefined;

  private constructor(exports: KernelExports, memory: SharedMemory, scratch: number) {
    this.#exports = exports;
    this.#scratch = scratch;
    this.#query = new Float64Array(memory.buffer, scratch, LIMITS.dimensionsMax);
    this.#scores = new Float64Array(memory.buffer, scratch + QUERY_BYTES, BLOCK_ROWS);
    this.#estimates = new Float32Array(memory.buffer, scratch + QUERY_BYTES, BLOCK_ROWS);
    this.#slots = new Uint32Array(memory.buffer, scratch + QUERY_BYTES + SCORES_BYTES, BLOCK_ROWS);
    this.#singles = new Float32Array(memory.buffer, scratch + SINGLES_OFFSET, LIMITS.dimensionsMax);
  }

  /** @param scratch - address of {@link SCRATCH_BYTES} bytes in `memory` that no other kernel uses */
  static create(memory: SharedMemory, scratch: number): WasmKernel | undefined {
    const exports = instantiateKernel(memory);
    return exports === undefined ? undefined : new WasmKernel(exports, memory, scratch);
  }

  scoreRows(chunk: Chunk, rows: number, query: PreparedQuery, out: Float64Array): void {
    this.#load(query);
    const { dimensions } = query;
    for (let from = 0; from < rows; from += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, rows - from);
      const address = chunk.address + from * dimensions * 4;
      this.#exports.score_rows(address, count, dimensions, this.#scratch, this.#scoresAddress);
      out.set(this.#scores.subarray(0, count), from);
    }
  }

  scoreSlots(chunk: Chunk, slots: Uint32Array, query: PreparedQuery, out: Float64Array): void {
    this.#load(query);
    const slotsAddress = this.#scoresAddress + SCORES_BYTES;
    for (let from = 0; from < slots.length; from += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, slots.length - from);
      this.#slots.set(slots.subarray(from, from + count));
      const { dimensions } = query;
      this.#exports.score_slots(chunk.address, slotsAddress, count, dimensions, this.#scratch, this.#scoresAddress);
      out.set(this.#scores.subarray(0, count), from);
    }
  }

  estimateRows(chunk: Chunk, rows: number, query: PreparedQuery, visit: VisitEstimates): boolean {
    this.#load(query);
    const { dimensions } = query;
    for (let from = 0; from < rows; from += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, rows - from);
      const address = chunk.address + from * dimensions * 4;
      this.#exports.estimate_rows(address, count, dimensions, this.#scratch + SINGLES_OFFSET, this.#scoresAddress);
      visit(this.#estimates.subarray(0, count), from);
    }
    return true;
  }

  norms(chunk: Chunk, range: RowRange, out: Float64Array): void {
    const { to, dimensions } = range;
    for (let from = range.from; from < to; from += BLOCK_ROWS) {
      const count = Math.min(BLOCK_ROWS, to - from);
      this.#exports.squared_norms(chunk.address + from * dimensions * 4, count, dimensions, this.#scoresAddress);
      for (let i = 0; i < count; i += 1) out[from + i] = Math.sqrt(this.#scores[i] as number);
    }
  }

  /** Sums `count` float64 values (a multiple of 8) from `address`: the bench's yardstick for reading. */
  sumRegion(address: number, count: number): number {
    return this.#exports.sum_region(address, count);
  }

  get #scoresAddress(): number {
    return this.#scratch + QUERY_BYTES;
  }

  /** A query is written once to each memory, not once to each chunk. */
  #load(query: PreparedQuery): void {
    if (this.#loaded === query) return;
    this.#query.set(query.values);
    this.#singles.set(query.singles);
    this.#loaded = query;
  }
}
