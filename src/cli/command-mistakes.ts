import { type Command, CommanderError } from 'commander';
import { isListName } from '../core/list/list-names.ts';
import { SETTINGS, settingNames } from '../core/settings/settings.ts';
import { nearest } from '../core/text/nearest.ts';
import { UsageError } from '../errors.ts';
import { ralphCommand, shellQuote } from '../printed-command.ts';

/** Returns 0 if commander threw only because it had printed help or a version. Else throws a `UsageError`. */
export function explainCommander(
  error: unknown,
  program: Command,
  argv: readonly string[],
): number {
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return 0;
  const names = namesOf(program);
  const word = argv.find((each) => !each.startsWith('-'));
  const command = program.commands.find((each) => each.name() === word);
  throw new UsageError([mistake(error, command, names, argv)]);
}

/** Throws a `UsageError` for `ralph help` with an unknown command, for which commander would print the general help. */
export function refuseUnknownHelp(program: Command, [help, word]: readonly string[]): void {
  const names = namesOf(program);
  if (help !== 'help' || word === undefined || word.startsWith('-')) return;
  if (word !== 'help' && !names.includes(word)) throw new UsageError([noCommand(word, names)]);
}

function namesOf(program: Command): readonly string[] {
  return program.commands.map((command) => command.name());
}

function mistake(
  { code, message }: CommanderError,
  command: Command | undefined,
  names: readonly string[],
  argv: readonly string[],
): string {
  const name = command === undefined ? 'ralph' : `ralph ${command.name()}`;
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  switch (code) {
    case 'commander.help':
      return `a command is needed, such as: ${ralphCommand('run', '"Fix the tests"')}`;
    case 'commander.unknownCommand':
      return noCommand(quoted, names);
    case 'commander.unknownOption':
      return command === undefined && isRunFlag(quoted)
        ? `${quoted} is a flag of ralph run: ${ralphCommand('run', ...argv.map(shellQuote))}`
        : noFlag(quoted, name, command);
    case 'commander.missingArgument':
      return missing(quoted, name, command);
    case 'commander.optionMissingArgument':
      return `${quoted.split(' ')[0]} needs a value, but none was given.`;
    case 'commander.excessArguments':
      if (command?.name() === 'worker' && isListName(argv.at(-1) ?? '')) {
        return `ralph worker takes its tasks from a fleet; to work through a list of tasks: ${ralphCommand('work', shellQuote(argv.at(-1) ?? ''))}`;
      }
      return `${name} got one word too many, '${argv.at(-1) ?? ''}'${usage(command)}. Quote a value that has spaces.`;
    case 'commander.invalidArgument':
      return notAmong(quoted, name, command);
    default:
      return message.replace(/^error: /, '');
  }
}

function noCommand(word: string, names: readonly string[]): string {
  const near = nearest(word, names);
  return `${word} is not a command of ralph${near === null ? `; expected one of ${names.join(', ')}` : `; did you mean ${near}?`}`;
}

function noFlag(flag: string, name: string, command: Command | undefined): string {
  const known = command?.options.flatMap(({ long }) => long ?? []) ?? ['--version'];
  const near = nearest(flag, [...known, '--help']);
  return `${flag} is not a flag of ${name}${near === null ? `; ${name} --help lists them.` : `; did you mean ${near}?`}`;
}

function missing(argument: string, name: string, command: Command | undefined): string {
  if (argument === 'id') return `${name} needs the id of a task; ralph status lists them.`;
  const choices = choicesOf(argument, command);
  const what = choices.length === 0 ? `a ${argument}` : `one of ${choices.join(', ')}`;
  return `${name} needs ${what}, but none was given${usage(command)}.`;
}

function notAmong(found: string, name: string, command: Command | undefined): string {
  const choices = command?.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []) ?? [];
  const near = nearest(found, choices);
  return `${name} expects one of ${choices.join(', ')}; found '${found}'${near === null ? '.' : `; did you mean ${near}?`}`;
}

function choicesOf(argument: string, command: Command | undefined): readonly string[] {
  return command?.registeredArguments.find((each) => each.name() === argument)?.argChoices ?? [];
}

function usage(command: Command | undefined): string {
  return command === undefined ? '' : `: ralph ${command.name()} ${command.usage()}`;
}

function isRunFlag(word: string): boolean {
  const flag = word.replace(/=.*$/s, '');
  return settingNames().some((each) => {
    const { flag: long, short, aliases = [] } = SETTINGS[each];
    return [long, short, ...aliases].includes(flag);
  });
}
