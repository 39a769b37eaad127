import type { Cancellation } from "../io/cancellation.ts";
import { type Clock, pauseThread } from "../io/clock.ts";
import { randomFraction } from "../io/ids.ts";
import { isLockError } from "./errors.ts";

const JITTER_MIN_MS = 0.3;
const JITTER_SPAN_MS = 1.7;
/** Waits shorten with age, so that the oldest waiter asks most often: divided by 1 + age / 20 ms. */
const AGE_UNIT_MS = 20;

export interface LockBound {
  readonly clock: Clock;
  /** After this many milliseconds the lock error is raised (E4). */
  readonly lockTimeoutMs: number;
}

/**
 * Repeats `attempt` while a lock is not free, with short jittered waits on this thread. SQLite's own
 * busy handler backs off to 100 ms and starves one of two busy processes; ours shares fairly (E5).
 * Answers whether it had to wait.
 */
export function retryWhileLocked(bound: LockBound, cancellation: Cancellation, attempt: () => void): boolean {
  const startedMs = bound.clock.monotonicMs();
  for (let waited = false; ; waited = true) {
    try {
      attempt();
      return waited;
    } catch (error) {
      const ageMs = bound.clock.monotonicMs() - startedMs;
      if (!isLockError(error) || ageMs >= bound.lockTimeoutMs) throw error;
      cancellation.assertLive();
      pauseThread(jitterMs() / (1 + ageMs / AGE_UNIT_MS));
    }
  }
}

export function jitterMs(): number {
  return JITTER_MIN_MS + JITTER_SPAN_MS * randomFraction();
}

/**
 * Raises what `attempt` raises, without a stack trace. A lock that is not free is asked for thousands of times a
 * second, and the trace of an error that nobody reads costs three times what the question does: time that the
 * holder of the lock does not get.
 */
export function withoutStackTrace(attempt: () => void): void {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    attempt();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
