import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "./child.ts";

const SOURCE = fileURLToPath(new URL("faulty-disk.c", import.meta.url));
const PAGE_BYTES = 4_096;

/** What a child is told to let fail (`children/faulty-disk.js`). */
export interface Fault {
  readonly kind: "writes" | "syncs" | "reads";
  /** The first call that fails, counted from 1. */
  readonly at: number;
  readonly error: "ENOSPC" | "EDQUOT" | "EIO" | "EROFS";
  /** Every later one fails too. */
  readonly lasting?: boolean;
  /** A sync that fails drops what was written since the last one. */
  readonly lossy?: boolean;
}

/** Calls that reached the disk, and how many of them failed. */
export interface DiskCalls {
  readonly writes: number;
  readonly syncs: number;
  readonly reads: number;
  readonly failed: number;
}

/** Processes whose calls to the disk fail on demand. Linux, with a C compiler. */
export class FaultyDisk {
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-faults-"));
  readonly #library = join(this.#folder, "faulty-disk.so");
  readonly #children: Child[] = [];
  #last = 0;

  constructor() {
    execFileSync("cc", ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", this.#library, SOURCE, "-ldl"]);
  }

  /** Starts a program of `children` on a disk of its own faults. */
  async start(program: string, ...args: readonly string[]): Promise<Child> {
    const page = join(this.#folder, `faults-${this.#next()}`);
    writeFileSync(page, new Uint8Array(PAGE_BYTES));
    const child = await Child.startWith({ LD_PRELOAD: this.#library, HOLDFAST_FAULTS: page }, program, ...args);
    this.#children.push(child);
    return child;
  }

  /** A folder for one import, whose path no other begins with. */
  folder(): string {
    const folder = join(this.#folder, `import-${this.#next()}-of-many`);
    mkdirSync(folder);
    return folder;
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }

  async remove(): Promise<void> {
    for (const child of this.#children) await child.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
