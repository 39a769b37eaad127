import { CommanderError } from "commander";
import { isHoldfastError } from "../errors/index.ts";
import { Ended, EXIT, StopSignal, UsageError } from "./exit-codes.ts";
import type { Surroundings } from "./surroundings.ts";
import { toPrintableLine, toPrintableText } from "./text/printable.ts";

export const USAGE_HINT = "Add --help to see how it is used.";

/** Says on standard error what went wrong and answers the exit code; a stack only with `--debug`. */
export async function reportFailure(error: unknown, { stderr, signal }: Surroundings, debug: boolean): Promise<number> {
  // Commander has written its message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Ended) return error.exitCode;
  if (signal.aborted && signal.reason instanceof StopSignal) {
    await stderr.write(`${signal.reason.message}\n`);
    return signal.reason.exitCode;
  }
  if (error instanceof UsageError) {
    await stderr.write(`error: ${error.message}\n${USAGE_HINT}\n`);
    return EXIT.usage;
  }
  await stderr.write(`error: ${describeFailure(error)}\n`);
  if (debug) await stderr.write(`${toPrintableText(stacksOf(error))}\n`);
  return EXIT.error;
}

/** `CODE: message`; an error that is not ours is named by its own code or class. */
export function describeFailure(error: unknown): string {
  if (isHoldfastError(error)) return toPrintableLine(`${error.code}: ${error.message}`);
  if (!(error instanceof Error)) return toPrintableLine(String(error));
  const name = (error as NodeJS.ErrnoException).code ?? error.name;
  return toPrintableLine(`${name}: ${error.message} (run with --debug for the stack)`);
}

function stacksOf(error: unknown): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) stacks.push(at.stack ?? at.message);
  return stacks.join("\ncaused by: ");
}
