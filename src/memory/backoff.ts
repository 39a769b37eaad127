import { isHoldfastError } from "../errors/index.ts";

const FIRST_MS = 1_000;
const LAST_MS = 5 * 60_000;

/** A service may ask for a longer pause, within reason: no pause is longer. */
export const PAUSE_MS_MAX: number = 60 * 60_000;

const CAUSE_DEPTH = 4;

/**
 * How long to wait after some failures in a row: doubling, half of it by chance, so that processes that failed together
 * do not come back together.
 *
 * @param failures - from 1
 * @param fraction - random, in [0, 1)
 * @param hintMs - what the service asked for; waited out in full
 */
export function backoffMs(failures: number, fraction: number, hintMs = 0): number {
  const span = Math.min(LAST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return Math.max(Math.ceil(span * (0.5 + fraction / 2)), Math.min(hintMs, PAUSE_MS_MAX));
}

/** The pause that an error or one of its causes asks for, as `retryAfterMs` of it or of its details; 0 where none does. */
export function retryHintMs(error: unknown): number {
  let cause: unknown = error;
  for (let depth = 0; depth < CAUSE_DEPTH && typeof cause === "object" && cause !== null; depth += 1) {
    const { retryAfterMs, details, cause: inner } = cause as Readonly<Record<string, unknown>>;
    const hint = Number(retryAfterMs ?? (details as Readonly<Record<string, unknown>> | undefined)?.retryAfterMs);
    if (Number.isFinite(hint) && hint > 0) return hint;
    cause = inner;
  }
  // What will not get better by itself, such as a refused key, is asked for rarely.
  return isHoldfastError(error) && error.retry === "never" ? LAST_MS : 0;
}
