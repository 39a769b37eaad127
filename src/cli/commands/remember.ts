import type { Command } from "commander";
import type { EventInput } from "../../index.ts";
import { systemClock } from "../../io/clock.ts";
import { toEvent as assertEvent } from "../../memory/event-input.ts";
import { withTenant } from "../folder.ts";
import {
  addProperty,
  type CommonOptions,
  type KeyFlags,
  keyOption,
  PROPERTY_SYNTAX,
  type PropertyFlags,
  toTime,
  withCommonOptions,
  withIdempotencyKey,
  withJson,
} from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";

interface RememberFlags extends CommonOptions, KeyFlags {
  readonly session: string;
  readonly user?: string;
  readonly id?: string;
  readonly at?: string;
  readonly producer?: string;
  readonly role?: string;
  readonly kind?: string;
  readonly property?: PropertyFlags;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast remember "I moved to Lisbon." --session support-42 --user alice
  $ holdfast remember "The fair costs 4,000 euros." --session planning \\
      --property topic=money --property year:=2026`;

/** `holdfast remember`: keeps one event. */
export function addRemember(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("remember")
    .summary("remember one thing")
    .description("Keeps one event in a session, which is made when missing. It is on disk when the command returns.")
    .argument("<text...>", "what was said; several words need no quotes")
    .requiredOption("--session <id>", "the session that it belongs to")
    .option("--user <id>", "the user of the session")
    .option("--id <id>", "an id of its own, under which it may be sent again; random when absent")
    .option("--at <time>", "when it was said, such as 2026-05-01T12:00:00Z; now when absent", toTime)
    .option("--producer <name>", "who said it")
    .option("--role <role>", "for example user, assistant, tool")
    .option("--kind <kind>", "for example message, fact, task")
    .option("--property <key=value>", `a property of your own: ${PROPERTY_SYNTAX}`, addProperty)
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(withIdempotencyKey(command)), surroundings).action(
    (words: readonly string[], flags: RememberFlags) => remember(surroundings, words.join(" "), flags),
  );
}

async function remember(surroundings: Surroundings, text: string, flags: RememberFlags): Promise<void> {
  const { stdout, signal } = surroundings;
  const event = toEvent(text, flags);
  // Before anything is made: a refused event leaves no folder and no session behind.
  assertEvent(event, systemClock);
  await withTenant(surroundings, flags, "create", async (memory) => {
    const { session: id, user } = flags;
    const found = user === undefined ? await memory.getSession(id) : undefined;
    const session = found ?? (await memory.createSession(id, { signal, ...(user !== undefined && { user }) }));
    const receipt = await session.remember(event, { signal, ...keyOption(flags) });
    const verb = receipt.forgotten ? "Forgotten since:" : receipt.created ? "Remembered" : "Already there:";
    const later = receipt.embedded === "pending" ? " (not embedded yet: the embedder failed)" : "";
    await stdout.write(flags.json ? toJsonLine(receipt) : `${verb} ${toPrintableLine(receipt.id)}${later}\n`);
  });
}

function toEvent(text: string, flags: RememberFlags): EventInput {
  const { id, at, producer, role, kind, property: properties } = flags;
  return {
    text,
    ...(id !== undefined && { id }),
    ...(at !== undefined && { at }),
    ...(producer !== undefined && { producer }),
    ...(role !== undefined && { role }),
    ...(kind !== undefined && { kind }),
    ...(properties !== undefined && { properties }),
  };
}
