import type { Command, Option } from 'commander';
import { choicesOf, SETTINGS, settingNames } from '../../../core/settings/settings.ts';
import { TASK_TYPES } from '../../../core/settings/task-type.ts';
import { openIds } from './open-ids.ts';

/**
 * `ralph __complete WORDS`: prints what can stand in place of the last word of an unfinished command line. The shell's
 * completion script reads these lines, and leaves out those that do not begin like that word.
 */
export function suggest(program: Command, words: readonly string[]): number {
  process.stdout.write(
    suggestions(program, words)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return 0;
}

const FILES = [':files'];
const FOLDERS = [':folders'];

/** Returns the lines of the answer to a completion script. `words` begin with the word `ralph`. */
export function suggestions(program: Command, words: readonly string[]): readonly string[] {
  const [, name, ...given] = words;
  const help = program.createHelp();
  if (given.length === 0) {
    const commands = help.visibleCommands(program);
    return [
      ...commands.map((each) => `${each.name()}\t${each.description()}`),
      ...['--help', '--version'],
    ];
  }
  const command = help.visibleCommands(program).find((each) => each.name() === name);
  if (command === undefined) return [];
  const typed = given.at(-1) ?? '';
  // bash splits `--flag=value` into three words.
  const before = given.slice(0, -1).filter((word) => word !== '=');
  // Words after `--` are for the agent.
  if (before.includes('--')) return FILES;
  const valued = (word: string | undefined): Option | undefined =>
    command.options.find(
      ({ long, short, flags }) =>
        word !== undefined && [long, short].includes(word) && argumentIn(flags) !== undefined,
    );
  const [joined = '', flag] = /^(--[^=]+)=/.exec(typed) ?? [];
  const option = valued(flag ?? before.at(-1));
  if (option !== undefined) {
    const values = valuesOf(option);
    return values === FILES || values === FOLDERS ? values : values.map((each) => joined + each);
  }
  if (typed.startsWith('-')) {
    return help
      .visibleOptions(command)
      .flatMap(({ long, short, description }) =>
        [long, short].flatMap((form) => (form ? [`${form}\t${description}`] : [])),
      );
  }
  const arguments_ = before.filter(
    (word, at) => !word.startsWith('-') && valued(before[at - 1]) === undefined,
  );
  return arguments_.length === 0 ? firstArguments(command, program, words) : [];
}

/** Returns the name of a flag's value, such as `TEXT`; undefined if it takes none. */
function argumentIn(flags: string): string | undefined {
  return /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1];
}

function valuesOf({ long, flags, argChoices }: Option): readonly string[] {
  if (long === SETTINGS.taskType.flag) return Object.keys(TASK_TYPES);
  const name = settingNames().find((each) => SETTINGS[each].flag === long);
  const choices = argChoices ?? (name === undefined ? [] : choicesOf(SETTINGS[name]));
  if (choices.length > 0) return choices;
  const argument = argumentIn(flags) ?? '';
  if (argument === 'DIR') return FOLDERS;
  return ['FILE', 'PATH', 'GLOB', 'COMMAND'].includes(argument) ? FILES : [];
}

function firstArguments(
  command: Command,
  program: Command,
  words: readonly string[],
): readonly string[] {
  const [first] = command.registeredArguments;
  const argument = first?.name().toLowerCase();
  if (argument === 'id' || /\[ID\]/.test(command.usage())) return openIds(words);
  if (argument === 'file') return FILES;
  // Commander creates `help` only for the help page, and does not know which commands `help` can name.
  if (command.name() === 'help') return program.commands.map((each) => each.name());
  return first?.argChoices ?? [];
}
