import { monitorEventLoopDelay } from "node:perf_hooks";

/** The longest time in which a timer of 1 ms did not run, by what was going on. */
export class StallWatch {
  #longest = new Map();
  #phase = "";
  #last = 0;
  #timer;
  #histogram = monitorEventLoopDelay({ resolution: 1 });

  start() {
    this.#last = performance.now();
    this.#histogram.enable();
    this.#timer = setInterval(() => this.#tick(), 1);
  }

  /** Runs `action`; gaps until it has settled are counted under `name`. Answers its milliseconds. */
  async during(name, action) {
    this.#tick();
    this.#phase = name;
    this.#longest.set(name, 0);
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

  get longest() {
    return this.#longest;
  }

  /** What `monitorEventLoopDelay` saw over the whole run, in milliseconds. */
  get histogramMaxMs() {
    return this.#histogram.max / 1e6;
  }

  #tick() {
    const now = performance.now();
    const gap = now - this.#last;
    this.#last = now;
    if (gap > (this.#longest.get(this.#phase) ?? Number.POSITIVE_INFINITY)) this.#longest.set(this.#phase, gap);
  }
}
