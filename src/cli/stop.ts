import { StopSignal, type StopSignalName } from "./exit-codes.ts";

const SIGNALS: readonly StopSignalName[] = ["SIGINT", "SIGTERM"];

/**
 * Answers a signal that aborts at the first SIGINT or SIGTERM (O5): calls in flight end, what was acknowledged is on
 * disk. The second ends the process at once.
 */
export function stopOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      const stop = new StopSignal(name);
      if (controller.signal.aborted) process.exit(stop.exitCode);
      controller.abort(stop);
    });
  }
  return controller.signal;
}
