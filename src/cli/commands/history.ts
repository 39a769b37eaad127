import type { Command } from "commander";
import type { EventRevision } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import { bold, type Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableText } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { wrapText } from "../text/width.ts";

interface HistoryFlags extends CommonOptions {
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast history m1
  $ holdfast history m1 --json | jq -r '.[].text'`;

/** `holdfast history`: what an event said over time. */
export function addHistory(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("history")
    .summary("show every revision of an event")
    .description("Shows what an event said, oldest revision first, the newest with them. With --json one array.")
    .argument("<event>", "its id, as recall shows it")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((event: string, flags: HistoryFlags) =>
    withTenant(surroundings, flags, "existing", async (memory) => {
      const { stdout, signal } = surroundings;
      const revisions = await memory.history(event, { signal });
      const text = revisions.map((revision) => renderRevision(revision, stdout)).join("");
      await stdout.write(flags.json ? toJsonLine(revisions) : text);
    }),
  );
}

function renderRevision({ revision, text, replacedAt }: EventRevision, output: Output): string {
  const until = replacedAt === undefined ? "now" : `until ${formatMinute(replacedAt)} UTC`;
  const lines = wrapText(toPrintableText(text), output.columns - 4).map((line) => `    ${line}`.trimEnd());
  return `${[`${bold(output, `Revision ${revision}`)}, ${until}`, ...lines].join("\n")}\n`;
}
