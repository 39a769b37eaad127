import { UsageError } from "./exit-codes.ts";
import type { Surroundings } from "./surroundings.ts";

/** Asks before something that cannot be undone; only "y" and "yes" are yes. Where nobody sits, `advice` says what to do. */
export async function confirm(question: string, { ask }: Surroundings, advice = "add --yes"): Promise<boolean> {
  if (ask === undefined) throw new UsageError(`Nobody can be asked here: ${advice}.`);
  return /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
}
