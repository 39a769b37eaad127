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

/** Waits, keeping the process alive, at most until the signal is raised. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}

/** Lets timers, I/O and other callers run: long work on the calling thread is cut into slices with it (E7). */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How long calls that answer without leaving their turn may follow one another. */
const TURN_MS_MAX = 5;

let gaveWayAtMs = 0;

/**
 * Lets others run when that is some time ago. Calls that are answered on the calling thread pass here:
 * a caller that polls with them in a loop would otherwise starve the very thing that it waits for.
 */
export async function giveWay(): Promise<void> {
  if (systemClock.monotonicMs() - gaveWayAtMs < TURN_MS_MAX) return;
  await yieldToEventLoop();
  gaveWayAtMs = systemClock.monotonicMs();
}

const parked = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread, for lock waits inside threads of our own. */
export function pauseThread(delayMs: number): void {
  Atomics.wait(parked, 0, 0, delayMs);
}
