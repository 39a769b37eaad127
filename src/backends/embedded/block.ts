import type { PropertySchema } from "../../contract/properties.ts";
import { Columns } from "../../filter/index.ts";
import type { RecordRow } from "./codec.ts";
import type { Chunk, ChunkPool } from "./kernel/chunk-pool.ts";
import { CHUNK_BYTES } from "./kernel/chunk-pool.ts";
import { norms } from "./kernel/kernel.ts";

/** Bytes of a row beside its vector and its properties: row id, norm, mark, and an id of 36 characters. */
const ROW_OVERHEAD_BYTES = 96;

/** What a block of a store holds a row. */
export interface BlockShape {
  readonly dimensions: number;
  readonly schema: PropertySchema;
}

/**
 * Some rows of one partition in memory, in the order of their row ids: vectors in a chunk of the pool,
 * properties as columns. Filled once from the front; a removal only marks its slot.
 */
export class Block {
  readonly capacity: number;
  readonly columns: Columns;
  readonly chunk: Chunk;
  readonly rows: Float64Array;
  readonly ids: string[] = [];
  readonly norms: Float64Array;
  readonly checksums: Uint32Array;
  /** 1 for a row that is there, 0 for a removed one. */
  readonly alive: Uint8Array;
  readonly dimensions: number;
  #normed = 0;
  #live = 0;

  constructor(pool: ChunkPool, size: "small" | "large", shape: BlockShape) {
    this.dimensions = shape.dimensions;
    this.capacity = Math.max(1, Math.floor(CHUNK_BYTES[size] / (shape.dimensions * 4)));
    this.chunk = pool.allocate(size);
    this.columns = new Columns(shape.schema);
    this.rows = new Float64Array(this.capacity);
    this.norms = new Float64Array(this.capacity);
    this.checksums = new Uint32Array(this.capacity);
    this.alive = new Uint8Array(this.capacity);
  }

  /** Slots in use, removed ones with them. */
  get count(): number {
    return this.ids.length;
  }

  get live(): number {
    return this.#live;
  }

  get isFull(): boolean {
    return this.count === this.capacity;
  }

  get byteLength(): number {
    return this.chunk.byteLength + this.columns.byteLength + this.capacity * ROW_OVERHEAD_BYTES;
  }

  append(record: RecordRow, checksum: number): void {
    const slot = this.count;
    this.chunk.bytes.set(record.vector, slot * this.dimensions * 4);
    this.columns.append(record.values);
    this.rows[slot] = record.row;
    this.checksums[slot] = checksum;
    this.alive[slot] = 1;
    this.ids.push(record.id);
    this.#live += 1;
  }

  /** Computes the norms of rows that were appended since the last call. */
  seal(): void {
    norms(this.chunk, { from: this.#normed, to: this.count, dimensions: this.dimensions }, this.norms);
    this.#normed = this.count;
  }

  /** Marks the row as removed; answers its checksum, or `undefined` when it is not here. */
  remove(row: number): number | undefined {
    const slot = this.#slotOf(row);
    if (slot < 0 || this.alive[slot] === 0) return undefined;
    this.alive[slot] = 0;
    this.#live -= 1;
    return this.checksums[slot];
  }

  release(pool: ChunkPool): void {
    pool.release(this.chunk);
  }

  /** Row ids ascend, so that no map from row to slot is needed. */
  #slotOf(row: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.rows[middle] ?? 0;
      if (found === row) return middle;
      if (found < row) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
