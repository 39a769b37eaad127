/** What the command line ends with. Stopped by a signal it ends as shells expect: 128 + the signal's number. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  /** `verify` found damage, or `repair` could not bring everything back. */
  damaged: 3,
} as const;

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

export type StopSignalName = keyof typeof SIGNAL_NUMBERS;

/** Why a command was stopped; the reason of its abort signal. */
export class StopSignal extends Error {
  readonly exitCode: number;

  constructor(name: StopSignalName) {
    super(`Stopped by ${name}.`);
    this.exitCode = 128 + SIGNAL_NUMBERS[name];
  }
}

/** What was typed cannot be meant: said like a wrong option, and ends with 2. */
export class UsageError extends Error {}

/** A command has said everything and ends with a code of its own. */
export class Ended extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`Ended with ${exitCode}.`);
    this.exitCode = exitCode;
  }
}
