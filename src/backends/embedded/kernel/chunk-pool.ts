import { HoldfastError } from "../../../errors/index.ts";
import { CHUNK_BYTES, type Chunk, type ChunkSize, viewChunk } from "./chunk.ts";
import { fallbackKernel } from "./kernel-fallback.ts";
import { MEMORY_BYTES_MAX, PoolMemory, SCRATCHES_MAX } from "./pool-memory.ts";
import type { SharedMemory } from "./webassembly.ts";

export { CHUNK_BYTES, type Chunk, type ChunkSize } from "./chunk.ts";

/** The scratch of the thread that owns the pool. */
const OWN_SCRATCH = 1;

export interface ChunkPoolOptions {
  /** `fallback` keeps chunks on the heap and computes in TypeScript; default `auto`: only where it must. */
  readonly kernel?: "auto" | "fallback";
  /** Most bytes of one memory, 8 MiB…4 GiB − 64 KiB (the default); further ones are made as needed. */
  readonly memoryBytesMax?: number;
}

/**
 * Where the vectors of resident partitions live: chunks of two sizes, cut from a few shared
 * WebAssembly memories. A process gets about 13,000 of those and none ever shrinks, so partitions
 * share them; a freed chunk is used again, by whoever comes next.
 *
 * Belongs to one thread; others see its chunks through {@link ChunkPool.memories}.
 */
export class ChunkPool {
  readonly #memories: PoolMemory[] = [];
  readonly #held = new Map<Chunk, number>();
  readonly #memoryBytesMax: number;
  readonly #freeScratches: number[] = [];
  #useHeap: boolean;
  #bytesInUse = 0;
  #heapBytes = 0;

  constructor(options: ChunkPoolOptions = {}) {
    this.#useHeap = options.kernel === "fallback";
    this.#memoryBytesMax = options.memoryBytesMax ?? MEMORY_BYTES_MAX;
    for (let scratch = SCRATCHES_MAX; scratch > OWN_SCRATCH; scratch -= 1) this.#freeScratches.push(scratch);
  }

  /** Bytes of the chunks that are held. */
  get bytesInUse(): number {
    return this.#bytesInUse;
  }

  /** Bytes of address space that the pool has taken; it never falls but for chunks of the heap. */
  get bytesReserved(): number {
    return this.#memories.reduce((sum, { bytesReserved }) => sum + bytesReserved, this.#heapBytes);
  }

  /** The memories, by {@link Chunk.memory}; each can be posted to another thread. Later ones are added at the end. */
  get memories(): readonly SharedMemory[] {
    return this.#memories.map(({ memory }) => memory);
  }

  /**
   * A chunk of 64 KiB or 4 MiB, held once. Its bytes are whatever its last holder left.
   *
   * @throws BUSY when the machine has no memory left
   */
  allocate(size: ChunkSize): Chunk {
    const chunk = this.#allocateShared(size) ?? this.#allocateHeap(size);
    this.#held.set(chunk, 1);
    this.#bytesInUse += chunk.byteLength;
    return chunk;
  }

  /** Holds a chunk once more, such as for a search that reads it while its partition lets go of it. */
  retain(chunk: Chunk): void {
    this.#held.set(chunk, this.#holdersOf(chunk) + 1);
  }

  /** Lets go of a chunk; after the last holder's call its bytes are somebody else's. */
  release(chunk: Chunk): void {
    const holders = this.#holdersOf(chunk);
    if (holders > 1) {
      this.#held.set(chunk, holders - 1);
      return;
    }
    this.#held.delete(chunk);
    this.#bytesInUse -= chunk.byteLength;
    const memory = this.#memories[chunk.memory];
    if (memory === undefined) this.#heapBytes -= chunk.byteLength;
    else memory.give(chunk.address, chunk.byteLength === CHUNK_BYTES.large ? "large" : "small");
  }

  /**
   * A number for another thread's `attachKernel`, in every memory alike; `undefined` when all are
   * taken. Give it back with {@link ChunkPool.returnScratch} when that thread has ended.
   */
  leaseScratch(): number | undefined {
    return this.#freeScratches.pop();
  }

  returnScratch(scratch: number): void {
    this.#freeScratches.push(scratch);
  }

  #holdersOf(chunk: Chunk): number {
    const holders = this.#held.get(chunk);
    if (holders !== undefined) return holders;
    throw new HoldfastError("BUG", "A chunk was released more often than it was held.", {
      details: { memory: chunk.memory, address: chunk.address },
    });
  }

  #allocateShared(size: ChunkSize): Chunk | undefined {
    if (this.#useHeap) return undefined;
    for (const [index, memory] of this.#memories.entries()) {
      const address = memory.take(size);
      if (address !== undefined) return this.#view(index, address, size);
    }
    const added = PoolMemory.create(this.#memoryBytesMax, OWN_SCRATCH);
    if (added === undefined) {
      // Without a first memory there will be none; without a further one, freed chunks may still come back.
      this.#useHeap = this.#memories.length === 0;
      return undefined;
    }
    this.#memories.push(added);
    const address = added.take(size);
    return address === undefined ? undefined : this.#view(this.#memories.length - 1, address, size);
  }

  #view(index: number, address: number, size: ChunkSize): Chunk | undefined {
    const memory = this.#memories[index];
    if (memory === undefined) return undefined;
    return viewChunk(memory.kernel, memory.memory.buffer, { memory: index, address, byteLength: CHUNK_BYTES[size] });
  }

  #allocateHeap(size: ChunkSize): Chunk {
    const byteLength = CHUNK_BYTES[size];
    try {
      const chunk = viewChunk(fallbackKernel, new ArrayBuffer(byteLength), { memory: -1, address: 0, byteLength });
      this.#heapBytes += byteLength;
      return chunk;
    } catch (cause) {
      throw new HoldfastError("BUSY", "No memory is left for vectors: lower the memory budget or close partitions.", {
        details: { byteLength, bytesInUse: this.#bytesInUse },
        cause,
      });
    }
  }
}
