import { readFileSync } from "node:fs"; // tidy: the version in the package's own manifest
import { Command, type CommanderError } from "commander";
import { addForget } from "./commands/forget.ts";
import { addImport } from "./commands/import.ts";
import { addRecall } from "./commands/recall.ts";
import { addRemember } from "./commands/remember.ts";
import { addSessions } from "./commands/sessions.ts";
import { addStats } from "./commands/stats.ts";
import { EXIT } from "./exit-codes.ts";
import { reportFailure } from "./failure.ts";
import type { Surroundings } from "./surroundings.ts";

const EPILOGUE = `
Exit codes: 0 done, 1 error (its code and message on standard error), 2 wrong usage, 130 and 143 stopped by a signal.

Examples:
  $ holdfast remember "I moved to Lisbon in May." --session support-42 --user alice --producer alice
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
  const program = new Command("holdfast")
    .description("Durable vector memory for AI agents, in one folder.")
    .version(packageVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText("after", EPILOGUE)
    .showSuggestionAfterError()
    .showHelpAfterError("Add --help to see how it is used.")
    .exitOverride(throwAsIs)
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      ...(stdout.isTerminal && { getOutHelpWidth: () => stdout.columns }),
    });
  for (const add of [addRemember, addRecall, addSessions, addImport, addForget, addStats]) add(program, surroundings);
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
