import type { Command } from "commander";

/** What can be typed: read from the program itself, so that it never falls behind. */
export interface Vocabulary {
  readonly program: string;
  readonly commands: readonly CommandWords[];
}

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** Whether its arguments are names of files or folders. */
  readonly takesFile: boolean;
  /** Words that its first argument can be. */
  readonly choices: readonly string[];
}

export interface OptionWords {
  readonly flag: string;
  readonly description: string;
  readonly value: "none" | "text" | "folder";
}

export function vocabularyOf(program: Command): Vocabulary {
  const commands = program.createHelp().visibleCommands(program);
  return { program: program.name(), commands: commands.map((command) => wordsOf(command, commands)) };
}

function wordsOf(command: Command, all: readonly Command[]): CommandWords {
  const [argument] = command.registeredArguments;
  const choices = command.name() === "help" ? all.map((one) => one.name()) : (argument?.argChoices ?? []);
  return {
    name: command.name(),
    summary: command.summary() || command.description(),
    options: optionsOf(command),
    takesFile: ["file", "backup", "target"].includes(argument?.name() ?? ""),
    choices,
  };
}

function optionsOf(command: Command): readonly OptionWords[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description, flags }) => {
      if (long === undefined || long === null) return [];
      const value = flags.includes("<folder>") ? "folder" : flags.includes("<") ? "text" : "none";
      return [{ flag: long, description, value } as const];
    });
}
