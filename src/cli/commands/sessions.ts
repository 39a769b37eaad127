import type { Command } from "commander";
import type { SessionInfo, Tenant } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, withCommonOptions, withJson } from "../options.ts";
import { bold, type Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { formatCount, formatMinute } from "../text/quantities.ts";
import { type Column, renderTable } from "../text/table.ts";
import { displayWidth, wrapText } from "../text/width.ts";

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
  let isFirst = true;
  for await (const page of pages) {
    const [title = "", ...lines] = renderTable(COLUMNS, page.map(toCells), Number.POSITIVE_INFINITY);
    const isNarrow = [title, ...lines].some((line) => displayWidth(line) > stdout.columns);
    if (isFirst && !isNarrow) await stdout.write(`${bold(stdout, title)}\n`);
    const shown = isNarrow ? page.flatMap((session) => toLines(session, stdout)) : lines;
    await stdout.write(`${shown.join("\n")}\n`);
    isFirst = false;
  }
  if (isFirst) await stdout.write("There are no sessions.\n");
}

/** Where the table is too wide: the id whole, since it is what the next command is given, and the rest under it. */
function toLines(session: SessionInfo, output: Output): readonly string[] {
  const [id = "", user, events, first, last] = toCells(session);
  const rest = [user, `${events} events`, [first, last].filter(Boolean).join(" to ")].filter(Boolean).join(" · ");
  const under = wrapText(toPrintableLine(rest), output.columns - 2).map((line) => `  ${line}`);
  return [bold(output, toPrintableLine(id)), ...under];
}

function toCells({ id, user, events, firstAt, lastAt }: SessionInfo): readonly string[] {
  const times = [firstAt, lastAt].map((at) => (at === undefined ? "" : formatMinute(at)));
  return [id, user ?? "", formatCount(events), ...times];
}
