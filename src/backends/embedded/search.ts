import { compareUtf8 } from "../../contract/text.ts";
import type { EngineSettings, ReadView } from "../../database/operation.ts";
import { type BoundFilter, evaluateColumns } from "../../filter/index.ts";
import { type Life, requireLife } from "../../registry/lives.ts";
import type { Block } from "./block.ts";
import { CHUNK_BYTES } from "./kernel/chunk-pool.ts";
import { type PreparedQuery, prepareQuery, scoreRows, scoreSlots, selectRows } from "./kernel/kernel.ts";
import { TopK } from "./kernel/top-k.ts";
import { partitionCache } from "./partition-cache.ts";
import { requireStore } from "./records.ts";

/** Up to this share of a block's rows, scoring the admitted ones alone is faster than scoring all. */
const SLOTS_SHARE_MAX = 1 / 3;

/** Blocks of a streamed partition whose ids are held before those without a hit are let go. */
const VISITED_BLOCKS_MAX = 32;

export interface BlockSearch {
  /** Shape [count × dimensions]. */
  readonly vectors: Float32Array;
  readonly count: number;
  readonly limit: number;
  readonly minCosineSimilarity: number;
  /** Over the store's declared properties. */
  readonly filter?: BoundFilter | undefined;
  /** Admits these ids alone. */
  readonly allowed?: Pick<ReadonlySet<string>, "has">;
}

/** A row that a search found, before its record is fetched. */
export interface Hit {
  readonly row: number;
  readonly id: string;
  readonly cosineSimilarity: number;
}

export interface SearchAnswer {
  readonly hits: readonly Hit[];
  readonly damaged: number;
}

/**
 * The exact nearest admitted rows of each query vector: every row is scored or refused by the filter,
 * none is guessed (Q6, Q7). One pass over the partition serves all vectors.
 */
export function searchPartition(view: ReadView, life: Life, search: BlockSearch): readonly SearchAnswer[] {
  const state = requireLife(view.connection, life);
  const store = requireStore(view.connection, life);
  const scratch = view.resource(createScratch);
  const visited = new VisitedBlocks();
  const queries = queriesOf(search, store.dimensions).map((query) => ({
    query,
    best: new TopK(
      search.limit,
      (a, slotA, b, slotB) => compareUtf8(visited.id(a, slotA), visited.id(b, slotB)),
      search.minCosineSimilarity,
    ),
  }));
  const { damaged } = view.resource(partitionCache).forEachBlock(view, { life, store, state }, (block) => {
    const admitted = admittedRows(block, search, scratch);
    if (admitted.count === 0) return;
    const index = visited.add(block, queries);
    for (const { query, best } of queries) scoreBlock(block, index, { query, best }, { admitted, scratch });
  });
  return queries.map(({ best }) => ({
    hits: best.sorted().map(({ score, block, slot }) => ({
      row: visited.row(block, slot),
      id: visited.id(block, slot),
      cosineSimilarity: score,
    })),
    damaged,
  }));
}

interface RankedQuery {
  readonly query: PreparedQuery;
  readonly best: TopK;
}

interface Admitted {
  readonly count: number;
  /** Absent when every row of the block is admitted. */
  readonly mask: Uint8Array | undefined;
  /** Slots of the admitted rows, where they are few. */
  readonly slots: Uint32Array | undefined;
}

function scoreBlock(
  block: Block,
  index: number,
  { query, best }: RankedQuery,
  { admitted, scratch }: { readonly admitted: Admitted; readonly scratch: Scratch },
): void {
  const { mask, slots } = admitted;
  const rows = { block: index, dots: scratch.dots, norms: block.norms, queryNorm: query.norm };
  if (slots !== undefined) {
    scoreSlots(block.chunk, slots, query, scratch.dots);
    best.offerAll({ ...rows, count: slots.length, slots });
    return;
  }
  const alive = mask && { alive: mask };
  const winners = mayWin(block, { query, best }, scratch);
  if (winners !== undefined) {
    scoreSlots(block.chunk, winners, query, scratch.dots);
    best.offerAll({ ...rows, count: winners.length, slots: winners, ...alive });
    return;
  }
  scoreRows(block.chunk, block.count, query, scratch.dots);
  best.offerAll({ ...rows, count: block.count, ...alive });
}

/** The slots that may still be selected, where they are few; no estimate ever becomes a score (Q1). */
function mayWin(block: Block, { query, best }: RankedQuery, { slots }: Scratch): Uint32Array | undefined {
  const minCosine = best.floor;
  if (minCosine === Number.NEGATIVE_INFINITY) return undefined;
  const count = selectRows(block.chunk, query, { rows: block.count, minCosine, norms: block.norms }, slots);
  return count !== undefined && count <= block.count * SLOTS_SHARE_MAX ? slots.subarray(0, count) : undefined;
}

/** The filter acts here, on the columns of the block, before anything is scored (Q6, D4). */
function admittedRows(block: Block, { filter, allowed }: BlockSearch, scratch: Scratch): Admitted {
  const { count } = block;
  const { mask, slots } = scratch;
  if (filter === undefined && allowed === undefined && block.live === count)
    return { count, mask: undefined, slots: undefined };
  if (filter === undefined) mask.fill(1, 0, count);
  else evaluateColumns(filter, block.columns, { from: 0, to: count }, mask);
  refuseGone(block, mask);
  if (allowed !== undefined) refuseOthers(block, allowed, mask);
  const admitted = slotsOf(scratch, count);
  return {
    count: admitted,
    mask,
    slots: admitted <= count * SLOTS_SHARE_MAX ? slots.subarray(0, admitted) : undefined,
  };
}

function refuseGone({ alive, count, live }: Block, mask: Uint8Array): void {
  if (live === count) return;
  for (let slot = 0; slot < count; slot += 1) mask[slot] = (mask[slot] as number) & (alive[slot] as number);
}

function refuseOthers({ ids, count }: Block, allowed: Pick<ReadonlySet<string>, "has">, mask: Uint8Array): void {
  for (let slot = 0; slot < count; slot += 1) {
    if (mask[slot] === 1 && !allowed.has(ids[slot] ?? "")) mask[slot] = 0;
  }
}

/** Lists the admitted slots and answers how many; four rows that are all refused cost one look. */
function slotsOf({ mask, words, slots }: Scratch, count: number): number {
  let admitted = 0;
  for (let start = 0; start < count; start += 4) {
    if (words[start >> 2] === 0) continue;
    const end = Math.min(start + 4, count);
    for (let slot = start; slot < end; slot += 1) {
      slots[admitted] = slot;
      admitted += mask[slot] as number;
    }
  }
  return admitted;
}

function queriesOf({ vectors, count }: BlockSearch, dimensions: number): readonly PreparedQuery[] {
  return Array.from({ length: count }, (_, index) =>
    prepareQuery(vectors.subarray(index * dimensions, (index + 1) * dimensions)),
  );
}

/** Row ids and ids of blocks by the number that the selection knows them by; chunks may be gone by then. */
class VisitedBlocks {
  readonly #blocks = new Map<number, Pick<Block, "ids" | "rows">>();
  #next = 0;

  add(block: Block, queries: readonly RankedQuery[]): number {
    if (this.#blocks.size >= VISITED_BLOCKS_MAX && this.#next % VISITED_BLOCKS_MAX === 0) this.#prune(queries);
    this.#blocks.set(this.#next, { ids: block.ids, rows: block.rows });
    this.#next += 1;
    return this.#next - 1;
  }

  id(block: number, slot: number): string {
    return this.#blocks.get(block)?.ids[slot] ?? "";
  }

  row(block: number, slot: number): number {
    return this.#blocks.get(block)?.rows[slot] ?? 0;
  }

  /** Lets go of blocks that no selection refers to: a streamed partition may be larger than memory. */
  #prune(queries: readonly RankedQuery[]): void {
    const used = new Set(queries.flatMap(({ best }) => best.sorted().map(({ block }) => block)));
    for (const index of this.#blocks.keys()) if (!used.has(index)) this.#blocks.delete(index);
  }
}

/** Room for one block, made once a thread. */
interface Scratch {
  readonly dots: Float64Array;
  /** A byte a row, 1 or 0. */
  readonly mask: Uint8Array;
  /** The same bytes four at a time. */
  readonly words: Int32Array;
  readonly slots: Uint32Array;
}

/** Rows of a large chunk at one dimension: no block has more. */
const BLOCK_ROWS_MAX = CHUNK_BYTES.large / 4;

function createScratch(_settings: EngineSettings): Scratch {
  const mask = new Uint8Array(BLOCK_ROWS_MAX);
  return {
    dots: new Float64Array(BLOCK_ROWS_MAX),
    mask,
    words: new Int32Array(mask.buffer),
    slots: new Uint32Array(BLOCK_ROWS_MAX),
  };
}
