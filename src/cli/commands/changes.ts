import type { Command } from "commander";
import type { Change } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, toCount, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { renderRows } from "../text/rows.ts";

interface ChangesFlags extends CommonOptions {
  readonly session?: string;
  readonly after?: string;
  readonly limit: number;
  readonly json?: true;
}

const COLUMNS = [{ title: "AT (UTC)" }, { title: "CHANGE" }, { title: "SESSION" }, { title: "EVENT" }] as const;

const HELP = `
The newest 100,000 changes of a tenant are kept. Each is told once: keep the cursor, and go on behind it next time.

Examples:
  $ holdfast changes --limit 20
  $ holdfast changes --after "$CURSOR" --json | jq -r .cursor`;

/** `holdfast changes`: what was written, changed and forgotten. */
export function addChanges(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("changes")
    .summary("show what was written, changed and forgotten")
    .description("Shows what was written, changed and forgotten, in the order in which it was committed.")
    .option("--session <id>", "only this session")
    .option("--after <cursor>", "go on behind this cursor; from the oldest change when absent")
    .option("--limit <count>", "changes at most", toCount, 100)
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action((flags: ChangesFlags) => changes(surroundings, flags));
}

async function changes(surroundings: Surroundings, flags: ChangesFlags): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const { limit, after } = flags;
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const source = flags.session === undefined ? memory : await memory.session(flags.session);
    const page = await source.changes({ limit, signal, ...(after !== undefined && { after }) });
    if (flags.json) return stdout.write(toJsonLine(page));
    const rows = page.changes.map(toCells);
    await stdout.write(rows.length === 0 ? "Nothing changed.\n" : renderRows({ columns: COLUMNS }, rows, stdout));
    await stderr.write(`${page.more ? "There are more" : "To go on later"}: add --after ${page.cursor}\n`);
  });
}

function toCells({ at, kind, session, event, revision }: Change): readonly string[] {
  const what = event === undefined ? "" : `${event}${revision === undefined ? "" : ` (revision ${revision})`}`;
  return [at.slice(0, 19).replace("T", " "), kind, session, what];
}
