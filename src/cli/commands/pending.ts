import type { Command } from "commander";
import type { PendingEmbedding } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, toCount, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatMinute } from "../text/quantities.ts";
import { renderRows } from "../text/rows.ts";

interface PendingFlags extends CommonOptions {
  readonly session?: string;
  readonly parked?: true;
  readonly limit: number;
  readonly after?: string;
  readonly json?: true;
}

const COLUMNS = [
  { title: "EVENT" },
  { title: "SESSION" },
  { title: "STATE" },
  { title: "NEXT TRY (UTC)" },
  { title: "REASON" },
] as const;

const HELP = `
Until they have vectors they are found by their words. A waiting one is tried again by itself while the memory is open
somewhere; a parked one failed too often by itself, and is tried by "holdfast embed --include-parked" alone.

Examples:
  $ holdfast pending
  $ holdfast pending --parked --json | jq -r '.segments[].event'`;

/** `holdfast pending`: what is still without vectors, and why. */
export function addPending(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("pending")
    .summary("list what is still without vectors")
    .description("Lists the segments that the embedder failed on, and why.")
    .option("--session <id>", "only this session")
    .option("--parked", "only those that are not tried again by themselves")
    .option("--limit <count>", "segments of a page", toCount, 100)
    .option("--after <cursor>", "the next page, as the page before named it")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action((flags: PendingFlags) =>
    withTenant(surroundings, flags, "existing", async (memory) => {
      const { stdout, stderr, signal } = surroundings;
      const source = flags.session === undefined ? memory : await memory.session(flags.session);
      const page = await source.pendingEmbeddings({
        limit: flags.limit,
        signal,
        ...(flags.parked && { state: "parked" as const }),
        ...(flags.after !== undefined && { after: flags.after }),
      });
      if (flags.json) return stdout.write(toJsonLine(page));
      const rows = page.segments.map(toCells);
      await stdout.write(rows.length === 0 ? "Nothing is pending.\n" : renderRows({ columns: COLUMNS }, rows, stdout));
      if (page.next !== undefined) await stderr.write(`There are more: add --after ${page.next}\n`);
    }),
  );
}

function toCells({ event, session, state, nextAt, reason }: PendingEmbedding): readonly string[] {
  return [event, session, state, nextAt === undefined ? "" : formatMinute(nextAt), reason];
}
