import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/**
 * A database file read page by page, past SQLite. Its one descriptor stays open until `close`: closing any descriptor of
 * a file drops SQLite's locks on it, so whoever holds one closes this behind it.
 */
export class PageFile {
  readonly pageBytes: number;
  readonly #descriptor: number;
  readonly #page: Buffer;
  #held = 0;

  constructor(path: string, pageBytes: number) {
    this.pageBytes = pageBytes;
    this.#descriptor = openPages(path);
    this.#page = Buffer.alloc(pageBytes);
  }

  /** Pages that are there now, a last one that is cut off among them. */
  countPages(): number {
    return Math.ceil(fstatSync(this.#descriptor).size / this.pageBytes);
  }

  /** Page `number`, from 1; what lies beyond the end of the file is zero. Valid until the next call. */
  read(number: number): Buffer {
    if (number !== this.#held) this.#fill(this.#page, number);
    this.#held = number;
    return this.#page;
  }

  /** The same as bytes of the caller's own. */
  copy(number: number): Buffer {
    const page = Buffer.alloc(this.pageBytes);
    this.#fill(page, number);
    return page;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #fill(page: Buffer, number: number): void {
    const count = readSync(this.#descriptor, page, 0, this.pageBytes, (number - 1) * this.pageBytes);
    page.fill(0, count);
  }
}

function openPages(path: string): number {
  return openSync(path, "r");
}
