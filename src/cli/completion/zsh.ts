import type { CompletedCommand, CompletedFlag } from './model.ts';
import { IDS_COMMAND } from './names.ts';

/** Returns the completion script for zsh, to be sourced or saved as `_ralph` in a folder of `fpath`. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(
    ({ name, description }) => `    ${quoted(`${name}:${description.replaceAll(':', '\\:')}`)}`,
  );
  return `#compdef ralph
# Completion of ralph for zsh. To enable it in every shell, add this to ~/.zshrc, after compinit:
#   source <(ralph completion zsh)

_ralph_ids() {
  local -a ids
  ids=(\${(f)"$(command ralph ${IDS_COMMAND} $words 2>/dev/null)"})
  compadd -a ids
}

_ralph_commands() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  _describe command commands
}

_ralph() {
  local curcontext="$curcontext" state line
  local -A opt_args
  _arguments -C '(- *)'{-h,--help}'[print this help]' '(- *)'{-V,--version}'[print the version]' \\
    '1: :_ralph_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  # Words after "--" are for the agent.
  (( \${words[(i)--]} < CURRENT )) && { _default; return }
  case $words[1] in
${commands.map(commandCase).join('\n')}
  esac
}

if [[ $funcstack[1] == _ralph ]]; then
  _ralph "$@"
else
  compdef _ralph ralph
fi
`;
}

function commandCase(command: CompletedCommand): string {
  const { name, flags } = command;
  const specs = [
    ...flags.filter((flag) => !flag.isHidden).flatMap(flagSpecs),
    ...firstWord(command),
  ];
  return `    ${name})\n      _arguments ${specs.map((spec) => `\\\n        ${spec}`).join(' ')}\n      ;;`;
}

function firstWord({ takesId, takesFile, words }: CompletedCommand): readonly string[] {
  if (takesId) return ["'1:task:_ralph_ids'"];
  if (takesFile) return ["'1:file:_files'"];
  return words.length > 0 ? [choices(words)] : [];
}

function choices(words: readonly string[]): string {
  return quoted(`1: :(${words.join(' ')})`);
}

/** Returns a flag's specs for `_arguments`. `*` allows the flag to be repeated; `=` allows `--flag=value`. */
function flagSpecs({ names, description, argument, value }: CompletedFlag): readonly string[] {
  const help = `[${description.replace(/[[\]\\]/g, '\\$&')}]`;
  return names.map((name) => {
    if (argument === null) return quoted(`*${name}${help}`);
    const joined = name.startsWith('--') ? '=' : '';
    return quoted(`*${name}${joined}${help}:${argument}:${action(value)}`);
  });
}

function action(value: CompletedFlag['value']): string {
  switch (value.kind) {
    case 'choices':
      return `(${value.choices.join(' ')})`;
    case 'folders':
      return '_files -/';
    case 'files':
      return '_files';
    case 'free':
      return ' ';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
