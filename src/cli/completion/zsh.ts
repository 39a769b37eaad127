import type { CommandWords, OptionWords, Vocabulary } from "./vocabulary.ts";

/** A script for zsh, to be loaded or to lie in a folder of `fpath` as `_holdfast`. */
export function zshCompletion({ program, commands }: Vocabulary): string {
  return `#compdef ${program}
# Completion of ${program} for zsh; load it with: source <(${program} completion zsh)
_${program}() {
  if (( CURRENT == 2 )); then
    local -a commands=(
${commands.map(({ name, summary }) => `      ${quote(`${name}:${summary}`)}`).join("\n")}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT -= 1 ))
  case $command in
${commands.map(caseOf).join("\n")}
  esac
}

if [ "$funcstack[1]" = _${program} ]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

function caseOf({ name, options, takesFile, choices }: CommandWords): string {
  const rest = takesFile ? ["*:file:_files"] : choices.length > 0 ? [`1:word:(${choices.join(" ")})`] : [];
  const specs = [...options.map(specOf), ...rest].map(quote);
  return `    ${name}) _arguments ${specs.join(" ")} ;;`;
}

function specOf({ flag, description, value }: OptionWords): string {
  const values = { none: "", text: ":value: ", folder: ":folder:_files -/" };
  return `*${flag}[${description.replace(/[[\]\\:]/g, "\\$&")}]${values[value]}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
