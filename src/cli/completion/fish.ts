import type { CommandWords, OptionWords, Vocabulary } from "./vocabulary.ts";

/** A script for fish. */
export function fishCompletion({ program, commands }: Vocabulary): string {
  const lines = commands.flatMap((command) => [
    `complete -c ${program} -n __fish_use_subcommand -a ${command.name} -d ${quote(command.summary)}`,
    ...linesOf(program, command),
  ]);
  return `# Completion of ${program} for fish; load it with: ${program} completion fish | source
complete -c ${program} -f
${lines.join("\n")}
`;
}

function linesOf(program: string, { name, options, takesFile, choices }: CommandWords): readonly string[] {
  const start = `complete -c ${program} -n '__fish_seen_subcommand_from ${name}'`;
  return [
    ...options.map((option) => `${start} ${optionOf(option)}`),
    ...(takesFile ? [`${start} -F`] : []),
    ...(choices.length > 0 ? [`${start} -a ${quote(choices.join(" "))}`] : []),
  ];
}

function optionOf({ flag, description, value }: OptionWords): string {
  const values = { none: "", text: " -x", folder: " -x -a '(__fish_complete_directories)'" };
  return `-l ${flag.slice(2)} -d ${quote(description)}${values[value]}`;
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
