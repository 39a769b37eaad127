import type { MaintenanceProgress } from "../index.ts";
import type { Output } from "./output.ts";
import { formatCount } from "./text/quantities.ts";
import { fitLine } from "./text/width.ts";

const ERASE_LINE = "\r\u001b[2K";

/** A line on a terminal that says what long work is at; elsewhere nothing. */
export class StageLine {
  readonly #output: Output;
  #isDrawn = false;

  constructor(output: Output) {
    this.#output = output;
  }

  update({ stage, stagesDone, stages, rows }: MaintenanceProgress): void {
    if (!this.#output.isTerminal) return;
    this.#isDrawn = true;
    const line = `${Math.min(stagesDone + 1, stages)} of ${stages} · ${stage} · ${formatCount(rows)} rows`;
    void this.#output.write(ERASE_LINE + fitLine(line, this.#output.columns - 1));
  }

  clear(): void {
    if (this.#isDrawn) void this.#output.write(ERASE_LINE);
    this.#isDrawn = false;
  }
}
