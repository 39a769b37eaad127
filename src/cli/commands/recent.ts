import type { Command } from "commander";
import type { RecentAnswer, RecentEvent } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, toCount, withCommonOptions, withJson } from "../options.ts";
import { bold, dim, type Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine, toPrintableText } from "../text/printable.ts";
import { formatMinute } from "../text/quantities.ts";
import { wrapText } from "../text/width.ts";

interface RecentFlags extends CommonOptions {
  readonly session: string;
  readonly limit: number;
  readonly maxCharacters?: number;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast recent --session support-42
  $ holdfast recent --session support-42 --json | jq -r '.events[].text'`;

/** `holdfast recent`: what was said last in a session. */
export function addRecent(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("recent")
    .summary("show what was said last in a session")
    .description(
      "Shows the newest events of a session, oldest first, under the summary of what was before, if one is kept.",
    )
    .requiredOption("--session <id>", "the session")
    .option("--limit <count>", "events at most", toCount, 20)
    .option("--max-characters <count>", "characters of their texts at most", toCount)
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((flags: RecentFlags) => recent(surroundings, flags));
}

async function recent(surroundings: Surroundings, flags: RecentFlags): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const { limit: maxEvents, maxCharacters } = flags;
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const session = await memory.session(flags.session);
    const answer = await session.recent({ maxEvents, signal, ...(maxCharacters !== undefined && { maxCharacters }) });
    if (answer.damaged > 0) await stderr.write(`note: ${answer.damaged} damaged events were left out.\n`);
    await stdout.write(flags.json ? toJsonLine(answer) : renderRecent(answer, stdout));
  });
}

function renderRecent({ events, summary }: RecentAnswer, output: Output): string {
  if (events.length === 0 && summary === undefined) return "Nothing was said in this session.\n";
  const before =
    summary === undefined
      ? []
      : wrapText(toPrintableText(`Before: ${summary.text}`), output.columns).map((line) => dim(output, line));
  return `${[...before, ...events.flatMap((event) => renderEvent(event, output))].join("\n")}\n`;
}

function renderEvent({ at, producer, role, text, id, truncated }: RecentEvent, output: Output): readonly string[] {
  const who = toPrintableLine(producer ?? role ?? "someone");
  const head = `${bold(output, who)}, ${formatMinute(at)} UTC ${dim(output, `· event ${toPrintableLine(id)}`)}`;
  const body = wrapText(toPrintableText(truncated ? `${text}…` : text), output.columns - 4);
  return [head, ...body.map((line) => `    ${line}`.trimEnd())];
}
