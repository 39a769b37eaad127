import type { HoldfastError } from "../errors/index.ts";
import { cancelError } from "../io/cancellation.ts";

/** What a call answers whose signal was raised. Embedding writes nothing, so its outcome is `none`. */
export function abortError(signal: AbortSignal): HoldfastError {
  const reason: unknown = signal.reason;
  const timedOut = reason instanceof Error && reason.name === "TimeoutError";
  return cancelError(timedOut ? "timeout" : "aborted", "none");
}

export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError(signal);
}

/** Settles with `work`, or rejects as soon as the signal is raised; `work` itself may go on unheard. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(abortError(signal));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
