import type { BackupProgress } from "../index.ts";
import type { Output } from "./output.ts";
import { formatBytes } from "./text/quantities.ts";
import { fitLine } from "./text/width.ts";

const ERASE_LINE = "\r\u001b[2K";

/** A line on a terminal that says how many bytes of how many are through; elsewhere nothing. */
export class PercentLine {
  readonly #output: Output;
  #isDrawn = false;

  constructor(output: Output) {
    this.#output = output;
  }

  update({ phase, done, total }: BackupProgress): void {
    if (!this.#output.isTerminal) return;
    this.#isDrawn = true;
    const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
    const line = `${phase} · ${percent} % of ${formatBytes(total)}`;
    void this.#output.write(ERASE_LINE + fitLine(line, this.#output.columns - 1));
  }

  clear(): void {
    if (this.#isDrawn) void this.#output.write(ERASE_LINE);
    this.#isDrawn = false;
  }
}
