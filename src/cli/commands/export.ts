import type { Command } from "commander";
import type { ExportPage, ListOptions, Tenant } from "../../index.ts";
import { exportArchiveTo } from "../archiving/export-run.ts";
import { UsageError } from "../exit-codes.ts";
import { withMemory, withTenant } from "../folder.ts";
import { type CommonOptions, folderOf, toFilter, withCommonOptions } from "../options.ts";
import type { Output } from "../output.ts";
import type { FileSink, Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { countOf, formatCount } from "../text/quantities.ts";

interface ExportFlags extends CommonOptions {
  readonly user?: string;
  readonly session?: string;
  readonly where?: string;
  readonly archive?: true;
  readonly skipDamaged?: true;
}

/** Events of one page: some megabytes of long ones are in memory at a time. */
const PAGE = 500;

const HELP = `
One JSON object a line, as "holdfast import" reads it: ids, times with their offsets, blocks, and properties with their
types. It is what the events say now; their earlier revisions, summaries and empty sessions stay behind. A file appears
under its name when it is whole; one that is there is not replaced.

With --archive it is everything instead: every tenant (or one with --tenant), empty sessions, earlier revisions,
segments, vectors, summaries, what is pending. Each line is checked, so that "holdfast import" takes in all of it or
nothing, and no text is embedded again.

Examples:
  $ holdfast export events.jsonl
  $ holdfast export --archive everything.jsonl
  $ holdfast export --archive --tenant acme | gzip > acme.jsonl.gz
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
    .option("--archive", "everything, with vectors and history, checked line by line")
    .option("--skip-damaged", "with --archive: leave out what is damaged; without it that ends the export")
    .addHelpText("after", HELP);
  withCommonOptions(command, surroundings).action(async (file: string, flags: ExportFlags) => {
    assertTogether(flags);
    const write = (to: (output: FileSink) => Promise<void>): Promise<void> =>
      file === "-" ? to(surroundings.stdout) : surroundings.writeFile(file, folderOf(flags), to);
    if (flags.archive)
      await withMemory(surroundings, folderOf(flags), "existing", (memory) =>
        write((output) => exportArchiveTo(memory, output, flags, surroundings)),
      );
    else
      await withTenant(surroundings, flags, "existing", (memory) =>
        write((output) => exportTo(memory, output, flags, surroundings)),
      );
  });
}

function assertTogether({ archive, user, session, where, skipDamaged }: ExportFlags): void {
  if (archive && (user ?? session ?? where) !== undefined)
    throw new UsageError(
      "An archive is of whole tenants: leave out --user, --session and --where, or leave out --archive.",
    );
  if (skipDamaged && !archive)
    throw new UsageError("--skip-damaged goes with --archive; without it damaged events are left out and counted.");
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
