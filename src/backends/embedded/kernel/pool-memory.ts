import { CHUNK_BYTES, type ChunkSize } from "./chunk.ts";
import { SCRATCH_BYTES, WasmKernel } from "./kernel-wasm.ts";
import { createSharedMemory, growSharedMemory, type SharedMemory } from "./webassembly.ts";

const PAGE_BYTES = 64 * 1024;

/** 4 GiB less one page, so that the end of the last chunk is still a 32-bit address. */
export const MEMORY_BYTES_MAX: number = 4 * 1024 ** 3 - PAGE_BYTES;

/** A memory starts with the scratch of its threads; the first is never used, so that no chunk or scratch is at 0. */
const HEAD_BYTES = CHUNK_BYTES.large;

/** Scratch areas of one memory, numbered from 1: one for each thread that computes over it. */
export const SCRATCHES_MAX: number = HEAD_BYTES / SCRATCH_BYTES - 1;

/** A memory grows by a quarter, at most by 256 MiB: untouched pages cost addresses, no bytes. */
const GROWTH_CHUNKS_MAX = 64;

const SMALL_PER_LARGE = CHUNK_BYTES.large / CHUNK_BYTES.small;

/** The kernel of one thread over one memory: `scratch` is the thread's number, 1…{@link SCRATCHES_MAX}. */
export function attachKernel(memory: SharedMemory, scratch: number): WasmKernel | undefined {
  return WasmKernel.create(memory, scratch * SCRATCH_BYTES);
}

/** One shared memory, cut in large places, some of them cut in small ones. */
export class PoolMemory {
  readonly memory: SharedMemory;
  readonly kernel: WasmKernel;
  readonly #bytesMax: number;
  /** Where the never used part of the memory starts. */
  #top: number = HEAD_BYTES;
  readonly #freeLarge: number[] = [];
  /** Large places that are cut, by their address: the free small ones of each. */
  readonly #cut = new Map<number, number[]>();
  /** Those of them that have a free small one. */
  readonly #open = new Set<number>();

  private constructor(memory: SharedMemory, kernel: WasmKernel, bytesMax: number) {
    this.memory = memory;
    this.kernel = kernel;
    this.#bytesMax = bytesMax;
  }

  /** `undefined` where the runtime or the machine gives no memory. */
  static create(bytesMax: number, scratch: number): PoolMemory | undefined {
    const memory = createSharedMemory((HEAD_BYTES + CHUNK_BYTES.large) / PAGE_BYTES, Math.floor(bytesMax / PAGE_BYTES));
    const kernel = memory === undefined ? undefined : attachKernel(memory, scratch);
    return memory === undefined || kernel === undefined ? undefined : new PoolMemory(memory, kernel, bytesMax);
  }

  get bytesReserved(): number {
    return this.memory.buffer.byteLength;
  }

  /** The address of a free place, or `undefined` when there is none and the memory cannot grow. */
  take(size: ChunkSize): number | undefined {
    return size === "large" ? this.#takeLarge() : this.#takeSmall();
  }

  /** Gives a place back; when the last small one of a large place comes back, they are one again. */
  give(address: number, size: ChunkSize): void {
    if (size === "large") {
      this.#freeLarge.push(address);
      return;
    }
    const large = address - (address % CHUNK_BYTES.large);
    const free = this.#cut.get(large) ?? [];
    free.push(address);
    if (free.length < SMALL_PER_LARGE) {
      this.#open.add(large);
      return;
    }
    this.#cut.delete(large);
    this.#open.delete(large);
    this.#freeLarge.push(large);
  }

  #takeSmall(): number | undefined {
    const [open] = this.#open;
    const large = open ?? this.#cutLarge();
    const free = large === undefined ? undefined : this.#cut.get(large);
    const address = free?.pop();
    if (large !== undefined && free?.length === 0) this.#open.delete(large);
    return address;
  }

  #cutLarge(): number | undefined {
    const large = this.#takeLarge();
    if (large === undefined) return undefined;
    const free: number[] = [];
    for (let i = SMALL_PER_LARGE - 1; i >= 0; i -= 1) free.push(large + i * CHUNK_BYTES.small);
    this.#cut.set(large, free);
    this.#open.add(large);
    return large;
  }

  #takeLarge(): number | undefined {
    const freed = this.#freeLarge.pop();
    if (freed !== undefined) return freed;
    if (this.#top + CHUNK_BYTES.large > this.bytesReserved && !this.#grow()) return undefined;
    const address = this.#top;
    this.#top += CHUNK_BYTES.large;
    return address;
  }

  #grow(): boolean {
    const room = Math.floor((this.#bytesMax - this.bytesReserved) / CHUNK_BYTES.large);
    if (room < 1) return false;
    const quarter = Math.floor(this.bytesReserved / CHUNK_BYTES.large / 4);
    const chunks = Math.min(room, GROWTH_CHUNKS_MAX, Math.max(1, quarter));
    const pages = CHUNK_BYTES.large / PAGE_BYTES;
    return growSharedMemory(this.memory, chunks * pages) || growSharedMemory(this.memory, pages);
  }
}
