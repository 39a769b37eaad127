import type { Command } from "commander";
import type { BackupReceipt } from "../../index.ts";
import { UsageError } from "../exit-codes.ts";
import { withMemory } from "../folder.ts";
import { type CommonOptions, folderOf, withCommonOptions, withJson } from "../options.ts";
import { PercentLine } from "../percent-line.ts";
import type { Surroundings } from "../surroundings.ts";
import { toJsonLine } from "../text/json.ts";
import { toPrintableLine } from "../text/printable.ts";
import { countOf, formatBytes } from "../text/quantities.ts";

interface BackupFlags extends CommonOptions {
  readonly json?: true;
}

const HELP = `
The backup is of one moment, while others read and write on. It is opened and checked, and appears under its name when
all of it is on the disk. "holdfast restore" reads it; openMemory(path, { readOnly: true }) looks into it.
It holds what is forgotten later: remove backups that must not.

Examples:
  $ holdfast backup ./backups/2026-05-01
  $ holdfast backup /mnt/backups/memory-1 --path ./memory.holdfast --json`;

/** `holdfast backup`: the folder, all tenants with it, into a new one. */
export function addBackup(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("backup")
    .summary("copy the whole folder, checked")
    .description("Backs up the folder, with all its tenants, into a new one.")
    .argument("<target>", "a folder that does not exist yet")
    .addHelpText("after", HELP);
  withCommonOptions(withJson(command), surroundings).action(async (target: string, flags: BackupFlags) => {
    if (flags.tenant !== undefined)
      throw new UsageError('A backup holds every tenant: leave --tenant out, or use "holdfast export --tenant".');
    await withMemory(surroundings, folderOf(flags), "existing", async (memory) => {
      const { stdout, stderr, signal } = surroundings;
      const line = new PercentLine(stderr);
      try {
        const receipt = await memory.backup(target, { signal, onProgress: (progress) => line.update(progress) });
        line.clear();
        await stdout.write(flags.json ? toJsonLine(receipt) : renderReceipt(receipt));
      } finally {
        line.clear();
      }
    });
  });
}

function renderReceipt({ path, sizeBytes, rows }: BackupReceipt): string {
  const { events = 0, tenants = 0 } = rows;
  const counts = `${countOf(events, "event")} of ${countOf(tenants, "tenant")}`;
  return `${toPrintableLine(path)}: ${counts}, ${formatBytes(sizeBytes)}\n`;
}
