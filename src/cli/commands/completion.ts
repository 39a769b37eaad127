import { Argument, type Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { vocabularyOf } from "../completion/vocabulary.ts";
import { zshCompletion } from "../completion/zsh.ts";
import type { Surroundings } from "../surroundings.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

const EXAMPLES = `
Examples:
  $ source <(holdfast completion bash)        # in ~/.bashrc
  $ source <(holdfast completion zsh)         # in ~/.zshrc, behind compinit
  $ holdfast completion fish > ~/.config/fish/completions/holdfast.fish`;

/** `holdfast completion`: a script for a shell, made from the program's own commands and options. */
export function addCompletion(program: Command, { stdout }: Surroundings): void {
  program
    .command("completion")
    .summary("print a completion script for a shell")
    .description("Prints a script that completes commands and options in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", EXAMPLES)
    .action((shell: keyof typeof SCRIPTS) => stdout.write(SCRIPTS[shell](vocabularyOf(program))));
}
