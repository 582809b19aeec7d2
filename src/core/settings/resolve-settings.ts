import { parseValue } from './parse-value.ts';
import type { Layer, Source, SourcedSettings, Sources, Written } from './setting-source.ts';
import {
  isRepeatable,
  SETTINGS,
  type SettingName,
  type Settings,
  settingNames,
} from './settings.ts';

/** Settings with the default instead of each invalid value, so that other problems can be found, too. */
export interface ResolvedSettings extends SourcedSettings {
  readonly bad: ReadonlySet<SettingName>;
  readonly problems: readonly string[];
}

/** Groups of alternatives: a setting in one layer overrides the others of its group in all later layers. */
const GROUPS: readonly (readonly SettingName[])[] = [
  ['prompt', 'promptFile', 'taskFile'],
  ['agent', 'agentCommand'],
  ['judge', 'noJudge', 'judgeCommand'],
  ['quiet', 'verbose'],
  ['edit', 'permissionMode', 'dangerouslySkipPermissions'],
];

/** Returns the defaults of some settings. */
export function defaultsOf(names: readonly SettingName[]): Partial<Settings> {
  const { settings } = resolveSettings([]);
  return Object.fromEntries(names.map((name) => [name, settings[name]]));
}

/** Takes each setting from the first layer (source of settings) that has it. Reports invalid values of every layer. */
export function resolveSettings(layers: readonly Layer[]): ResolvedSettings {
  const problems: string[] = [];
  for (const layer of layers) problems.push(...badValues(layer));
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  const bad = new Set<SettingName>();
  for (const name of settingNames()) {
    const written = firstWritten(name, layers);
    const parsed = written === undefined ? null : parseValue(SETTINGS[name].type, written.value);
    const isGood = parsed !== null && 'value' in parsed;
    if (parsed !== null && !isGood) bad.add(name);
    values[name] = isGood ? parsed.value : defaultValue(name);
    sources[name] = isGood && written ? written.source : { kind: 'default', where: 'default' };
  }
  if (!areSettings(values) || !areSources(sources)) {
    throw new Error('the table of settings does not make settings');
  }
  return { settings: values, sources, bad, problems };
}

function badValues(layer: Layer): readonly string[] {
  const problems: string[] = [];
  for (const name of settingNames()) {
    const written = layer[name];
    if (written === undefined) continue;
    const parsed = parseValue(SETTINGS[name].type, written.value);
    if ('problem' in parsed) problems.push(`${written.source.where} ${parsed.problem}.`);
  }
  return problems;
}

/** Returns a setting together with its alternatives. */
export function groupOf(name: SettingName): readonly SettingName[] {
  return GROUPS.find((names) => names.includes(name)) ?? [name];
}

function firstWritten(name: SettingName, layers: readonly Layer[]): Written | undefined {
  const group = groupOf(name);
  const layer = layers.find((each) => group.some((member) => each[member] !== undefined));
  return layer?.[name];
}

/** Returns the value of a setting that is not given anywhere. */
export function defaultValue(name: SettingName): unknown {
  // Cached, since a batch can have tens of thousands of tasks, each with all settings.
  if (!DEFAULTS.has(name)) DEFAULTS.set(name, readDefault(name));
  return DEFAULTS.get(name);
}

const DEFAULTS = new Map<SettingName, unknown>();

function readDefault(name: SettingName): unknown {
  const { type, default: fallback, negation } = SETTINGS[name];
  if (fallback !== undefined) {
    const parsed = parseValue(type, fallback);
    if ('value' in parsed) return parsed.value;
  }
  if (type.kind === 'switch') return negation === undefined ? false : null;
  return isRepeatable(SETTINGS[name]) ? [] : null;
}

/** Checks only the names: the type `Settings` comes from the same table that has parsed all the values. */
function areSettings(values: Readonly<Record<string, unknown>>): values is Settings {
  return settingNames().every((name) => name in values);
}

function areSources(sources: Readonly<Record<string, Source>>): sources is Sources {
  return settingNames().every((name) => name in sources);
}
