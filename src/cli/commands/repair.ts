import type { Command } from "commander";
import type { RepairOptions, RepairReport } from "../../index.ts";
import { Ended, EXIT, UsageError } from "../exit-codes.ts";
import { type CommonOptions, folderOf, withCommonOptions, withJson } from "../options.ts";
import { StageLine } from "../stage-line.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { formatCount } from "../text/quantities.ts";
import { renderTable } from "../text/table.ts";

interface RepairFlags extends CommonOptions {
  readonly dryRun?: true;
  readonly yes?: true;
  readonly json?: true;
}

const HELP = `
Reads what can be read of a damaged memory into a new database, verifies that, and only then gives it its place. The
damaged database is kept in the memory's folder, beside a list of each row that could not be brought back. Nothing is
changed in a memory that is whole, and nobody may have it open. Ends with 3 when something could not be brought back.

Examples:
  $ holdfast repair --dry-run
  $ holdfast repair --yes`;

/** `holdfast repair`: brings back everything that is undamaged. */
export function addRepair(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("repair")
    .summary("mend a damaged memory")
    .description("Makes a damaged memory whole again, of everything in it that is undamaged, of every tenant.")
    .option("--dry-run", "say what would be brought back, and change nothing")
    .option("--yes", "do not ask")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action(async (flags: RepairFlags) => {
    const { stdout, stderr, signal } = surroundings;
    if (!flags.dryRun && !flags.yes && !(await isMeant(flags, surroundings))) return;
    const line = new StageLine(stderr);
    const onProgress: RepairOptions["onProgress"] = (progress) => line.update(progress);
    const options: RepairOptions = { signal, dryRun: flags.dryRun === true, onProgress };
    const report = await surroundings.repairFolder(folderOf(flags), options).finally(() => line.clear());
    await stdout.write(flags.json ? toJsonLine(report) : renderRepair(report, stdout.columns));
    if (!report.complete) throw new Ended(EXIT.damaged);
  });
}

async function isMeant(flags: RepairFlags, { ask, stderr }: Surroundings): Promise<boolean> {
  if (ask === undefined)
    throw new UsageError("Add --yes to repair without a question, or --dry-run to see what it would do.");
  const answer = await ask(`Repair ${toPrintableLine(folderOf(flags))}? The damaged database is kept. [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  await stderr.write("Nothing was changed.\n");
  return false;
}

function renderRepair(report: RepairReport, columns: number): string {
  if (report.outcome === "whole") return `${toPrintableLine(report.path)} is whole; nothing was changed.\n`;
  const table = renderTable(
    [
      { title: "table", shrinks: true },
      { title: "read", align: "right" },
      { title: "kept", align: "right" },
      { title: "set aside", align: "right" },
      { title: "lost", align: "right" },
    ],
    report.tables.map(({ table: name, read, kept, setAside, lost }) => [
      name,
      ...[read, kept, setAside, lost].map(formatCount),
    ]),
    columns,
  );
  const notes = report.notes.map((note) => `note: ${toPrintableLine(note)}`);
  return [...table, "", ...notes, verdictOf(report), ""].join("\n");
}

function verdictOf({ outcome, complete, keptIn = "" }: RepairReport): string {
  const what = complete ? "everything" : "everything that is undamaged";
  if (outcome === "dry-run") return `A repair would bring back ${what}. Nothing was changed.`;
  const kept = toPrintableLine(keptIn);
  const missing = complete ? "" : ` What is missing stands in ${kept}/rows.jsonl.`;
  return `Repaired: ${what} is back, verified.${missing} The damaged database is kept in ${kept}.`;
}
