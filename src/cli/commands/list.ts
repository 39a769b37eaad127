import type { Command } from "commander";
import type { ListOptions } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, toCount, toFilter, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { renderEvent } from "../text/event-lines.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount } from "../text/quantities.ts";

interface ListFlags extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly where?: string;
  readonly limit: number;
  readonly after?: string;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast list --session support-42
  $ holdfast list --where "m.topic = 'home' AND role = 'user'" --limit 100
  $ holdfast list --user alice --json | jq -r '.events[].text'`;

/** `holdfast list`: events by time, without a question. */
export function addList(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("list")
    .summary("list events by time")
    .description("Lists events by the time at which they were said, oldest first, a page at a time.")
    .option("--user <id>", "only sessions of this user")
    .option("--session <id>", "only this session")
    .option("--where <filter>", "a filter on system fields and your own keys", toFilter)
    .option("--limit <count>", "events of a page", toCount, 20)
    .option("--after <cursor>", "the next page, as the page before named it")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((flags: ListFlags) => list(surroundings, flags));
}

async function list(surroundings: Surroundings, flags: ListFlags): Promise<void> {
  const { stdout, stderr, signal } = surroundings;
  const { user, session, where, limit, after } = flags;
  const options: ListOptions = {
    limit,
    signal,
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(where !== undefined && { where }),
    ...(after !== undefined && { after }),
  };
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const page = await memory.list(options);
    if (page.damaged > 0) await stderr.write(`note: ${formatCount(page.damaged)} damaged events were left out.\n`);
    if (flags.json) return stdout.write(toJsonLine(page));
    const shown = page.events.map((event) => renderEvent(event, stdout)).join("\n");
    await stdout.write(page.events.length === 0 ? "Nothing found.\n" : shown);
    if (page.next !== undefined) await stderr.write(`There are more: add --after ${page.next}\n`);
  });
}
