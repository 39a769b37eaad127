import type { Command } from "commander";
import type { SessionInfo, Tenant } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { formatCount, formatMinute } from "../text/quantities.ts";
import { renderRows } from "../text/rows.ts";
import type { Column } from "../text/table.ts";

interface SessionsFlags extends CommonOptions {
  readonly user?: string;
  readonly json?: true;
}

const PAGE = 1_000;

const COLUMNS: readonly Column[] = [
  { title: "SESSION" },
  { title: "USER" },
  { title: "EVENTS", align: "right" },
  { title: "FIRST (UTC)" },
  { title: "LAST (UTC)" },
];

const EXAMPLES = `
Examples:
  $ holdfast sessions
  $ holdfast sessions --user alice --json | jq '.[].id'`;

/** `holdfast sessions`: what conversations there are. */
export function addSessions(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("sessions")
    .summary("list the sessions")
    .description("Lists the sessions with their users, counts and times, by id. With --json one array.")
    .option("--user <id>", "only sessions of this user")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((flags: SessionsFlags) => sessions(surroundings, flags));
}

async function sessions(surroundings: Surroundings, flags: SessionsFlags): Promise<void> {
  await withTenant(surroundings, flags, "existing", async (memory) => {
    const pages = readPages(memory, flags.user, surroundings);
    if (flags.json) await writeArray(pages, surroundings);
    else await writeTables(pages, surroundings);
  });
}

async function* readPages(
  memory: Tenant,
  user: string | undefined,
  { stdout, signal }: Surroundings,
): AsyncGenerator<readonly SessionInfo[]> {
  let after: string | undefined;
  while (!stdout.closed) {
    const page = await memory.listSessions({
      limit: PAGE,
      signal,
      ...(user !== undefined && { user }),
      ...(after !== undefined && { after }),
    });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id;
  }
}

async function writeArray(pages: AsyncIterable<readonly SessionInfo[]>, { stdout }: Surroundings): Promise<void> {
  let before = "[";
  for await (const page of pages) {
    for (const session of page) {
      await stdout.write(`${before}${toJsonLine(session).trimEnd()}`);
      before = ",\n";
    }
  }
  await stdout.write(before === "[" ? "[]\n" : "]\n");
}

/** One table a page, so that a long list is shown as it is read. */
async function writeTables(pages: AsyncIterable<readonly SessionInfo[]>, { stdout }: Surroundings): Promise<void> {
  let untitled = false;
  for await (const page of pages) {
    await stdout.write(renderRows({ columns: COLUMNS, underneath, untitled }, page.map(toCells), stdout));
    untitled = true;
  }
  if (!untitled) await stdout.write("There are no sessions.\n");
}

function underneath([, user = "", events, first, last]: readonly string[]): readonly string[] {
  return [user, events === "1" ? "1 event" : `${events} events`, [first, last].filter(Boolean).join(" to ")];
}

function toCells({ id, user, events, firstAt, lastAt }: SessionInfo): readonly string[] {
  const times = [firstAt, lastAt].map((at) => (at === undefined ? "" : formatMinute(at)));
  return [id, user ?? "", formatCount(events), ...times];
}
