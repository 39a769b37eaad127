import type { SqlValue } from "../database/connection.ts";
import type { PageFile } from "../io/page-file.ts";
import { DamagedBytes, readRecord, readSize, readVarint } from "./record-format.ts";

/** The first byte of a page of a tree. */
const INDEX_INTERIOR = 0x02;
const TABLE_INTERIOR = 0x05;
const INDEX_LEAF = 0x0a;
const TABLE_LEAF = 0x0d;

/** What the map of pages says of one: the root of a tree, or another page of one. */
const MAPPED_ROOT = 1;
const MAPPED_TREE = 5;

/** SQLite leaves the page at this byte for locks. */
const LOCK_BYTE = 0x40000000;

export interface ReadRow {
  /** The row's number; `undefined` for rows of an index or of a table that has none. */
  readonly rowid: bigint | undefined;
  readonly values: readonly SqlValue[];
  readonly page: number;
}

/** A place where rows may have been that cannot be read. */
export interface DamagedPlace {
  readonly page: number;
  /** The row whose cell is damaged, where its number can still be read. */
  readonly rowid?: bigint | undefined;
  readonly reason: string;
}

export type TreeItem = { readonly row: ReadRow } | { readonly damage: DamagedPlace };

/**
 * Reads the rows of trees straight from the pages. A damaged page costs the rows on it alone: pages that its tree does not
 * lead to any more are found by the map that an incremental-vacuum database keeps of who each page belongs to.
 */
export class TreeReader {
  readonly #file: PageFile;
  readonly #usable: number;
  readonly #pages: number;
  readonly #seen: Uint8Array;
  /** Pages of trees by their root, of those that are not reached from it; made at first need. */
  #strays: ReadonlyMap<number, readonly number[]> | undefined;

  constructor(file: PageFile) {
    this.#file = file;
    this.#usable = file.pageBytes;
    this.#pages = file.countPages();
    this.#seen = new Uint8Array(this.#pages + 1);
  }

  /** Every row of the tree that can be read, and every place where one cannot. */
  *rows(root: number): Generator<TreeItem> {
    let isBroken = false;
    for (const item of this.#walk(root)) {
      if ("damage" in item) isBroken = true;
      yield item;
    }
    if (!isBroken) return;
    this.#strays ??= this.#findStrays();
    for (const page of this.#strays.get(root) ?? []) if (this.#seen[page] === 0) yield* this.#walk(page);
  }

  *#walk(from: number): Generator<TreeItem> {
    const pending = [from];
    for (let page = pending.pop(); page !== undefined; page = pending.pop()) {
      if (page < 1 || page > this.#pages || this.#seen[page] === 1) {
        yield { damage: { page, reason: "a page is named that is not there, or twice" } };
        continue;
      }
      this.#seen[page] = 1;
      const node = this.#node(page);
      if (node === undefined) {
        yield { damage: { page, reason: "the page is no page of a table" } };
        continue;
      }
      // Last in, first out: the leftmost child is read first, and rows come in the order of the tree.
      pending.push(...this.#children(node).reverse());
      yield* this.#cells(node);
    }
  }

  #node(page: number): Node | undefined {
    const bytes = this.#file.copy(page);
    const start = page === 1 ? 100 : 0;
    const type = bytes[start] ?? 0;
    const isInterior = type === INDEX_INTERIOR || type === TABLE_INTERIOR;
    if (!isInterior && type !== INDEX_LEAF && type !== TABLE_LEAF) return undefined;
    const count = bytes.readUInt16BE(start + 3);
    const pointers = start + (isInterior ? 12 : 8);
    if (pointers + count * 2 > this.#usable) return undefined;
    const cells = Array.from({ length: count }, (_, index) => bytes.readUInt16BE(pointers + index * 2));
    return { page, bytes, type, cells, last: isInterior ? bytes.readUInt32BE(start + 8) : undefined };
  }

  #children({ bytes, cells, last }: Node): number[] {
    if (last === undefined) return [];
    const children = cells.map((cell) => (cell + 4 <= this.#usable ? bytes.readUInt32BE(cell) : 0));
    return [...children, last];
  }

  *#cells(node: Node): Generator<TreeItem> {
    // Interior pages of tables hold keys alone.
    if (node.type === TABLE_INTERIOR) return;
    for (const cell of node.cells) {
      let rowid: bigint | undefined;
      try {
        let at = node.type === INDEX_INTERIOR ? cell + 4 : cell;
        const size = readSize(node.bytes, at, this.#pages * this.#usable);
        at = size.end;
        if (node.type === TABLE_LEAF) {
          const key = readVarint(node.bytes, at);
          [rowid, at] = [key.value, key.end];
        }
        const payload = this.#payload(node, at, size.value);
        yield { row: { rowid, values: readRecord(payload), page: node.page } };
      } catch (error) {
        if (!(error instanceof DamagedBytes)) throw error;
        yield { damage: { page: node.page, rowid, reason: error.message } };
      }
    }
  }

  /** A record's bytes: on its page, and what does not fit there on a chain of others. */
  #payload(node: Node, at: number, size: number): Buffer {
    const local = localBytes(size, this.#usable, node.type === TABLE_LEAF);
    if (at + local + (local < size ? 4 : 0) > this.#usable) throw new DamagedBytes("a record reaches beyond its page");
    if (local === size) return node.bytes.subarray(at, at + local);
    const payload = Buffer.alloc(size);
    node.bytes.copy(payload, 0, at, at + local);
    let filled = local;
    for (let next = node.bytes.readUInt32BE(at + local); filled < size; ) {
      if (next < 2 || next > this.#pages) throw new DamagedBytes("the rest of a record is not there");
      const page = this.#file.read(next);
      const length = Math.min(size - filled, this.#usable - 4);
      page.copy(payload, filled, 4, 4 + length);
      filled += length;
      next = page.readUInt32BE(0);
    }
    return payload;
  }

  #findStrays(): ReadonlyMap<number, readonly number[]> {
    const strays = new Map<number, number[]>();
    for (let page = 3; page <= this.#pages; page += 1) {
      if (this.#seen[page] === 1 || this.#mapped(page)?.kind !== MAPPED_TREE) continue;
      const root = this.#rootOf(page);
      if (root === undefined) continue;
      const pages = strays.get(root) ?? [];
      pages.push(page);
      strays.set(root, pages);
    }
    return strays;
  }

  /** Follows the map upwards; a tree is at most some levels deep. */
  #rootOf(page: number): number | undefined {
    let at = page;
    for (let level = 0; level < TREE_DEPTH_MAX; level += 1) {
      const mapped = this.#mapped(at);
      if (mapped?.kind === MAPPED_ROOT) return at;
      if (mapped?.kind !== MAPPED_TREE) return undefined;
      if (mapped.parent === 1) return 1;
      at = mapped.parent;
    }
    return undefined;
  }

  #mapped(page: number): { readonly kind: number; readonly parent: number } | undefined {
    const lockPage = Math.floor(LOCK_BYTE / this.#file.pageBytes) + 1;
    const perMap = Math.floor(this.#usable / 5) + 1;
    if (page < 3 || page > this.#pages) return undefined;
    let map = Math.floor((page - 2) / perMap) * perMap + 2;
    if (map === lockPage) map += 1;
    if (page === map || page === lockPage) return undefined;
    const bytes = this.#file.read(map);
    const at = 5 * (page - map - 1);
    if (at < 0 || at + 5 > this.#usable) return undefined;
    return { kind: bytes[at] ?? 0, parent: bytes.readUInt32BE(at + 1) };
  }
}

const TREE_DEPTH_MAX = 20;

interface Node {
  readonly page: number;
  readonly bytes: Buffer;
  readonly type: number;
  /** Where each cell begins. */
  readonly cells: readonly number[];
  /** The rightmost child of an interior page. */
  readonly last: number | undefined;
}

/** How many of a record's bytes stand on its own page. */
function localBytes(size: number, usable: number, isTableLeaf: boolean): number {
  const max = isTableLeaf ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (size <= max) return size;
  const min = Math.floor(((usable - 12) * 32) / 255) - 23;
  const local = min + ((size - min) % (usable - 4));
  return local <= max ? local : min;
}
