import { HoldfastError } from "../errors/index.ts";

/** Where a running operation looks whether its caller has gone (Q11): between chunks, stages and lock waits. */
export interface Cancellation {
  /** Raises ABORTED or TIMEOUT when the caller has cancelled. */
  assertLive(): void;
}

export const neverCancelled: Cancellation = { assertLive: () => undefined };

const LIVE = 0;
const ABORTED = 1;
const TIMED_OUT = 2;

export type CancelReason = "aborted" | "timeout";

/** The error that a cancelled call answers. */
export function cancelError(
  reason: CancelReason,
  outcome: "none" | "not-applied" | "applied" | "unknown",
): HoldfastError {
  const what = reason === "aborted" ? "The call was aborted by its signal" : "The call did not finish within timeoutMs";
  const tail = {
    none: ".",
    "not-applied": "; nothing was written.",
    applied: "; the write was applied.",
    unknown: "; whether the write was applied is not known: read it back before repeating it.",
  }[outcome];
  return new HoldfastError(reason === "aborted" ? "ABORTED" : "TIMEOUT", what + tail, { outcome });
}

/**
 * Flags in shared memory, one a call: a synchronous worker cannot receive a message while it runs,
 * but it can read a flag.
 */
export class CancelFlags {
  readonly buffer: SharedArrayBuffer;
  readonly #flags: Int32Array;
  readonly #free: number[] = [];
  #unused = 0;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4 * 4096)) {
    this.buffer = buffer;
    this.#flags = new Int32Array(buffer);
  }

  /** Answers a flag, or −1 when all are taken: such a call is cancelled on the caller's side alone. */
  take(): number {
    const flag = this.#free.pop() ?? (this.#unused < this.#flags.length ? this.#unused++ : -1);
    if (flag >= 0) Atomics.store(this.#flags, flag, LIVE);
    return flag;
  }

  give(flag: number): void {
    if (flag >= 0) this.#free.push(flag);
  }

  raise(flag: number, reason: CancelReason): void {
    if (flag >= 0) Atomics.store(this.#flags, flag, reason === "aborted" ? ABORTED : TIMED_OUT);
  }

  /** The view of one call on its flag; `outcome` is what its error says of a write. */
  watch(flag: number, outcome: "none" | "not-applied"): Cancellation {
    if (flag < 0) return neverCancelled;
    const flags = this.#flags;
    return {
      assertLive() {
        const state = Atomics.load(flags, flag);
        if (state !== LIVE) throw cancelError(state === ABORTED ? "aborted" : "timeout", outcome);
      },
    };
  }
}
