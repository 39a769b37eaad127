/** The one door to time; tests pass their own. */
export interface Clock {
  /** Microseconds since 1970-01-01T00:00:00Z, millisecond resolution. */
  nowMicros(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMicros: () => Date.now() * 1000,
  monotonicMs: () => performance.now(),
};

/** Calls `action` once after `delayMs` without keeping the process alive; answers a function that cancels it. */
export function schedule(delayMs: number, action: () => void): () => void {
  const timer = setTimeout(action, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Lets timers, I/O and other callers run: long work on the calling thread is cut into slices with it (E7). */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const parked = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread, for lock waits inside threads of our own. */
export function pauseThread(delayMs: number): void {
  Atomics.wait(parked, 0, 0, delayMs);
}
