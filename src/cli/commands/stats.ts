import type { Command } from "commander";
import type { FolderStats, MemoryStats } from "../../index.ts";
import { UsageError } from "../exit-codes.ts";
import { withMemory, withTenant } from "../folder.ts";
import { type CommonOptions, folderOf, withCommonOptions, withJson } from "../options.ts";
import type { Output } from "../output.ts";
import type { Surroundings } from "../surroundings.ts";
import { renderFields } from "../text/fields.ts";
import { toJsonLine } from "../text/json.ts";
import { formatBytes, formatCount, formatMinute } from "../text/quantities.ts";

interface StatsFlags extends CommonOptions {
  readonly folder?: true;
  readonly json?: true;
}

const EXAMPLES = `
Examples:
  $ holdfast stats
  $ holdfast stats --folder
  $ holdfast stats --path ./other.holdfast --json`;

/** `holdfast stats`: how much is kept, and by what. */
export function addStats(program: Command, surroundings: Surroundings): void {
  const command = program
    .command("stats")
    .summary("show what the memory holds")
    .description("Shows counts, size, the embedding model and the database engine.")
    .option("--folder", "counts and sizes of the whole folder; reads all of it")
    .addHelpText("after", EXAMPLES);
  withCommonOptions(withJson(command), surroundings).action((flags: StatsFlags) => {
    if (flags.folder) return folderStats(flags, surroundings);
    return withTenant(surroundings, flags, "existing", async (memory) => {
      const { stdout, signal } = surroundings;
      const stats = await memory.stats({ signal });
      await stdout.write(flags.json ? toJsonLine(stats) : renderStats(stats, stdout));
    });
  });
}

function folderStats(flags: StatsFlags, surroundings: Surroundings): Promise<void> {
  if (flags.tenant !== undefined) throw new UsageError("--folder is about all tenants: leave --tenant out.");
  return withMemory(surroundings, folderOf(flags), "existing", async (memory) => {
    const { stdout, signal } = surroundings;
    const stats = await memory.folderStats({ signal });
    await stdout.write(flags.json ? toJsonLine(stats) : renderFolderStats(stats, stdout));
  });
}

function renderFolderStats({ path, rows, bytes, pending, dead, ...stats }: FolderStats, output: Output): string {
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([name, count]) => `${formatCount(count)} ${name}`)
      .join(", ");
  const sizes = Object.entries(bytes).map(([name, size]) => [name, formatBytes(size)] as const);
  const fields: readonly (readonly [string, string])[] = [
    ["database", path],
    ["format", `${stats.format}, since ${formatMinute(stats.createdAt)} (UTC)`],
    ["rows", counts(rows)],
    ["pending", `${formatCount(pending.waiting)} to embed, ${formatCount(pending.parked)} parked`],
    ["dead", counts(dead)],
    ...sizes,
  ];
  return renderFields(fields, output);
}

function renderStats(stats: MemoryStats, output: Output): string {
  const rows: readonly (readonly [string, string])[] = [
    ["database", stats.path],
    ["tenant", stats.tenant],
    ["sessions", formatCount(stats.sessions)],
    ["events", formatCount(stats.events)],
    ["segments", formatCount(stats.segments)],
    ["words", formatCount(stats.words)],
    ["vectors", formatCount(stats.vectors)],
    ["pending", `${formatCount(stats.pending.waiting)} to embed, ${formatCount(stats.pending.parked)} parked`],
    ["model", modelOf(stats)],
    ["file", formatBytes(stats.fileBytes)],
    ["engine", `SQLite ${stats.sqlite} (${stats.driver}), threads: ${stats.threads}`],
  ];
  return renderFields(rows, output);
}

function modelOf({ space, dimensions }: MemoryStats): string {
  if (space === undefined) return "none yet";
  const { provider, model, revision } = JSON.parse(space) as Readonly<Record<string, unknown>>;
  const name = [provider, model, revision].filter((part) => typeof part === "string").join(" ");
  return `${name}, ${dimensions ?? 0} dimensions`;
}
