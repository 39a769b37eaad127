import type { EngineSettings, ReadView } from "../../database/operation.ts";
import type { Life, LifeState } from "../../registry/lives.ts";
import type { StoreRow } from "../../registry/stores.ts";
import { Block } from "./block.ts";
import { ChunkPool } from "./kernel/chunk-pool.ts";
import { ResidentPartition } from "./resident.ts";
import { rowsBehind } from "./row-pages.ts";

/** Below this many records a partition is scanned from its rows and never kept: ten thousand small tenants cost no memory. */
export const RESIDENT_RECORDS_MIN = 256;

/** An estimate of a record's bytes in memory beside its vector. */
const RECORD_OVERHEAD_BYTES = 192;

/** What a search goes through: blocks one at a time, and how many rows could not be read. */
export interface BlockScan {
  readonly damaged: number;
}

/**
 * The reader thread's partitions in memory, the one used longest ago dropped first when the byte
 * budget is reached (E9). What does not fit is streamed from the file, block by block.
 */
export class PartitionCache {
  readonly #pool = new ChunkPool();
  readonly #budgetBytes: number;
  readonly #resident = new Map<string, ResidentPartition>();

  constructor(settings: EngineSettings) {
    this.#budgetBytes = settings.memoryBudgetBytes;
  }

  /** Shows `visit` every block of the partition as of the view's transaction. */
  forEachBlock(
    view: ReadView,
    scan: { readonly life: Life; readonly store: StoreRow; readonly state: LifeState },
    visit: (block: Block) => void,
  ): BlockScan {
    const { life, store, state } = scan;
    const bytes = state.records * (store.dimensions * 4 + RECORD_OVERHEAD_BYTES);
    if (state.records < RESIDENT_RECORDS_MIN || bytes > this.#budgetBytes) {
      this.#drop(life.incarnation);
      return this.#stream(view, scan, visit);
    }
    const resident = this.#upToDate(view, life, store, state);
    for (const block of resident.blocks) {
      view.cancellation.assertLive();
      visit(block);
    }
    return { damaged: resident.damaged };
  }

  /** Whether the partition is in memory: then going through it costs no reading. */
  holds(life: Life): boolean {
    return this.#resident.has(life.incarnation);
  }

  /** Forgets a partition whose memory no longer agrees with its rows, so that the next search loads it. */
  forget(life: Life): void {
    this.#drop(life.incarnation);
  }

  #upToDate(view: ReadView, life: Life, store: StoreRow, state: LifeState): ResidentPartition {
    const shape = { dimensions: store.dimensions, schema: store.properties };
    const keys = Object.keys(shape.schema).length;
    let resident = this.#resident.get(life.incarnation);
    this.#resident.delete(life.incarnation);
    try {
      const usable =
        resident !== undefined &&
        Object.keys(resident.shape.schema).length === keys &&
        resident.follow(view, life, store, state);
      if (!usable || resident === undefined || resident.isSparse) {
        resident?.release();
        this.#makeRoom(state.records * (store.dimensions * 4 + RECORD_OVERHEAD_BYTES));
        resident = new ResidentPartition(this.#pool, shape);
        resident.follow(view, life, store, state);
      }
    } catch (error) {
      resident?.release();
      throw error;
    }
    this.#resident.set(life.incarnation, resident);
    this.#makeRoom(0, life.incarnation);
    return resident;
  }

  /** Releases what was used longest ago until `bytes` more fit; never the partition that is being read. */
  #makeRoom(bytes: number, reading?: string): void {
    let held = 0;
    for (const resident of this.#resident.values()) held += resident.byteLength;
    for (const [incarnation, resident] of this.#resident) {
      if (held + bytes <= this.#budgetBytes) return;
      if (incarnation === reading) continue;
      held -= resident.byteLength;
      this.#drop(incarnation);
    }
  }

  #drop(incarnation: string): void {
    this.#resident.get(incarnation)?.release();
    this.#resident.delete(incarnation);
  }

  #stream(
    view: ReadView,
    scan: { readonly life: Life; readonly store: StoreRow; readonly state: LifeState },
    visit: (block: Block) => void,
  ): BlockScan {
    const { life, store, state } = scan;
    const shape = { dimensions: store.dimensions, schema: store.properties };
    let block: Block | undefined;
    let damaged = 0;
    let checksum = 0;
    try {
      for (const found of rowsBehind(view, life, store, 0)) {
        checksum = (checksum ^ found.checksum) >>> 0;
        if (found.record === undefined) {
          damaged += 1;
          continue;
        }
        if (block?.isFull) {
          const full = block;
          block = undefined;
          this.#visit(full, visit);
        }
        block ??= new Block(this.#pool, state.records < RESIDENT_RECORDS_MIN ? "small" : "large", shape);
        block.append(found.record, found.checksum);
      }
    } catch (error) {
      block?.release(this.#pool);
      throw error;
    }
    if (block !== undefined) this.#visit(block, visit);
    return { damaged: Math.max(damaged, checksum === state.checksum ? 0 : 1) };
  }

  #visit(block: Block, visit: (block: Block) => void): void {
    try {
      block.seal();
      visit(block);
    } finally {
      block.release(this.#pool);
    }
  }
}

/** The one cache of a thread. */
export function partitionCache(settings: EngineSettings): PartitionCache {
  return new PartitionCache(settings);
}
