import type { Command } from "commander";
import { HoldfastError } from "../../errors/index.ts";
import type { MemoryEvent } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import type { Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { propertyTexts } from "../text/event-lines.ts";
import { renderFields } from "../text/fields.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableText } from "../text/printable.ts";
import { wrapText } from "../text/width.ts";

interface GetFlags extends CommonOptions {
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast get m1
  $ holdfast get m1 --json | jq .properties`;

/** `holdfast get`: one event, whole. */
export function addGet(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("get")
    .summary("show one event with all its fields")
    .description("Shows what one event says now, with its session, times and properties.")
    .argument("<event>", "its id, as recall and list show it")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((id: string, flags: GetFlags) =>
    withTenant(surroundings, flags, "existing", async (memory) => {
      const { stdout, signal } = surroundings;
      const event = await memory.getEvent(id, { signal });
      if (event === undefined) {
        const message = `There is no event ${JSON.stringify(id)}; "holdfast list" shows which there are.`;
        throw new HoldfastError("NOT_FOUND", message, { details: { event: id } });
      }
      await stdout.write(flags.json ? toJsonLine(event) : renderWhole(event, stdout));
    }),
  );
}

function renderWhole(event: MemoryEvent, output: Output): string {
  const { session, user, at, producer, role, kind, revision, createdAt, updatedAt } = event;
  const fields: readonly (readonly [string, string | undefined])[] = [
    ["event", event.id],
    ["session", session],
    ["user", user],
    ["at", at],
    ["producer", producer],
    ["role", role],
    ["kind", kind],
    ["revision", String(revision)],
    ["created", createdAt],
    ["updated", updatedAt],
    ...propertyTexts(event.properties).map((text) => ["property", text] as const),
    ...(event.blocks ?? []).map((block) => ["block", blockText(block)] as const),
  ];
  const given = fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return `${renderFields(given, output)}\n${wrapText(toPrintableText(event.text), output.columns).join("\n")}\n`;
}

/** Its text stands in the event's. */
function blockText({ type = "text", data }: NonNullable<MemoryEvent["blocks"]>[number]): string {
  return data === undefined ? type : `${type} ${JSON.stringify(data)}`;
}
