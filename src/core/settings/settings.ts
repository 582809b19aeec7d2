import type { Check } from './checks.ts';
import { AGENT_ROWS } from './rows/agent.ts';
import { COMPLETION_ROWS, PROMPT_ROWS } from './rows/completion.ts';
import { GIT_ROWS } from './rows/git.ts';
import { JUDGE_ROWS } from './rows/judge.ts';
import { LIMIT_ROWS } from './rows/limits.ts';
import { OUTPUT_ROWS, PLACE_ROWS } from './rows/places.ts';
import { PROOF_ROWS } from './rows/proof.ts';
import { SANDBOX_ROWS } from './rows/sandbox.ts';
import { type FlagRow, inGroup, type SettingRow } from './rows/setting-row.ts';
import { SUPERVISOR_ROWS } from './rows/supervisor.ts';

/** Every setting, in the order of the help. */
const TABLE = {
  ...inGroup('Prompt', PROMPT_ROWS),
  ...inGroup('Completion', { ...COMPLETION_ROWS, ...PROOF_ROWS, ...JUDGE_ROWS }),
  ...inGroup('Limits', { ...LIMIT_ROWS, ...SUPERVISOR_ROWS }),
  ...inGroup('Agent', AGENT_ROWS),
  ...inGroup('Sandbox', SANDBOX_ROWS),
  ...inGroup('Git', GIT_ROWS),
  ...inGroup('Around it', PLACE_ROWS),
  ...inGroup('Output', OUTPUT_ROWS),
} satisfies Readonly<Record<string, SettingRow>>;

export type SettingName = keyof typeof TABLE;

/** The type of a setting's row, with its literal values. */
export type SettingRowOf<Name extends SettingName> = (typeof TABLE)[Name];

export const SETTINGS: Readonly<Record<SettingName, SettingRow>> = TABLE;

/** The values of all settings. Durations are in milliseconds; null means that there is no value. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof TABLE)[Name]> };

type ValueOf<Row extends SettingRow> = Row['type'] extends {
  readonly choices: readonly (infer Choice)[];
}
  ? Row['type']['kind'] extends 'choices'
    ? readonly Choice[]
    : Choice
  : Row['type']['kind'] extends 'text' | 'command'
    ? string | null
    : Row['type']['kind'] extends 'texts' | 'agent-texts'
      ? readonly string[]
      : Row['type']['kind'] extends 'checks'
        ? readonly Check[]
        : Row['type']['kind'] extends 'switch'
          ? Row extends { readonly negation: string; readonly default?: never }
            ? boolean | null
            : boolean
          : Row extends { readonly default: string }
            ? number
            : number | null;

const NAMES = Object.keys(TABLE).filter((name): name is SettingName => name in TABLE);

/** Returns the names of all settings, in the order of the help. */
export function settingNames(): readonly SettingName[] {
  return NAMES;
}

/** The names of the settings whose rows have these values in their columns. */
export type SettingWith<Columns> = {
  [Name in SettingName]: (typeof TABLE)[Name] extends Columns ? Name : never;
}[SettingName];

/** Returns the names of the settings whose rows have these values, such as `{ resume: 'fixed' }`, in order. */
export function settingsWith<const Columns extends Partial<SettingRow>>(
  columns: Columns,
): readonly SettingWith<Columns>[] {
  const wanted = Object.entries(columns);
  return NAMES.filter((name): name is SettingWith<Columns> => {
    const row: Readonly<Record<string, unknown>> = { ...SETTINGS[name] };
    return wanted.every(([column, value]) => row[column] === value);
  });
}

/** Whether a setting has several values, so that its flag may be repeated. */
export function isRepeatable({ type }: FlagRow): boolean {
  return type.kind === 'texts' || type.kind === 'checks' || type.kind === 'agent-texts';
}

/** Returns the words that a setting can have as its value; empty if it takes other values. */
export function choicesOf({ type }: FlagRow): readonly string[] {
  return type.kind === 'choice' || type.kind === 'choices' ? type.choices : [];
}

/** Returns the names of the settings for which a configuration file that ralph found must be trusted by a person. */
export function settingNamesNeedingTrust(): readonly SettingName[] {
  return settingNames().filter((name) => SETTINGS[name].trust !== false);
}

/** Returns the environment variable of a setting, such as `RALPH_MAX_ITERATIONS`, or null if it has none. */
export function variableOf(name: SettingName): string | null {
  return SETTINGS[name].variable === false ? null : `RALPH_${snakeCase(name).toUpperCase()}`;
}

/** Returns the key of a setting in configuration files, such as `max_iterations`, or null if it has none. */
export function keyOf(name: SettingName): string | null {
  return SETTINGS[name].key === false ? null : snakeCase(name);
}

/** Returns the flag's aliases in the form of keys: `--completion-promise` is `completion_promise`. */
export function aliasKeys(name: SettingName): readonly string[] {
  return (SETTINGS[name].aliases ?? []).map((flag) => flag.slice(2).replaceAll('-', '_'));
}

/** Returns `maxIterations` as `max_iterations`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
