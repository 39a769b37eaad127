import { describe, expect, it, vi } from "vitest";
import { viewChunk } from "../../../src/backends/embedded/kernel/chunk.ts";
import { CHUNK_BYTES, type Chunk, ChunkPool } from "../../../src/backends/embedded/kernel/chunk-pool.ts";
import { prepareQuery, scoreRows } from "../../../src/backends/embedded/kernel/kernel.ts";
import { attachKernel, SCRATCHES_MAX } from "../../../src/backends/embedded/kernel/pool-memory.ts";
import { isHoldfastError } from "../../../src/errors/index.ts";
import { seededRandom } from "./vectors.ts";

/** Node's own types leave WebAssembly to the DOM's. */
const { WebAssembly: webassembly } = globalThis as unknown as { WebAssembly: { Memory: new () => object } };

const MIB = 1024 * 1024;

function place({ memory, address }: Chunk): string {
  return `${memory}:${address}`;
}

function allocateMany(pool: ChunkPool, size: "small" | "large", count: number): Chunk[] {
  return Array.from({ length: count }, () => pool.allocate(size));
}

describe("chunks", () => {
  it("[E9] makes no memory before the first chunk, and one memory for many chunks", () => {
    const pool = new ChunkPool();
    expect(pool.bytesReserved).toBe(0);
    const chunks = [...allocateMany(pool, "small", 1000), ...allocateMany(pool, "large", 5)];
    expect(pool.memories).toHaveLength(1);
    expect(new Set(chunks.map(place)).size).toBe(1005);
    expect(pool.bytesInUse).toBe(1000 * CHUNK_BYTES.small + 5 * CHUNK_BYTES.large);
    expect(pool.bytesReserved).toBeGreaterThanOrEqual(pool.bytesInUse);
  });

  it("[E9] a freed chunk is used again and the pool does not grow", () => {
    const pool = new ChunkPool();
    const first = allocateMany(pool, "large", 8);
    const reserved = pool.bytesReserved;
    for (let round = 0; round < 50; round += 1) {
      for (const chunk of first.splice(0)) pool.release(chunk);
      expect(pool.bytesInUse).toBe(0);
      first.push(...allocateMany(pool, "large", 8));
    }
    expect(pool.bytesReserved).toBe(reserved);
  });

  it("[E9] a large place is cut in 64 small ones, and is one again when all of them are back", () => {
    const pool = new ChunkPool({ memoryBytesMax: 8 * MIB });
    const smalls = allocateMany(pool, "small", 64);
    expect(new Set(smalls.map(({ address }) => Math.floor(address / CHUNK_BYTES.large))).size).toBe(1);
    expect(pool.memories).toHaveLength(1);
    const last = smalls.pop();
    for (const chunk of smalls) pool.release(chunk);
    const elsewhere = pool.allocate("large");
    expect(elsewhere.memory).toBe(1);
    if (last !== undefined) pool.release(last);
    expect(pool.allocate("large").memory).toBe(0);
  });

  it("[E9] small chunks fill the places that are cut before another is cut", () => {
    const pool = new ChunkPool();
    const smalls = allocateMany(pool, "small", 128);
    const reserved = pool.bytesReserved;
    const freed = smalls.filter((_, index) => index % 2 === 0);
    for (const chunk of freed) pool.release(chunk);
    const again = allocateMany(pool, "small", freed.length);
    expect(new Set(again.map(place))).toEqual(new Set(freed.map(place)));
    expect(pool.bytesReserved).toBe(reserved);
  });

  it("[E9] goes on in a further memory when one is full", () => {
    const pool = new ChunkPool({ memoryBytesMax: 12 * MIB });
    const chunks = allocateMany(pool, "large", 5);
    expect(chunks.map(({ memory }) => memory)).toEqual([0, 0, 1, 1, 2]);
    expect(pool.memories).toHaveLength(3);
    expect(pool.bytesReserved).toBeLessThanOrEqual(3 * 12 * MIB);
  });

  it("[P10] chunks that are held never overlap, under random allocation and release", () => {
    const random = seededRandom(11);
    const pool = new ChunkPool({ memoryBytesMax: 24 * MIB });
    const held: Chunk[] = [];
    const marks = new Map<Chunk, number>();
    for (let step = 1; step <= 3000; step += 1) {
      if (random() < 0.52 || held.length === 0) {
        const chunk = pool.allocate(random() < 0.04 ? "large" : "small");
        new Uint32Array(chunk.bytes.buffer, chunk.bytes.byteOffset, 1)[0] = step;
        chunk.floats[chunk.floats.length - 1] = step;
        marks.set(chunk, step);
        held.push(chunk);
      } else {
        const [chunk] = held.splice(Math.floor(random() * held.length), 1);
        if (chunk !== undefined) pool.release(chunk);
      }
    }
    for (const chunk of held) {
      expect(new Uint32Array(chunk.bytes.buffer, chunk.bytes.byteOffset, 1)[0]).toBe(marks.get(chunk));
      expect(chunk.floats.at(-1)).toBe(marks.get(chunk));
    }
    expect(pool.bytesInUse).toBe(held.reduce((sum, { byteLength }) => sum + byteLength, 0));
    for (const chunk of held) pool.release(chunk);
    const reserved = pool.bytesReserved;
    const memories = pool.memories.length;
    // Everything is joined again: as many large ones fit as the memories hold beside their heads.
    allocateMany(pool, "large", reserved / CHUNK_BYTES.large - memories);
    expect(pool.bytesReserved).toBe(reserved);
  });

  it("[Q9] a chunk that a search holds keeps its bytes when its partition lets go", () => {
    const pool = new ChunkPool({ memoryBytesMax: 8 * MIB });
    const chunk = pool.allocate("large");
    pool.retain(chunk);
    pool.release(chunk);
    expect(pool.bytesInUse).toBe(CHUNK_BYTES.large);
    expect(place(pool.allocate("large"))).not.toBe(place(chunk));
    pool.release(chunk);
    expect(place(pool.allocate("large"))).toBe(place(chunk));
  });

  it("[Q8] a chunk that is not held cannot be released or held: its bytes are somebody else's", () => {
    const pool = new ChunkPool();
    const chunk = pool.allocate("small");
    pool.release(chunk);
    const again = pool.allocate("small");
    expect(place(again)).toBe(place(chunk));
    expect(() => pool.release(chunk)).toThrow(/more often/);
    expect(() => pool.retain(chunk)).toThrow(/more often/);
    expect(pool.bytesInUse).toBe(CHUNK_BYTES.small);
  });
});

describe("memories", () => {
  it("[E9] views and scores of a chunk stay valid when its memory grows", () => {
    const pool = new ChunkPool();
    const chunk = pool.allocate("small");
    chunk.floats.set([1, 2, 3]);
    const before = pool.bytesReserved;
    const later = allocateMany(pool, "large", 40);
    expect(pool.memories).toHaveLength(1);
    expect(pool.bytesReserved).toBeGreaterThan(before);
    chunk.floats[0] = 7;
    const fresh = new Float32Array(pool.memories[0]?.buffer ?? new ArrayBuffer(0), chunk.address, 3);
    expect([...fresh]).toEqual([7, 2, 3]);
    const out = new Float64Array(1);
    scoreRows(chunk, 1, prepareQuery(new Float32Array([1, 1, 1])), out);
    expect(out[0]).toBe(12);
    later.at(-1)?.floats.set([4, 5, 6]);
    for (const last of later.slice(-1)) scoreRows(last, 1, prepareQuery(new Float32Array([1, 1, 1])), out);
    expect(out[0]).toBe(15);
  });

  it("[E9] addresses above 2 GiB are scored like any other", () => {
    const pool = new ChunkPool();
    const chunks = allocateMany(pool, "large", 1022);
    expect(pool.memories).toHaveLength(1);
    const last = chunks.at(-1);
    expect(last?.address).toBe(1022 * CHUNK_BYTES.large);
    const out = new Float64Array(2);
    for (const chunk of chunks.slice(-1)) {
      chunk.floats.set([1, 2, 3, 4], 0);
      scoreRows(chunk, 2, prepareQuery(new Float32Array([1, 1])), out);
    }
    expect([...out]).toEqual([3, 7]);
    expect(pool.allocate("small").memory).toBe(1);
  });

  it("[E9] another thread's kernel scores the same chunk by its own scratch", () => {
    const pool = new ChunkPool();
    const chunk = pool.allocate("small");
    chunk.floats.set([1, 2]);
    const scratch = pool.leaseScratch() ?? 0;
    const [memory] = pool.memories;
    if (memory === undefined) throw new Error("no memory");
    const kernel = attachKernel(memory, scratch);
    if (kernel === undefined) throw new Error("no kernel");
    const theirs = viewChunk(kernel, memory.buffer, chunk);
    const ours = prepareQuery(new Float32Array([1, 1]));
    const other = prepareQuery(new Float32Array([10, 10]));
    const out = new Float64Array(1);
    for (const [where, query, expected] of [
      [chunk, ours, 3],
      [theirs, other, 30],
      [chunk, ours, 3],
      [theirs, other, 30],
    ] as const) {
      scoreRows(where, 1, query, out);
      expect(out[0]).toBe(expected);
    }
  });

  it("[E9] scratches are leased once each until they come back", () => {
    const pool = new ChunkPool();
    const leased: number[] = [];
    for (let next = pool.leaseScratch(); next !== undefined; next = pool.leaseScratch()) leased.push(next);
    expect(new Set(leased).size).toBe(SCRATCHES_MAX - 1);
    expect(Math.min(...leased)).toBe(2);
    pool.returnScratch(5);
    expect(pool.leaseScratch()).toBe(5);
  });

  it("[E9] without shared memories chunks are on the heap, counted, and gone when released", () => {
    const pool = new ChunkPool({ kernel: "fallback" });
    const chunk = pool.allocate("large");
    expect([chunk.kernel.kind, chunk.memory, chunk.byteLength]).toEqual(["fallback", -1, CHUNK_BYTES.large]);
    expect([pool.bytesInUse, pool.bytesReserved]).toEqual([CHUNK_BYTES.large, CHUNK_BYTES.large]);
    pool.release(chunk);
    expect([pool.bytesInUse, pool.bytesReserved]).toEqual([0, 0]);
  });

  it("[E9] when the machine gives no further memory the heap takes over, and freed places are used first", () => {
    const pool = new ChunkPool({ memoryBytesMax: 8 * MIB });
    const first = pool.allocate("large");
    const memory = vi.spyOn(webassembly, "Memory").mockImplementation(function refuse() {
      throw new RangeError("could not allocate memory");
    });
    const second = pool.allocate("large");
    expect([first.kernel.kind, second.kernel.kind]).toEqual(["wasm", "fallback"]);
    pool.release(first);
    expect(pool.allocate("large").kernel.kind).toBe("wasm");
    memory.mockRestore();
  });

  it("[E9] a machine without memory for the heap either is a typed error", () => {
    const pool = new ChunkPool({ kernel: "fallback" });
    vi.stubGlobal("ArrayBuffer", function refuse() {
      throw new RangeError("Array buffer allocation failed");
    });
    let seen: unknown;
    try {
      pool.allocate("large");
    } catch (error) {
      seen = error;
    }
    vi.unstubAllGlobals();
    expect(isHoldfastError(seen, "BUSY")).toBe(true);
    expect(pool.bytesInUse).toBe(0);
  });
});
