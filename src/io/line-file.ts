import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";

/** A new file of lines that is its owner's alone. */
export class LineFile {
  readonly #descriptor: number;
  #pending: string[] = [];
  #pendingLength = 0;
  #isClosed = false;

  constructor(path: string) {
    this.#descriptor = openLines(path);
  }

  write(line: string): void {
    this.#pending.push(line);
    this.#pendingLength += line.length;
    if (this.#pendingLength > PENDING_MAX) this.#flush();
  }

  /** Idempotent; everything is on the disk when it returns. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#flush();
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
  }

  #flush(): void {
    writeSync(this.#descriptor, this.#pending.join(""));
    this.#pending = [];
    this.#pendingLength = 0;
  }
}

const PENDING_MAX = 256 * 1024;

function openLines(path: string): number {
  return openSync(path, "wx", 0o600);
}
