import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../exit-codes.ts";
import { withTenant } from "../folder.ts";
import {
  addProperty,
  type CommonOptions,
  type KeyFlags,
  keyOption,
  PROPERTY_SYNTAX,
  type PropertyFlags,
  toCount,
  withCommonOptions,
  withIdempotencyKey,
  withJson,
} from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";

interface UpdateFlags extends CommonOptions, KeyFlags {
  readonly property?: PropertyFlags;
  readonly removeProperty?: readonly string[];
  readonly expectedRevision?: number;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast update m1 "I moved to Porto in June."
  $ holdfast update m1 --property topic=home --remove-property draft
  $ holdfast update m1 "I moved to Porto in July." --expected-revision 2`;

/** `holdfast update`: writes a new revision of an event. */
export function addUpdate(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("update")
    .summary("change what an event says")
    .description("Writes a new revision of an event; what is not given stays, and the old one stays in its history.")
    .argument("<event>", "its id, as recall shows it")
    .argument("[text...]", "the new text; several words need no quotes")
    .option("--property <key=value>", `a property to set: ${PROPERTY_SYNTAX}`, addProperty)
    .option("--remove-property <key>", "a property to remove; may be repeated", addKey)
    .option("--expected-revision <count>", "refuse when another revision is the newest", toCount)
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(withIdempotencyKey(command)), surroundings).action(
    (event: string, words: readonly string[], flags: UpdateFlags) => update(surroundings, { event, words }, flags),
  );
}

async function update(
  surroundings: Surroundings,
  { event, words }: { readonly event: string; readonly words: readonly string[] },
  flags: UpdateFlags,
): Promise<void> {
  const { stdout, signal } = surroundings;
  const { property = {}, removeProperty = [], expectedRevision } = flags;
  const properties = { ...property, ...Object.fromEntries(removeProperty.map((key) => [key, null])) };
  const change = {
    ...(words.length > 0 && { text: words.join(" ") }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
  if (Object.keys(change).length === 0) throw new UsageError("Give a new text, --property or --remove-property.");
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const options = { signal, ...keyOption(flags), ...(expectedRevision !== undefined && { expectedRevision }) };
    const updated = await memory.updateEvent(event, change, options);
    const line = `${toPrintableLine(updated.id)} is at revision ${updated.revision}\n`;
    await stdout.write(flags.json ? toJsonLine(updated) : line);
  });
}

function addKey(key: string, before: readonly string[] = []): readonly string[] {
  if (key === "") throw new InvalidArgumentError("Give a key.");
  return [...before, key];
}
