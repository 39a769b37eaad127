import { readFileSync } from "node:fs"; // tidy: the version in the package's own manifest
import { Command, type CommanderError } from "commander";
import { addBackup } from "./commands/backup.ts";
import { addChanges } from "./commands/changes.ts";
import { addCompletion } from "./commands/completion.ts";
import { addDeleteSession, addDeleteTenant } from "./commands/delete.ts";
import { addEmbed } from "./commands/embed.ts";
import { addExport } from "./commands/export.ts";
import { addForget } from "./commands/forget.ts";
import { addGet } from "./commands/get.ts";
import { addHistory } from "./commands/history.ts";
import { addImport } from "./commands/import.ts";
import { addList } from "./commands/list.ts";
import { addPending } from "./commands/pending.ts";
import { addRecall } from "./commands/recall.ts";
import { addRecent } from "./commands/recent.ts";
import { addRemember } from "./commands/remember.ts";
import { addRepair } from "./commands/repair.ts";
import { addRestore } from "./commands/restore.ts";
import { addSessions } from "./commands/sessions.ts";
import { addStats } from "./commands/stats.ts";
import { addTenants } from "./commands/tenants.ts";
import { addUpdate } from "./commands/update.ts";
import { addVerify } from "./commands/verify.ts";
import { EXIT } from "./exit-codes.ts";
import { reportFailure, USAGE_HINT } from "./failure.ts";
import { FittedCommand, HELP_LAYOUT, helpColumns } from "./help.ts";
import type { Surroundings } from "./surroundings.ts";

const ITSELF = "The command line itself:";

/** In the order in which the help names them, by heading. */
const COMMANDS: Readonly<Record<string, readonly ((program: Command, surroundings: Surroundings) => void)[]>> = {
  "Remember and recall:": [addRemember, addRecall],
  "Read:": [addRecent, addList, addGet, addHistory, addChanges, addSessions, addTenants, addStats],
  "Change and forget:": [addUpdate, addForget, addDeleteSession, addDeleteTenant],
  "Carry elsewhere:": [addImport, addExport],
  "Look after the folder:": [addPending, addEmbed, addBackup, addRestore, addVerify, addRepair],
  [ITSELF]: [addCompletion],
};

const EPILOGUE = `
With --json, integers beyond 2^53 are decimal strings. Exit codes: 0 done, 1 error (its code and message on standard
error), 2 wrong usage, 3 damage was found, 130 and 143 stopped by a signal.

Examples:
  $ holdfast remember "I moved to Lisbon." --session support-42 --user alice
  $ holdfast recall where does Alice live --user alice
  $ holdfast import conversations.jsonl`;

/** Runs the command line and answers its exit code; never raises. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const code = await execute(args, surroundings);
  const { stdout, stderr } = surroundings;
  if (stdout.failure === undefined || code !== EXIT.ok) return code;
  await stderr.write(`error: standard output could not be written: ${stdout.failure.message}\n`);
  return EXIT.error;
}

async function execute(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = createProgram(surroundings);
  try {
    await program.parseAsync(args, { from: "user" });
    return EXIT.ok;
  } catch (error) {
    return reportFailure(error, surroundings, args.includes("--debug"));
  }
}

function createProgram(surroundings: Surroundings): Command {
  const { stdout, stderr } = surroundings;
  const program = new FittedCommand("holdfast")
    .description("Durable vector memory for AI agents, in one folder.")
    .version(packageVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .addHelpCommand(new Command("help").argument("[command]").summary("show the help of a command").helpGroup(ITSELF))
    .configureHelp(HELP_LAYOUT)
    .addHelpText("after", EPILOGUE)
    .showSuggestionAfterError()
    .showHelpAfterError(USAGE_HINT)
    .exitOverride(throwAsIs)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => helpColumns(stdout),
    });
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, surroundings);
  }
  return program;
}

/** Commander would end the process; what it threw tells usage errors from asked-for help. */
function throwAsIs(error: CommanderError): never {
  throw error;
}

function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
