import type { Command } from 'commander';
import { nearest } from '../../core/settings/nearest.ts';
import {
  VAULT_COMMANDS,
  VAULT_SETTINGS,
  type VaultCommand,
} from '../../core/settings/rescue-settings.ts';
import type { SettingRow } from '../../core/settings/rows/setting-row.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../core/settings/settings.ts';

/** The words of a command line, with values not yet validated. */
export interface ReadFlags {
  readonly layer: Layer;
  /** The words after `--`. */
  readonly passthrough: readonly string[];
  /** All unknown words and missing values. */
  readonly problems: readonly string[];
  /** The task id given to `ralph resume`, or null. */
  readonly taskId: string | null;
  readonly wantsHelp: boolean;
}

/** Reads the arguments of `ralph run` or a vault command, or of `ralph resume`, which takes a task id, too. */
export function readFlags(
  argv: readonly string[],
  name: 'run' | 'resume' | VaultCommand = 'run',
): ReadFlags {
  const dashes = argv.indexOf('--');
  const own = dashes === -1 ? argv : argv.slice(0, dashes);
  const passthrough = dashes === -1 ? [] : argv.slice(dashes + 1);
  const { given, others, problems } = parse(own);
  const [first] = others;
  const taskId = name === 'resume' && first !== undefined && !first.startsWith('-') ? first : null;
  problems.push(...strayWords(taskId === null ? others : others.slice(1), name));
  const wantsHelp = others.some((word) => word === '--help' || word === '-h');
  return { layer: layerFrom(given), passthrough, problems, taskId, wantsHelp };
}

/** Keeps only the flags that say how a task is shown. */
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

/** The values by flag name. */
type Given = ReadonlyMap<string, readonly (string | boolean)[]>;

/**
 * Separates flags and their values from all other words. Written by hand because it runs before each
 * run, and loading commander takes longer than everything else before the start of the agent.
 */
function parse(words: readonly string[]): { given: Given; others: string[]; problems: string[] } {
  const given = new Map<string, (string | boolean)[]>();
  const others: string[] = [];
  const problems: string[] = [];
  const flags = flagTable();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const { name, value: attached } = splitWord(word);
    const found = flags.get(name);
    if (found === undefined || (!found.takesValue && attached !== undefined)) {
      others.push(word);
      continue;
    }
    if (found.takesValue && attached === undefined) at += 1;
    const value = found.takesValue ? (attached ?? words[at]) : !found.isNegation;
    if (value === undefined) problems.push(`${word} needs a value, but none was given.`);
    else given.set(found.flag, [...(given.get(found.flag) ?? []), value]);
  }
  return { given, others, problems };
}

/** Splits `--delay=2s` and `-n5` into flag and value. The value is undefined if it is a separate word. */
function splitWord(word: string): { name: string; value: string | undefined } {
  const [, name = word, value] =
    /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return { name, value };
}

interface FlagForm {
  /** The flag under which the value is stored. */
  readonly flag: string;
  readonly takesValue: boolean;
  readonly isNegation: boolean;
}

function flagTable(): ReadonlyMap<string, FlagForm> {
  const table = new Map<string, FlagForm>();
  for (const name of settingNames()) {
    const { flag, short, aliases = [], negation, type } = SETTINGS[name];
    const form = { flag, takesValue: type.kind !== 'switch', isNegation: false };
    table.set(flag, form);
    if (short !== undefined) table.set(short, form);
    if (negation !== undefined) table.set(negation, { ...form, isNegation: true });
    for (const alias of aliases) table.set(alias, { ...form, flag: alias });
  }
  return table;
}

/** Makes a layer of the flags. If a flag is repeated, the last value counts, or all values of a list. */
function layerFrom(given: Given): Layer {
  const layer: Partial<Record<SettingName, Written>> = {};
  for (const name of settingNames()) {
    const { flag: ownFlag, aliases = [], negation = ownFlag, type } = SETTINGS[name];
    for (const flag of [ownFlag, ...aliases]) {
      const values = given.get(flag);
      if (values === undefined) continue;
      const value: unknown = type.kind === 'texts' ? values : values.at(-1);
      const where = value === false ? negation : flag;
      layer[name] ??= { value, source: { kind: 'flag', where } };
    }
  }
  return layer;
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
    const option = command.createOption(flagsOf(row), helpOf(row)).helpGroup(`${row.group}:`);
    command.addOption(option);
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

function flagsOf({ flag, short, argument }: SettingRow): string {
  return `${short === undefined ? '' : `${short}, `}${flag}${argument === undefined ? '' : ` <${argument}>`}`;
}

function helpOf(row: SettingRow): string {
  const choices = row.type.kind === 'choice' ? ` (${row.type.choices.join(', ')})` : '';
  return `${row.help}${choices}${row.default === undefined ? '' : ` (default: ${row.default})`}`;
}

/** One sentence for each word that is neither a known flag nor its value. */
function strayWords(
  words: readonly string[],
  name: 'run' | 'resume' | VaultCommand,
): readonly string[] {
  const own = name === 'rescue' || name === 'watch' ? VAULT_COMMANDS[name] : [];
  const flags = [
    ...settingNames().flatMap((each) => {
      const { flag, aliases = [], negation } = SETTINGS[each];
      return [flag, ...aliases, ...(negation === undefined ? [] : [negation])];
    }),
    ...own.map((each) => VAULT_SETTINGS[each].flag),
  ];
  const problems: string[] = [];
  words.forEach((word, index) => {
    if (word.startsWith('-') && word !== '-') {
      const flag = word.replace(/=.*$/s, '');
      problems.push(
        flags.includes(flag)
          ? `${flag} takes no value; found '${word}'.`
          : unknown(flag, flags, name),
      );
    } else if (!isUnknownFlag(words[index - 1])) {
      problems.push(
        `ralph ${name} expects only flags; found '${word}'. Quote a value that has spaces, and put words for the agent after --.`,
      );
    }
  });
  return problems;
}

function unknown(flag: string, flags: readonly string[], name: string): string {
  const near = nearest(flag, flags);
  return `${flag} is not a flag of ralph ${name}${near === null ? `; ralph ${name} --help lists them.` : `; did you mean ${near}?`}`;
}

/** Whether this is an unknown flag, whose value may be the next word. */
function isUnknownFlag(word: string | undefined): boolean {
  return word?.startsWith('-') === true && !word.includes('=');
}
