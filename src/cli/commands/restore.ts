import type { Command } from "commander";
import type { RestoreReceipt } from "../../index.ts";
import { UsageError } from "../exit-codes.ts";
import { type CommonOptions, folderOf, withCommonOptions, withJson } from "../options.ts";
import { PercentLine } from "../percent-line.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { countOf } from "../text/quantities.ts";

interface RestoreFlags extends CommonOptions {
  readonly replace?: true;
  readonly json?: true;
}

const HELP = `
Everything is checked before the folder is touched, and the last step is one rename: whatever happens, the folder is what
it was, or it is the backup. A folder that anybody has open is refused; so is one that holds a memory, unless --replace
is given: then what it held is kept beside it, under the name that is printed.

Examples:
  $ holdfast restore ./backups/2026-05-01 --dir ./memory.holdfast
  $ holdfast restore ./backups/2026-05-01 --dir ./memory.holdfast --replace`;

/** `holdfast restore`: a folder from a backup. */
export function addRestore(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("restore")
    .summary("make a folder from a backup")
    .description("Makes the folder (--dir, --path) what a backup says.")
    .argument("<backup>", 'the folder that "holdfast backup" made')
    .option("--replace", "in the place of the memory that the folder holds, which is kept beside it")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action(async (backup: string, flags: RestoreFlags) => {
    if (flags.tenant !== undefined) throw new UsageError("A backup holds every tenant: leave --tenant out.");
    const { stdout, stderr, signal } = surroundings;
    const line = new PercentLine(stderr);
    try {
      const receipt = await surroundings.restore(backup, folderOf(flags), {
        signal,
        replace: flags.replace === true,
        onProgress: (progress) => line.update(progress),
      });
      line.clear();
      await stdout.write(flags.json ? toJsonLine(receipt) : renderReceipt(receipt));
    } finally {
      line.clear();
    }
  });
}

function renderReceipt({ path, createdAt, rows, kept }: RestoreReceipt): string {
  const restored = `${toPrintableLine(path)}: ${countOf(rows.events ?? 0, "event")} as of ${createdAt}\n`;
  return kept === undefined ? restored : `${restored}what it held before: ${toPrintableLine(kept)}\n`;
}
