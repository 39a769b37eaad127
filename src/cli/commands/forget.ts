import type { Command } from "commander";
import type { ForgetReceipt, ForgetSelection, Tenant } from "../../index.ts";
import { confirm } from "../confirm.ts";
import { UsageError } from "../exit-codes.ts";
import { withTenant } from "../folder.ts";
import {
  type CommonOptions,
  type KeyFlags,
  keyOption,
  toFilter,
  withCommonOptions,
  withIdempotencyKey,
  withJson,
} from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { countOf, formatCount } from "../text/quantities.ts";

interface ForgetFlags extends CommonOptions, KeyFlags {
  readonly session?: string;
  readonly user?: string;
  readonly where?: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly erase?: true;
  readonly json?: true;
}

const HELP = `
Several of --session, --user and --where narrow. What they select is counted first, and you are asked; where nobody can
be asked, --yes is needed. Events named by their ids are forgotten without a question.

Examples:
  $ holdfast forget 9f1c2f52-4a7e-4f0e-9d53-0c8a6f3f1b2a
  $ holdfast forget old-1 old-2 --erase
  $ holdfast forget --user alice --dry-run
  $ holdfast forget --session support-42 --where "kind = 'draft'" --yes`;

/** `holdfast forget`: removes events by id, or those that a selection admits. */
export function addForget(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("forget")
    .summary("forget events")
    .description("Removes events with their texts, words, vectors and history. Unknown ids are no error.")
    .argument("[event...]", "ids of events, as recall shows them")
    .option("--session <id>", "the events of this session")
    .option("--user <id>", "the events of this user's sessions")
    .option("--where <filter>", "the events that a filter admits", toFilter)
    .option("--dry-run", "say how many it would be and change nothing")
    .option("--yes", "do not ask")
    .option("--erase", "return only when their bytes have left the files")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(withIdempotencyKey(command)), surroundings).action(
    (events: readonly string[], flags: ForgetFlags) =>
      withTenant(surroundings, flags, "existing", (memory) => forget(memory, surroundings, { events, flags })),
  );
}

interface Request {
  readonly events: readonly string[];
  readonly flags: ForgetFlags;
}

async function forget(memory: Tenant, surroundings: Surroundings, { events, flags }: Request): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const selection = toSelection(events, flags);
  if (flags.dryRun) {
    const receipt = await memory.forget(selection, { signal, dryRun: true });
    return stdout.write(flags.json ? toJsonLine(receipt) : `Would be forgotten: ${formatCount(receipt.forgotten)}\n`);
  }
  if (events.length === 0 && !flags.yes && !(await isMeant(memory, selection, surroundings))) {
    await stderr.write("Nothing was forgotten.\n");
    return;
  }
  const receipt = await memory.forget(selection, { signal, ...keyOption(flags), ...(flags.erase && { erase: true }) });
  await stdout.write(flags.json ? toJsonLine(receipt) : `Forgotten: ${formatCount(receipt.forgotten)}\n`);
  if (isPending(receipt))
    await stderr.write("note: the bytes are not out of the files yet; another process holds them.\n");
}

function toSelection(events: readonly string[], { session, user, where }: ForgetFlags): ForgetSelection {
  if (where?.trim() === "") throw new UsageError("The filter is empty: give one that narrows, or leave --where out.");
  const selection = {
    ...(events.length > 0 && { events }),
    ...(session !== undefined && { session }),
    ...(user !== undefined && { user }),
    ...(where !== undefined && { where }),
  };
  if (Object.keys(selection).length > 0) return selection;
  throw new UsageError("Say what to forget: ids of events, --session, --user or --where.");
}

async function isMeant(memory: Tenant, selection: ForgetSelection, surroundings: Surroundings): Promise<boolean> {
  const { forgotten } = await memory.forget(selection, { signal: surroundings.signal, dryRun: true });
  const question = `Forget ${countOf(forgotten, "event")}?`;
  return forgotten === 0 || confirm(question, surroundings, "look with --dry-run, then add --yes");
}

function isPending({ erasure }: ForgetReceipt): boolean {
  return erasure === "pending";
}
