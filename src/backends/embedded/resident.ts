import type { ReadView } from "../../database/operation.ts";
import type { Life, LifeState } from "../../registry/lives.ts";
import type { StoreRow } from "../../registry/stores.ts";
import { Block, type BlockShape } from "./block.ts";
import { CHUNK_BYTES, type ChunkPool } from "./kernel/chunk-pool.ts";
import { rowsBehind } from "./row-pages.ts";

/** A partition in memory. It is always a prefix of the partition's commits: brought up to date before each answer (D5, D6). */
export class ResidentPartition {
  readonly shape: BlockShape;
  readonly #pool: ChunkPool;
  readonly #blocks: Block[] = [];
  #position = -1;
  #lastRow = 0;
  #lastRemoval = 0;
  #checksum = 0;
  #unreadable = new Map<number, number>();
  #sumsDiffer = false;
  #dead = 0;

  constructor(pool: ChunkPool, shape: BlockShape) {
    this.#pool = pool;
    this.shape = shape;
  }

  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  get byteLength(): number {
    return this.#blocks.reduce((sum, block) => sum + block.byteLength, 0);
  }

  /** Rows that are in the tables and are not answered; at least one when the partition's sums do not hold (E11). */
  get damaged(): number {
    return Math.max(this.#unreadable.size, this.#sumsDiffer ? 1 : 0);
  }

  /** True when so much was removed that loading anew is cheaper than scanning around it. */
  get isSparse(): boolean {
    const slots = this.#blocks.reduce((sum, block) => sum + block.count, 0);
    return this.#dead > 1_000 && this.#dead * 2 > slots;
  }

  /** Applies what was committed since; answers `false` when that is no longer listed and it has to be loaded anew. */
  follow(view: ReadView, life: Life, store: StoreRow, state: LifeState): boolean {
    if (state.position === this.#position) return true;
    if (this.#position >= 0 && this.#lastRemoval < state.removalsFloor) return false;
    if (this.#position < 0) this.#lastRemoval = lastRemoval(view, life, store, state);
    else this.#applyRemovals(view, life, store);
    this.#applyRows(view, life, store);
    this.#position = state.position;
    this.#sumsDiffer = this.#checksum !== state.checksum;
    return true;
  }

  release(): void {
    for (const block of this.#blocks) block.release(this.#pool);
    this.#blocks.length = 0;
  }

  /** A row that came and went since the last call was never here, and its removal changes nothing. */
  #applyRemovals(view: ReadView, life: Life, store: StoreRow): void {
    const select = view.connection.prepare(
      `SELECT sequence, row FROM removals_${store.store} WHERE partition = ? AND sequence > ? ORDER BY sequence`,
    );
    for (const { sequence, row } of select.all(life.partition, this.#lastRemoval)) {
      this.#lastRemoval = Number(sequence);
      if (Number(row) <= this.#lastRow) this.#forget(Number(row));
    }
  }

  #forget(row: number): void {
    const checksum = this.#unreadable.get(row) ?? this.#blockOf(row)?.remove(row);
    if (checksum === undefined) return;
    if (!this.#unreadable.delete(row)) this.#dead += 1;
    this.#checksum = (this.#checksum ^ checksum) >>> 0;
  }

  #blockOf(row: number): Block | undefined {
    let found: Block | undefined;
    for (const block of this.#blocks) if ((block.rows[0] ?? Number.POSITIVE_INFINITY) <= row) found = block;
    return found;
  }

  #applyRows(view: ReadView, life: Life, store: StoreRow): void {
    for (const { row, checksum, record } of rowsBehind(view, life, store, this.#lastRow)) {
      this.#lastRow = row;
      this.#checksum = (this.#checksum ^ checksum) >>> 0;
      if (record === undefined) this.#unreadable.set(row, checksum);
      else this.#openBlock().append(record, checksum);
    }
    for (const block of this.#blocks.slice(-1)) block.seal();
  }

  /** The block that takes the next row. The first is small; the others are large, so that few are scanned. */
  #openBlock(): Block {
    const last = this.#blocks.at(-1);
    if (last !== undefined && !last.isFull) return last;
    last?.seal();
    const block = new Block(
      this.#pool,
      this.#blocks.length === 0 && fitsSmall(this.shape) ? "small" : "large",
      this.shape,
    );
    this.#blocks.push(block);
    return block;
  }
}

function fitsSmall(shape: BlockShape): boolean {
  return shape.dimensions * 4 * 16 <= CHUNK_BYTES.small;
}

/** What a partition that is loaded now has behind it: removals up to here are in what it reads. */
function lastRemoval(view: ReadView, life: Life, store: StoreRow, state: LifeState): number {
  const select = view.connection.prepare(
    `SELECT max(sequence) AS last FROM removals_${store.store} WHERE partition = ?`,
  );
  return Math.max(Number(select.get(life.partition)?.last ?? 0), state.removalsFloor);
}
