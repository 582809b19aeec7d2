import type { Argument, Command, Option } from 'commander';
import { choicesOf as choicesIn, SETTINGS, settingNames } from '../../core/settings/settings.ts';
import { TASK_TYPES } from '../../core/settings/task-type.ts';

/** What a shell can suggest as a value. */
type Suggestion =
  | { readonly kind: 'choices'; readonly choices: readonly string[] }
  | { readonly kind: 'folders' }
  | { readonly kind: 'files' }
  /** Any text: no suggestions. */
  | { readonly kind: 'free' };

export interface CompletedFlag {
  /** The long name first: `--prompt`, `-p`. */
  readonly names: readonly string[];
  readonly description: string;
  /** The name of the flag's value, such as `TEXT`; null if the flag takes no value. */
  readonly argument: string | null;
  readonly value: Suggestion;
  /** Whether this is only another name for a flag, which no shell suggests. */
  readonly isHidden: boolean;
}

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly CompletedFlag[];
  /** Whether the command's first argument is the id of a task. */
  readonly takesId: boolean;
  /** Whether the command's first argument is a file. */
  readonly takesFile: boolean;
  /** The allowed first arguments; empty if any word is allowed. */
  readonly words: readonly string[];
}

/** Returns the commands to complete, derived from the program and the table of settings. */
export function completionModel(program: Command): readonly CompletedCommand[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => commandOf(command, program));
}

function commandOf(command: Command, program: Command): CompletedCommand {
  const hidden = command.options.filter((option) => option.hidden);
  const [first] = command.registeredArguments;
  // Commander creates `help` only for the help page, and does not know which commands it can name.
  const isHelp = command.name() === 'help';
  return {
    name: command.name(),
    description: command.description(),
    flags: [...command.createHelp().visibleOptions(command), ...hidden].map(flagOf),
    takesId: isId(first) || /\[ID\]/.test(command.usage()),
    takesFile: first?.name().toLowerCase() === 'file',
    words: isHelp
      ? program.commands.map((each) => each.name()).filter((name) => !name.startsWith('_'))
      : (first?.argChoices ?? []),
  };
}

function isId(argument: Argument | undefined): boolean {
  return argument?.name().toLowerCase() === 'id';
}

function flagOf(option: Option): CompletedFlag {
  const argument = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? null;
  return {
    names: [option.long, option.short].filter((name) => typeof name === 'string'),
    description: option.description,
    argument,
    value: suggestionFor(option, argument),
    isHidden: option.hidden,
  };
}

const FOLDERS = ['DIR'];
const FILES = ['FILE', 'PATH', 'GLOB', 'COMMAND'];

function suggestionFor(option: Option, argument: string | null): Suggestion {
  const choices = option.argChoices ?? choicesOf(option.long ?? '');
  if (choices.length > 0) return { kind: 'choices', choices };
  if (argument === null) return { kind: 'free' };
  if (FOLDERS.includes(argument)) return { kind: 'folders' };
  return FILES.includes(argument) ? { kind: 'files' } : { kind: 'free' };
}

function choicesOf(flag: string): readonly string[] {
  if (flag === SETTINGS.taskType.flag) return Object.keys(TASK_TYPES);
  const name = settingNames().find((each) => SETTINGS[each].flag === flag);
  return name === undefined ? [] : choicesIn(SETTINGS[name]);
}
