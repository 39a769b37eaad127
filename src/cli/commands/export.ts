import type { Command } from "commander";
import type { ExportPage, ListOptions, Tenant } from "../../index.ts";
import { withTenant } from "../folder.ts";
import { type CommonOptions, folderOf, toFilter, withCommonOptions } from "../options.ts";
import type { Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { countOf, formatCount } from "../text/quantities.ts";

interface ExportFlags extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly where?: string;
}

/** Events of one page: some megabytes of long ones are in memory at a time. */
const PAGE = 500;

const HELP = `
One JSON object a line, as "holdfast import" reads it: ids, times with their offsets, blocks, and properties with their
types. It is what the events say now; their earlier revisions, summaries and empty sessions stay behind. A file appears
under its name when it is whole; one that is there is not replaced.

Examples:
  $ holdfast export backup.jsonl
  $ holdfast export --user alice --where "role = 'user'" | gzip > alice.jsonl.gz
  $ holdfast export | holdfast import - --path ./copy.holdfast`;

/** `holdfast export`: events as JSON lines. */
export function addExport(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("export")
    .summary("write events as JSON lines")
    .description("Writes events as JSON lines, oldest first, to a file or to standard output.")
    .argument("[file]", "the file, or - for standard output", "-")
    .option("--user <id>", "only sessions of this user")
    .option("--session <id>", "only this session")
    .option("--where <filter>", "a filter on system fields and your own keys", toFilter)
    .addHelpText("after", HELP);
  withCommonOptions(command, surroundings).action(async (file: string, flags: ExportFlags) => {
    await withTenant(surroundings, flags, "existing", async (memory) => {
      if (file === "-") return exportTo(memory, surroundings.stdout, flags, surroundings);
      await surroundings.writeFile(file, folderOf(flags), (output) => exportTo(memory, output, flags, surroundings));
    });
  });
}

async function exportTo(
  memory: Tenant,
  output: Pick<Output, "write" | "closed">,
  { user, session, where }: ExportFlags,
  { stderr, stdout, signal }: Surroundings,
): Promise<void> {
  const options: ListOptions = {
    limit: PAGE,
    signal,
    ...(user !== undefined && { user }),
    ...(session !== undefined && { session }),
    ...(where !== undefined && { where }),
  };
  let [count, damaged] = [0, 0];
  let page: ExportPage | undefined;
  do {
    const after = page?.next;
    page = await memory.exportEvents({ ...options, ...(after !== undefined && { after }) });
    await output.write(page.events.map(toJsonLine).join(""));
    count += page.events.length;
    damaged += page.damaged;
  } while (page.next !== undefined && !output.closed);
  if (damaged > 0) await stderr.write(`note: ${formatCount(damaged)} damaged events were left out.\n`);
  if (output !== stdout) await stderr.write(`${countOf(count, "event")} written.\n`);
}
