import type { Argument, Command } from 'commander';

const EXAMPLES = [
  'ralph demo',
  'ralph run "Fix the failing tests" --verify "npm test" --edit',
  'ralph status --watch',
];

/** Arranges the help of the program itself, which lists the commands in the order of their declaration. */
export function arrangeHelp(program: Command): void {
  program
    .configureHelp({
      helpWidth: 80,
      // No `[options]` here: the help of each command lists its flags.
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
    })
    .addHelpText('after', examples(EXAMPLES));
}

function termOf(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** Returns the examples that stand below the help of a command. */
export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
