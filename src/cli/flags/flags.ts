import type { Command } from 'commander';
import { LIST_FLAGS } from '../../core/list/list-names.ts';
import {
  VAULT_COMMANDS,
  VAULT_SETTINGS,
  type VaultCommand,
  type VaultLayer,
  type VaultSettingName,
} from '../../core/settings/rescue-settings.ts';
import type { FlagRow } from '../../core/settings/rows/setting-row.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import {
  choicesOf,
  isRepeatable,
  SETTINGS,
  type SettingName,
  settingNames,
} from '../../core/settings/settings.ts';
import { nearest } from '../../core/text/nearest.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';

/** The settings that a command has, by name: the settings of a run, and the command's own. */
type Rows = Readonly<Record<string, FlagRow>>;

/** What a command line says. The values are not yet validated. */
export interface ReadFlags {
  readonly layer: Layer & VaultLayer;
  /** The words after `--`. */
  readonly passthrough: readonly string[];
  /** One sentence for each unknown word and each missing value. */
  readonly problems: readonly string[];
  /** The task id given to `ralph resume`, or the list given to `ralph work`; null if none was given. */
  readonly taskId: string | null;
  /** The prompt, if it was given as an argument. `layer` contains it, too, as if `--prompt` had given it. */
  readonly promptArgument: string | null;
  readonly wantsHelp: boolean;
}

const TAKING_PROMPT: readonly string[] = ['run', 'submit'];

const TAKING_NAME: readonly string[] = ['resume', 'work'];

/** Reads the arguments of a command that runs tasks. */
export function readFlags(argv: readonly string[], name: 'run' | VaultCommand = 'run'): ReadFlags {
  const own: readonly VaultSettingName[] =
    name === 'rescue' || name === 'watch' ? VAULT_COMMANDS[name] : [];
  return readFlagsWith(
    argv,
    name,
    Object.fromEntries(own.map((each) => [each, VAULT_SETTINGS[each]])),
  );
}

/** Reads the arguments of a command that has its own settings in addition to those of a run. */
export function readFlagsWith<Own extends string>(
  argv: readonly string[],
  name: string,
  own: Readonly<Record<Own, FlagRow>>,
): ReadFlags & { readonly layer: Readonly<Partial<Record<Own, Written>>> } {
  const rows: Rows = { ...SETTINGS, ...own };
  const dashes = argv.indexOf('--');
  const words = dashes === -1 ? argv : argv.slice(0, dashes);
  const passthrough = dashes === -1 ? [] : argv.slice(dashes + 1);
  const flags = flagTable(rows);
  const { layer, others, problems } = parse(words, flags);
  const [first] = others;
  const taskId =
    TAKING_NAME.includes(name) && first !== undefined && !first.startsWith('-') ? first : null;
  const known = [...flags.keys()].filter((flag) => flag.startsWith('--'));
  const stray = taskId === null ? others : others.slice(1);
  const prompt = TAKING_PROMPT.includes(name) ? readPromptArgument(stray, layer, name) : NO_PROMPT;
  problems.push(...strayWords(stray, known, name), ...prompt.problems);
  if (prompt.text !== null) layer.prompt = { value: prompt.text, source: FROM_ARGUMENT };
  // The prompt's problem is already reported; the placeholder keeps a missing prompt from being reported, too.
  else if (prompt.problems.length > 0) layer.prompt ??= { value: '…', source: FROM_ARGUMENT };
  const wantsHelp = others.some((word) => word === '--help' || word === '-h');
  return {
    layer: layer as Layer & Partial<Record<Own, Written>>,
    passthrough,
    problems,
    taskId,
    promptArgument: prompt.text,
    wantsHelp,
  };
}

/** A prompt given as an argument counts as `--prompt`, so that messages about it name a flag that can be typed. */
const FROM_ARGUMENT = { kind: 'flag', where: SETTINGS.prompt.flag } as const;

interface PromptArgument {
  readonly text: string | null;
  readonly problems: readonly string[];
}

const NO_PROMPT: PromptArgument = { text: null, problems: [] };

/** Finds the prompt among the words that are neither flags nor their values. */
function readPromptArgument(
  stray: readonly string[],
  layer: Partial<Record<string, Written>>,
  name: string,
): PromptArgument {
  const words = stray.filter((word, at) => !word.startsWith('-') && !isUnknownFlag(stray[at - 1]));
  const [text] = words;
  if (text === undefined) return NO_PROMPT;
  const wrong = (problem: string): PromptArgument => ({ text: null, problems: [problem] });
  if (words.length > 1) {
    const whole = words.map((word) => oneLine(word, 40)).join(' ');
    return wrong(
      `ralph ${name} expects the prompt as one argument, found ${words.length}: put it in quotes, as in ralph ${name} ${JSON.stringify(oneLine(whole, 80))}.`,
    );
  }
  const other = layer.prompt ?? layer.promptFile ?? layer.batch;
  if (other === undefined) return { text, problems: [] };
  return wrong(
    `ralph ${name} takes one prompt, found ${JSON.stringify(oneLine(text, 80))} beside ${other.source.where}: remove one of them.`,
  );
}

/** Returns only those flags that say how a task is shown (the group `Output`). */
export function outputFlags(flags: ReadFlags): ReadFlags {
  const shown = settingNames().filter((name) => SETTINGS[name].group === 'Output');
  const layer = Object.fromEntries(
    shown.flatMap((name) => {
      const written = flags.layer[name];
      return written === undefined ? [] : [[name, written]];
    }),
  );
  return { ...flags, layer, passthrough: [], problems: [] };
}

/**
 * Separates flags and their values from all other words. Written by hand because this happens before each run: loading
 * commander takes longer than everything else before the start of the agent, and `parseArgs` of node takes 1 ms.
 */
function parse(words: readonly string[], flags: FlagTable) {
  const layer: Partial<Record<string, Written>> = {};
  const others: string[] = [];
  const problems: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const { flag, value: attached } = splitWord(word);
    const found = flags.get(flag);
    const isSwitch = found !== undefined && found.row.type.kind === 'switch';
    // A switch (a flag without a value) to which a value is attached is not accepted.
    if (found === undefined || (isSwitch && attached !== undefined)) {
      others.push(word);
      continue;
    }
    if (!isSwitch && attached === undefined) at += 1;
    const value = attached ?? (isSwitch ? !found.isNegation : words[at]);
    if (value === undefined) problems.push(`${word} needs a value, but none was given.`);
    else layer[found.setting] = together(layer[found.setting], found, value);
  }
  return { layer, others, problems };
}

/** Splits `--delay=2s` and `-n5` into flag and value. The value is undefined if it is a separate word. */
function splitWord(word: string): { flag: string; value: string | undefined } {
  const [, flag = word, value] =
    /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return { flag, value };
}

interface Flag {
  readonly setting: string;
  readonly row: FlagRow;
  /** The long form of the flag, for messages. */
  readonly where: string;
  readonly isNegation: boolean;
}

/** The flags of a command by each of their forms: `--prompt` and `-p`. */
type FlagTable = ReadonlyMap<string, Flag>;

function flagTable(rows: Rows): FlagTable {
  const table = new Map<string, Flag>();
  for (const [setting, row] of Object.entries(rows)) {
    const { flag, short, aliases = [], negation } = row;
    const named = (where: string): Flag => ({ setting, row, where, isNegation: false });
    for (const where of [flag, ...aliases]) table.set(where, named(where));
    if (negation !== undefined) table.set(negation, { ...named(negation), isNegation: true });
    if (short !== undefined) table.set(short, named(flag));
  }
  return table;
}

/** Combines a value with an earlier one: the last counts, a list keeps all, and a flag overrides its aliases. */
function together(
  before: Written | undefined,
  { row, where }: Flag,
  value: string | boolean,
): Written {
  const { flag, aliases = [] } = row;
  if (before?.source.where === flag && aliases.includes(where)) return before;
  const list = before?.source.where === where && Array.isArray(before.value) ? before.value : [];
  return {
    value: isRepeatable(row) ? [...list, value] : value,
    source: { kind: 'flag', where },
  };
}

/** Declares every setting, except those in `but`, as a flag of a command. */
export function declareSettings(command: Command, but: readonly SettingName[] = []): Command {
  command
    .allowUnknownOption()
    .allowExcessArguments()
    .configureHelp({ helpWidth: 80 })
    .addHelpOption(command.createOption('-h, --help', 'print this help').helpGroup('Output:'));
  for (const name of settingNames().filter((each) => !but.includes(each))) {
    const row = SETTINGS[name];
    declareRow(command, row);
    if (row.negation !== undefined) {
      command.addOption(command.createOption(row.negation, row.help).hideHelp());
    }
    for (const alias of row.aliases ?? []) {
      const further = command.createOption(`${alias} <${row.argument ?? ''}>`, row.help);
      command.addOption(further.hideHelp());
    }
  }
  return command;
}

/** Declares one setting as a flag of a command. */
export function declareRow(command: Command, row: FlagRow): void {
  command.addOption(command.createOption(flagsOf(row), helpOf(row)).helpGroup(`${row.group}:`));
}

function flagsOf({ flag, short, argument }: FlagRow): string {
  return `${short === undefined ? '' : `${short}, `}${flag}${argument === undefined ? '' : ` <${argument}>`}`;
}

function helpOf(row: FlagRow): string {
  const words = choicesOf(row).join(', ');
  const choices = words === '' ? '' : ` (${words})`;
  return `${row.help}${choices}${row.default === undefined ? '' : ` (default: ${row.default})`}`;
}

/** Returns one sentence for each word that is neither a known flag, the value of a flag, nor a prompt. */
function strayWords(
  words: readonly string[],
  flags: readonly string[],
  name: string,
): readonly string[] {
  const problems: string[] = [];
  words.forEach((word, index) => {
    if (word.startsWith('-') && word !== '-') {
      const flag = word.replace(/=.*$/s, '');
      problems.push(
        flags.includes(flag)
          ? `${flag} takes no value; found '${word}'.`
          : unknown(flag, flags, name),
      );
    } else if (!TAKING_PROMPT.includes(name) && !isUnknownFlag(words[index - 1])) {
      problems.push(
        `ralph ${name} expects only flags; found '${word}'. Quote a value that has spaces, and put words for the agent after --.`,
      );
    }
  });
  return problems;
}

function unknown(flag: string, flags: readonly string[], name: string): string {
  if (name === 'run' && LIST_FLAGS.includes(flag)) {
    return `${flag} is not a flag of ralph run: ralph work LIST works through a list of tasks.`;
  }
  const near = nearest(flag, flags);
  return `${flag} is not a flag of ralph ${name}${near === null ? `; ralph ${name} --help lists them.` : `; did you mean ${near}?`}`;
}

/** Whether a word is an unknown flag without `=`, so that the next word may be its value. */
function isUnknownFlag(word: string | undefined): boolean {
  return word?.startsWith('-') === true && !word.includes('=');
}
