import { HoldfastError, isHoldfastError } from "../errors/index.ts";
import { type CancelReason, cancelError } from "../io/cancellation.ts";
import { schedule } from "../io/clock.ts";
import { anySignal } from "../io/signals.ts";
import type { RunningCall } from "./engine.ts";

/** The caller's bounds of one call (Q11). */
export interface CallBounds {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** How long a cancelled write is waited for, to learn whether it was applied, before its outcome is `unknown`. */
const CANCEL_GRACE_MS = 500;

/** The longest delay of a timer (2^31 − 1 ms). */
const TIMEOUT_MAX_MS = 2_147_483_647;

/** The caller's bounds as one signal: for calls of several stages, whose time counts from the first one. */
export function withDeadline(bounds: CallBounds, kind: "read" | "write"): CallBounds {
  assertBounds(bounds, kind);
  const { signal, timeoutMs } = bounds;
  if (timeoutMs === undefined) return signal === undefined ? {} : { signal };
  const deadline = AbortSignal.timeout(Math.ceil(timeoutMs));
  return { signal: signal === undefined ? deadline : anySignal([signal, deadline]) };
}

function reasonOf(signal: AbortSignal): CancelReason {
  return (signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError" ? "timeout" : "aborted";
}

/** A write whose stages before its commit, such as embedding, know nothing of writing: ended there, it was not applied (Q11). */
export async function beforeCommit<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (isHoldfastError(error) && error.group === "abort" && error.outcome === "none")
      throw cancelError(error.code === "TIMEOUT" ? "timeout" : "aborted", "not-applied");
    throw error;
  }
}

/**
 * What stands behind the commit of a call, such as waiting until erased bytes have left the files: however it ends,
 * the call was applied, and its error says so (Q11).
 */
export async function behindCommit<T>(rest: Promise<T>): Promise<T> {
  try {
    return await rest;
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    if (error.group === "abort") throw cancelError(error.code === "TIMEOUT" ? "timeout" : "aborted", "applied");
    const { code, message, details, retry, cause } = error;
    const outcome = "applied";
    throw new HoldfastError(code, message, { details, retry, outcome, ...(cause !== undefined && { cause }) });
  }
}

/** What follows earlier commits of the same call: when it fails, the call was applied in part, which is no "not-applied". */
export async function behindPart<T>(rest: Promise<T>): Promise<T> {
  try {
    return await rest;
  } catch (error) {
    if (!isHoldfastError(error) || error.outcome === "unknown") throw error;
    const { code, message, details, retry, cause } = error;
    const outcome = "unknown";
    throw new HoldfastError(code, message, { details, retry, outcome, ...(cause !== undefined && { cause }) });
  }
}

/** Refuses bounds that cannot be kept, and calls whose signal has fired already. */
export function assertBounds(bounds: CallBounds, kind: "read" | "write"): void {
  const { signal, timeoutMs } = bounds;
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= TIMEOUT_MAX_MS)) {
    throw new HoldfastError(
      "INVALID_ARGUMENT",
      `timeoutMs is a number of milliseconds above 0 and at most ${TIMEOUT_MAX_MS}.`,
    );
  }
  if (signal !== undefined && !isAbortSignal(signal))
    throw new HoldfastError("INVALID_ARGUMENT", "signal is an AbortSignal, such as that of an AbortController.");
  if (signal?.aborted === true) throw cancelError(reasonOf(signal), kind === "write" ? "not-applied" : "none");
}

/** By tag rather than `instanceof`: a test runner's realm has classes of its own. */
function isAbortSignal(signal: unknown): boolean {
  return Object.prototype.toString.call(signal) === "[object AbortSignal]";
}

/**
 * Waits for a call within the caller's bounds. A read that is cancelled answers at once. A write that
 * is cancelled says whether it was applied: its thread sees the flag before it begins, so the answer
 * is awaited for a short while.
 */
export function within(call: RunningCall, bounds: CallBounds, kind: "read" | "write"): Promise<unknown> {
  const { signal, timeoutMs } = bounds;
  if (signal === undefined && timeoutMs === undefined) return call.answer;
  return new Promise((resolve, reject) => {
    let reason: CancelReason | undefined;
    let stopGrace: (() => void) | undefined;
    const cancel = (why: CancelReason): void => {
      if (reason !== undefined) return;
      reason = why;
      call.cancel(why);
      if (kind === "read") finish(() => reject(cancelError(why, "none")));
      else stopGrace = schedule(CANCEL_GRACE_MS, () => finish(() => reject(cancelError(why, "unknown"))));
    };
    const onAbort = (): void => cancel(signal === undefined ? "aborted" : reasonOf(signal));
    const stopTimer = timeoutMs === undefined ? undefined : schedule(timeoutMs, () => cancel("timeout"));
    const finish = (settle: () => void): void => {
      signal?.removeEventListener("abort", onAbort);
      stopTimer?.();
      stopGrace?.();
      settle();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    call.answer.then(
      (value) => finish(() => (reason === undefined ? resolve(value) : reject(cancelError(reason, "applied")))),
      (error) => finish(() => reject(error)),
    );
  });
}
