import type { Command } from 'commander';
import { nearest } from '../../core/nearest.ts';
import type { Layer, Written } from '../../core/setting-source.ts';
import { SETTINGS, type SettingName, type SettingRow, settingNames } from '../../core/settings.ts';
import { VAULT_COMMANDS, VAULT_SETTINGS, type VaultCommand } from '../../core/vault-settings.ts';

/** The words of a command line, read but not yet judged. */
export interface ReadFlags {
  readonly layer: Layer;
  /** What stood after `--`. */
  readonly passthrough: readonly string[];
  /** Unknown words and missing values, all of them. */
  readonly problems: readonly string[];
  /** The task that `ralph resume` names; null where it names none. */
  readonly taskId: string | null;
  readonly wantsHelp: boolean;
}

/** Reads the flags of `ralph run` from its arguments; of `ralph resume` with the task's id among them. */
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

/** Of the flags, those that say how a task is shown. */
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

/** The values of each flag, as it is written in the table. */
type Given = ReadonlyMap<string, readonly (string | boolean)[]>;

/**
 * Parts flags with their values from all other words. By hand: it is done before each run, and the
 * package that prints the help takes longer to load than all else up to the start of the agent.
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
    if (value === undefined) problems.push(`${word} needs a value, and none was given.`);
    else given.set(found.flag, [...(given.get(found.flag) ?? []), value]);
  }
  return { given, others, problems };
}

/** `--delay=2s` and `-n5` are a flag with its value; a value that stands apart belongs to the next word. */
function splitWord(word: string): { name: string; value: string | undefined } {
  const [, name = word, value] =
    /^(--[^=]+)=(.*)$/s.exec(word) ?? /^(-[^-])(.+)$/s.exec(word) ?? [];
  return { name, value };
}

interface FlagForm {
  /** The flag that it stands for. */
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

/** Of a flag that is given more than once the last counts, or all where it takes a list. */
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

/** Declares every setting as a flag of a command, but for those that make no sense with it. */
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

/** One sentence for each word that is no flag of ours and no value of one. */
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
        `ralph ${name} expects only flags; found '${word}'. Quote a value that has spaces, and put what is meant for the agent after --.`,
      );
    }
  });
  return problems;
}

function unknown(flag: string, flags: readonly string[], name: string): string {
  const near = nearest(flag, flags);
  return `${flag} is not a flag of ralph ${name}${near === null ? `; ralph ${name} --help lists them.` : `; did you mean ${near}?`}`;
}

/** Whether the word after this one may be its value. */
function isUnknownFlag(word: string | undefined): boolean {
  return word?.startsWith('-') === true && !word.includes('=');
}
