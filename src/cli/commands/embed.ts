import type { Command } from "commander";
import type { EmbedPendingAnswer } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { formatCount } from "../text/quantities.ts";

interface EmbedFlags extends CommonOptions {
  readonly session?: string;
  readonly includeParked?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast embed
  $ holdfast embed --include-parked`;

/** `holdfast embed`: gives vectors to what was remembered while the embedder failed. */
export function addEmbed(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("embed")
    .summary("embed them now")
    .description("Embeds what was remembered while the embedder failed; until then it is found by its words alone.")
    .option("--session <id>", "only this session")
    .option("--include-parked", "try those again that failed too often by themselves")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((flags: EmbedFlags) =>
    withTenant(surroundings, flags, "existing", async (memory) => {
      const { stdout, stderr, signal } = surroundings;
      const source = flags.session === undefined ? memory : await memory.session(flags.session);
      const answer = await source.embedPending({
        signal,
        includeParked: flags.includeParked === true,
        onProgress: ({ embedded, total }) => {
          if (stderr.isTerminal) void stderr.write(`\r${formatCount(embedded)} of ${formatCount(total)}`);
        },
      });
      if (stderr.isTerminal) await stderr.write("\r\u001b[2K");
      await stdout.write(flags.json ? toJsonLine(answer) : renderAnswer(answer));
    }),
  );
}

function renderAnswer({ embedded, waiting, parked, reason }: EmbedPendingAnswer): string {
  const counts = `${formatCount(embedded)} embedded, ${formatCount(waiting)} waiting, ${formatCount(parked)} parked`;
  return `${counts}${reason === undefined ? "" : ` (${toPrintableLine(reason)})`}\n`;
}
