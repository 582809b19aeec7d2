import { Command, CommanderError } from 'commander';
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
  const command = declareSettings(new Command('run')).exitOverride().configureOutput(SILENT);
  const { problems, wantsHelp } = parse(command, own);
  const [first] = command.args;
  const taskId = name === 'resume' && first !== undefined && !first.startsWith('-') ? first : null;
  problems.push(...strayWords(taskId === null ? command.args : command.args.slice(1), name));
  return { layer: layerFrom(command), passthrough, problems, taskId, wantsHelp };
}

const SILENT = { writeOut() {}, writeErr() {}, outputError() {} };

/** Parses what there is: a last flag that lacks its value is noted, and the rest read without it. */
function parse(
  command: Command,
  own: readonly string[],
): { problems: string[]; wantsHelp: boolean } {
  const problems: string[] = [];
  let words = [...own];
  for (;;) {
    try {
      command.parse(words, { from: 'user' });
      return { problems, wantsHelp: false };
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      if (error.code === 'commander.helpDisplayed') return { problems, wantsHelp: true };
      problems.push(`${words.at(-1)} needs a value, and none was given.`);
      words = words.slice(0, -1);
    }
  }
}

function layerFrom(command: Command): Layer {
  const layer: Partial<Record<SettingName, Written>> = {};
  for (const name of settingNames()) {
    const { flag: ownFlag, aliases = [], type } = SETTINGS[name];
    for (const flag of [ownFlag, ...aliases]) {
      // To commander `--no-progress-limit` is a negation, kept under another name.
      const kept = command.options.find(({ long }) => long === flag)?.attributeName() ?? flag;
      if (command.getOptionValueSource(kept) !== 'cli') continue;
      const value: unknown = type.kind === 'switch' ? true : command.getOptionValue(kept);
      layer[name] ??= { value, source: { kind: 'flag', where: flag } };
    }
  }
  return layer;
}

/** Declares every setting as a flag of a command, but for those that make no sense with it. */
export function declareSettings(command: Command, but: readonly SettingName[] = []): Command {
  command.allowUnknownOption().allowExcessArguments().configureHelp({ helpWidth: 80 });
  for (const name of settingNames().filter((each) => !but.includes(each))) {
    const row = SETTINGS[name];
    const option = command.createOption(flagsOf(row), helpOf(row)).helpGroup(`${row.group}:`);
    if (row.type.kind === 'texts') option.argParser(collect);
    command.addOption(option);
    for (const alias of row.aliases ?? []) {
      const further = command.createOption(`${alias} <${row.argument ?? ''}>`, row.help);
      command.addOption(further.hideHelp());
    }
  }
  return command;
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
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
    ...settingNames().flatMap((each) => [SETTINGS[each].flag, ...(SETTINGS[each].aliases ?? [])]),
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
  return `${flag} is not a flag of ralph ${name}${near === null ? '' : `; did you mean ${near}?`}`;
}

/** Whether the word after this one may be its value. */
function isUnknownFlag(word: string | undefined): boolean {
  return word?.startsWith('-') === true && !word.includes('=');
}
