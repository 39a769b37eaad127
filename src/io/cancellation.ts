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

/** One call's flag. */
export interface CancelFlag {
  /** Its place, or −1 when all are taken: such a call is cancelled on the caller's side alone. */
  readonly index: number;
  /** Does nothing once the flag is given back: it may be another call's by then. */
  raise(reason: CancelReason): void;
  giveBack(): void;
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

  /** Takes a flag for one call. */
  take(): CancelFlag {
    const index = this.#free.pop() ?? (this.#unused < this.#flags.length ? this.#unused++ : -1);
    if (index >= 0) Atomics.store(this.#flags, index, LIVE);
    let taken = index >= 0;
    return {
      index,
      raise: (reason) => {
        if (taken) Atomics.store(this.#flags, index, reason === "aborted" ? ABORTED : TIMED_OUT);
      },
      giveBack: () => {
        if (taken) this.#free.push(index);
        taken = false;
      },
    };
  }

  /** The view of one call on its flag; `outcome` is what its error says of a write. */
  watch(index: number, outcome: "none" | "not-applied"): Cancellation {
    if (index < 0) return neverCancelled;
    const flags = this.#flags;
    return {
      assertLive() {
        const state = Atomics.load(flags, index);
        if (state !== LIVE) throw cancelError(state === ABORTED ? "aborted" : "timeout", outcome);
      },
    };
  }
}
