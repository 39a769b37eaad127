import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * The longest time in which a timer of 1 ms did not run, by what was going on. On Linux the time in
 * which this thread was ready and got no processor is taken off: that is the machine's, not ours.
 */
export class StallWatch {
  #longest = new Map();
  #phase = "";
  #last = { atMs: 0, ranMs: 0, waitedMs: 0 };
  #timer;
  #histogram = monitorEventLoopDelay({ resolution: 1 });

  start() {
    this.#last = now();
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#tick(), 1);
  }

  /** Runs `action`; gaps until it has settled are counted under `name`. Answers its milliseconds. */
  async during(name, action) {
    this.#tick();
    this.#phase = name;
    this.#longest.set(name, { heldMs: 0, ranMs: 0, gapMs: 0 });
    const start = performance.now();
    await action();
    const took = performance.now() - start;
    // One more turn: what held this thread at the end is seen by the next tick.
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.#tick();
    this.#phase = "";
    return took;
  }

  stop() {
    clearInterval(this.#timer);
    this.#histogram.disable();
  }

  /** By phase: the longest hold, how much of it was computing, and the longest gap with the waits for a processor. */
  get longest() {
    return this.#longest;
  }

  /** What `monitorEventLoopDelay` saw over the whole run, in milliseconds. */
  get histogramMaxMs() {
    return this.#histogram.max / 1e6;
  }

  #tick() {
    const last = this.#last;
    this.#last = now();
    const gapMs = this.#last.atMs - last.atMs;
    const heldMs = Math.max(0, gapMs - (this.#last.waitedMs - last.waitedMs));
    const longest = this.#longest.get(this.#phase);
    if (longest === undefined) return;
    longest.gapMs = Math.max(longest.gapMs, gapMs);
    if (heldMs <= longest.heldMs) return;
    longest.heldMs = heldMs;
    longest.ranMs = this.#last.ranMs - last.ranMs;
  }
}

function now() {
  return { atMs: performance.now(), ...schedule() };
}

const SCHEDSTAT = process.platform === "linux" ? `/proc/self/task/${process.pid}/schedstat` : undefined;

/** Milliseconds since its start in which this thread ran, and in which it could have run and did not. */
function schedule() {
  if (SCHEDSTAT === undefined) return { ranMs: 0, waitedMs: 0 };
  const [ran, waited] = readFileSync(SCHEDSTAT, "utf8").split(" ");
  return { ranMs: Number(ran) / 1e6, waitedMs: Number(waited) / 1e6 };
}
