import type { Output } from "../output.ts";
import { countOf, formatBytes, formatCount, formatDuration } from "../text/quantities.ts";
import { fitLine } from "../text/width.ts";

export interface ProgressState {
  readonly events: number;
  /** Bytes of the input whose events are remembered. */
  readonly bytes: number;
  /** Absent for a stream. */
  readonly totalBytes?: number;
}

interface Sample extends ProgressState {
  readonly atMs: number;
}

const DRAW_INTERVAL_MS = 100;
/** A rate over the last seconds follows a resumed import, which starts with thousands of known events a second. */
const RATE_WINDOW_MS = 10_000;
const BAR_COLUMNS = 24;
const ERASE_LINE = "\r\u001b[2K";

/** A line on a terminal that is drawn over: how much is done, how fast, how long it will take. Elsewhere nothing. */
export class Progress {
  readonly #output: Output;
  readonly #nowMs: () => number;
  #samples: readonly Sample[] = [];
  #drawnAtMs = Number.NEGATIVE_INFINITY;
  #isDrawn = false;

  constructor(output: Output, nowMs: () => number) {
    this.#output = output;
    this.#nowMs = nowMs;
  }

  update(state: ProgressState): void {
    if (!this.#output.isTerminal) return;
    const atMs = this.#nowMs();
    const recent = this.#samples.filter((sample) => atMs - sample.atMs <= RATE_WINDOW_MS);
    this.#samples = [...recent, { ...state, atMs }];
    if (atMs - this.#drawnAtMs < DRAW_INTERVAL_MS) return;
    this.#drawnAtMs = atMs;
    this.#isDrawn = true;
    const line = progressLine(state, rateOf(this.#samples));
    void this.#output.write(ERASE_LINE + fitLine(line, this.#output.columns - 1));
  }

  /** Takes the line away, so that something else can be written. */
  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#drawnAtMs = Number.NEGATIVE_INFINITY;
    void this.#output.write(ERASE_LINE);
  }
}

export interface Rate {
  readonly eventsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** `undefined` until two moments can be compared. */
export function rateOf(samples: readonly Sample[]): Rate | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.atMs === first.atMs) return undefined;
  const seconds = (last.atMs - first.atMs) / 1000;
  return {
    eventsPerSecond: (last.events - first.events) / seconds,
    bytesPerSecond: (last.bytes - first.bytes) / seconds,
  };
}

export function progressLine(state: ProgressState, rate: Rate | undefined): string {
  const { events, bytes, totalBytes } = state;
  const speed = rate === undefined ? "" : ` · ${formatRate(rate.eventsPerSecond)}`;
  if (totalBytes === undefined || totalBytes === 0) {
    return `${countOf(events, "event")}${speed} · ${formatBytes(bytes)}`;
  }
  const fraction = Math.min(1, bytes / totalBytes);
  const filled = Math.round(fraction * BAR_COLUMNS);
  const bar = "█".repeat(filled) + "░".repeat(BAR_COLUMNS - filled);
  const left =
    rate === undefined || rate.bytesPerSecond <= 0
      ? ""
      : ` · ${formatDuration(((totalBytes - bytes) / rate.bytesPerSecond) * 1000)} left`;
  return `${bar} ${Math.floor(fraction * 100)} % · ${countOf(events, "event")}${speed}${left}`;
}

export function formatRate(perSecond: number): string {
  return `${perSecond < 100 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond))}/s`;
}
