import type { CompletedCommand, CompletedFlag } from './model.ts';
import { IDS_COMMAND } from './names.ts';

/** Returns the completion script for bash. It uses no associative arrays, because macOS still ships bash 3.2. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of ralph for bash. To enable it in every shell, add this to ~/.bashrc:
#   eval "$(ralph completion bash)"

_ralph_words() {
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

_ralph_paths() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$current"))
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
}

_ralph() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local flags="" valued="" words="" takes_id="" takes_file="" given=0 i
  COMPREPLY=()
  # bash splits "--agent=command" into three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" && $COMP_CWORD -gt 2 ]]; then
    previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    _ralph_words "${commands.map(({ name }) => name).join(' ')} --help --version"
    return
  fi
  # Words after "--" are for the agent.
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ "\${COMP_WORDS[i]}" == "--" ]] && { _ralph_paths -f; return; }
  done
  case "\${COMP_WORDS[1]}" in
${commands.map(commandCase).join('\n')}
    *) return ;;
  esac
  for ((i = 2; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      =) ((i++)) ;;
      -*) [[ " $valued " == *" \${COMP_WORDS[i]} "* && "\${COMP_WORDS[i+1]}" != "=" ]] && ((i++)) ;;
      *) ((given++)) ;;
    esac
  done
  if [[ $current == -* ]]; then
    _ralph_words "$flags"
  elif [[ $given -eq 0 && -n $takes_id ]]; then
    _ralph_words "$(command ralph ${IDS_COMMAND} "\${COMP_WORDS[@]}" 2>/dev/null)"
  elif [[ $given -eq 0 && -n $takes_file ]]; then
    _ralph_paths -f
  elif [[ $given -eq 0 ]]; then
    _ralph_words "$words"
  fi
}

complete -F _ralph ralph
`;
}

function commandCase({ name, flags, takesId, takesFile, words }: CompletedCommand): string {
  const suggested = flags.filter((flag) => !flag.isHidden).flatMap((flag) => flag.names);
  const valued = flags.filter((flag) => flag.argument !== null);
  return `    ${name})
      flags="${suggested.join(' ')}"
      valued="${valued.flatMap((flag) => flag.names).join(' ')}"
      words="${words.join(' ')}" takes_id="${takesId ? 'yes' : ''}" takes_file="${takesFile ? 'yes' : ''}"
${valued.length === 0 ? '' : `      case "$previous" in\n${valueCases(valued).join('\n')}\n      esac\n`}      ;;`;
}

/** Returns one line for all flags with the same suggestions. */
function valueCases(valued: readonly CompletedFlag[]): readonly string[] {
  const alike = new Map<string, string[]>();
  for (const { names, value } of valued) {
    const line = suggest(value);
    alike.set(line, [...(alike.get(line) ?? []), ...names]);
  }
  return [...alike].map(([line, names]) => `        ${names.join(' | ')}) ${line}return ;;`);
}

function suggest(value: CompletedFlag['value']): string {
  switch (value.kind) {
    case 'choices':
      return `_ralph_words "${value.choices.join(' ')}"; `;
    case 'folders':
      return '_ralph_paths -d; ';
    case 'files':
      return '_ralph_paths -f; ';
    case 'free':
      return '';
  }
}
