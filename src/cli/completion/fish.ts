import type { CompletedCommand, CompletedFlag } from './model.ts';
import { IDS_COMMAND } from './names.ts';

/** Returns the completion script for the shell fish. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of ralph for fish. To enable it in every shell:
#   ralph completion fish > ~/.config/fish/completions/ralph.fish

function __ralph_command
    set -l words (commandline -opc)
    # Words after "--" are for the agent.
    test (count $words) -gt 1; and not contains -- -- $words; and contains -- $words[2] $argv
end

function __ralph_no_command
    test (count (commandline -opc)) -eq 1
end

complete -c ralph -f
complete -c ralph -n __ralph_no_command -s V -l version -d 'print the version'
complete -c ralph -n __ralph_no_command -s h -l help -d 'print this help'
${commands.flatMap(commandLines).join('\n')}
`;
}

function commandLines(command: CompletedCommand): readonly string[] {
  const { name, description, flags, takesId, takesFile, words } = command;
  const when = `complete -c ralph -n '__ralph_command ${name}'`;
  const first = takesId
    ? `(command ralph ${IDS_COMMAND} (commandline -opc) 2>/dev/null)`
    : words.join(' ');
  return [
    `complete -c ralph -n __ralph_no_command -a ${name} -d ${quoted(description)}`,
    ...flags.filter((flag) => !flag.isHidden).map((flag) => `${when}${flagWords(flag)}`),
    ...(first === '' ? [] : [`${when} -a ${quoted(first)}`]),
    ...(takesFile ? [`${when} -F`] : []),
  ];
}

function flagWords({ names, description, argument, value }: CompletedFlag): string {
  const written = names.map((name) =>
    name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`,
  );
  const suggested = argument === null ? '' : suggest(value);
  return `${written.join('')}${suggested} -d ${quoted(description)}`;
}

function suggest(value: CompletedFlag['value']): string {
  switch (value.kind) {
    case 'choices':
      return ` -x -a ${quoted(value.choices.join(' '))}`;
    case 'folders':
      return " -x -a '(__fish_complete_directories)'";
    case 'files':
      return ' -r -F';
    case 'free':
      return ' -x';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
