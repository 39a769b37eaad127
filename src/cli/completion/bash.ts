import type { CommandWords, Vocabulary } from "./vocabulary.ts";

/** A script for bash 3.2 and newer. */
export function bashCompletion({ program, commands }: Vocabulary): string {
  const names = commands.map(({ name }) => name).join(" ");
  return `# Completion of ${program} for bash; load it with: source <(${program} completion bash)
_${program}_words() {
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@")
}

_${program}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" line
  if [ "$COMP_CWORD" -le 1 ]; then
    _${program}_words -W "${names} --help --version" -- "$word"
    return
  fi
  local options="" choices="" files="" texts="" folders=""
  case "\${COMP_WORDS[1]}" in
${commands.map(caseOf).join("\n")}
    *) return ;;
  esac
  case " $folders " in *" $before "*) _${program}_words -d -- "$word"; return ;; esac
  case " $texts " in *" $before "*) COMPREPLY=(); return ;; esac
  case "$word" in
    -*) _${program}_words -W "$options" -- "$word" ;;
    *) if [ -n "$files" ]; then _${program}_words -f -- "$word"; else _${program}_words -W "$choices" -- "$word"; fi ;;
  esac
}

complete -o filenames -F _${program} ${program}
`;
}

function caseOf({ name, options, takesFile, choices }: CommandWords): string {
  const flags = (value?: string): string =>
    options
      .filter((option) => value === undefined || option.value === value)
      .map(({ flag }) => flag)
      .join(" ");
  const files = takesFile ? "yes" : "";
  return `    ${name}) options="${flags()}" texts="${flags("text")}" folders="${flags("folder")}" choices="${choices.join(" ")}" files="${files}" ;;`;
}
