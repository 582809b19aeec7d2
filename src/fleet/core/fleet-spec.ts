import { defaultValue } from '../../core/settings/resolve-settings.ts';
import {
  type Layer,
  layerOf,
  type Source,
  type SourcedSettings,
} from '../../core/settings/setting-source.ts';
import { type SettingName, snakeCase } from '../../core/settings/settings.ts';
import { fromStored, type StoredRun, storedSetting } from '../../core/settings/stored-run.ts';
import { isObject } from '../../core/text/is-object.ts';
import { FLEET_SCHEMA, type FleetSpec } from './fleet-task.ts';
import { submittedSettings } from './submitted-settings.ts';

/** By default, a fleet's task waits up to this long for a usage limit or an outage: meanwhile it takes up no worker. */
const FLEET_MAX_WAIT_MS = 7 * 24 * 3_600_000;

/** The fields that say where a task of a fleet works and who takes it; they are not among its settings. */
export type FleetPlace = Pick<
  FleetSpec,
  'repo' | 'subdir' | 'branch' | 'priority' | 'account' | 'queue'
>;

/** A task with its final settings, merged from all their sources. */
export interface ResolvedTask extends SourcedSettings {
  readonly taskId: string;
  readonly prompt: string;
  readonly taskType: string;
  readonly passthrough: readonly string[];
}

/** Returns settings in which a fleet's defaults replace those of a local run. */
export function withFleetDefaults({ settings, sources }: SourcedSettings): SourcedSettings {
  if (sources.maxWait.kind !== 'default') return { settings, sources };
  return { settings: { ...settings, maxWait: FLEET_MAX_WAIT_MS }, sources };
}

/** Returns a task in the form that a fleet stores. Settings that concern one machine are left out. */
export function fleetSpec(task: ResolvedTask, place: FleetPlace): FleetSpec {
  const stored = submittedSettings().map((name) => [name, storedSetting(task, name)]);
  return {
    schema: FLEET_SCHEMA,
    task_id: task.taskId,
    prompt: task.prompt,
    task_type: task.taskType,
    settings: Object.fromEntries(stored),
    passthrough: task.passthrough,
    base: task.settings.base,
    setup: task.settings.setup,
    ...place,
  };
}

/**
 * Returns the settings of a task as a layer (settings with their sources), to plan a worker's run. Those that concern
 * one machine are left out, even if somebody wrote them into the database. The prompt is included; `base` is not, since
 * the worker itself checks it out.
 */
export function specSettings(spec: FleetSpec): Layer {
  const stored = submittedSettings().map((name) => [name, spec.settings[name]?.value]);
  const beside = { prompt: spec.prompt, taskId: spec.task_id, setup: spec.setup };
  return layerOf({ ...Object.fromEntries(stored), ...beside }, (name) => sourceIn(spec, name));
}

/** Returns the settings of a task in the form in which those of a local run are stored. */
export function storedRunOf({ settings, passthrough, task_type: taskType }: FleetSpec): StoredRun {
  const stored = Object.entries(settings).map(([name, setting]) => [snakeCase(name), setting]);
  return { ...fromStored(Object.fromEntries(stored)), taskType, passthrough, startDir: '/' };
}

function sourceIn(spec: FleetSpec, name: SettingName): Source {
  const stored = spec.settings[name];
  if (stored !== undefined) return { kind: stored.from, where: stored.source };
  return { kind: 'flag', where: SOURCES_BESIDE[name] ?? 'ralph submit' };
}

const SOURCES_BESIDE: Readonly<Partial<Record<SettingName, string>>> = {
  prompt: '--prompt',
  taskId: '--task-id',
  setup: '--setup',
};

/**
 * Returns the content of a task as canonical JSON: equal content gives equal text, wherever the settings came from.
 * Settings with their default value are left out, so that a later release with more settings gives the same text.
 */
export function specContent(spec: FleetSpec): string {
  const { schema, settings, ...others } = spec;
  const given = submittedSettings().flatMap((name) => {
    const value = settings[name]?.value;
    if (value === undefined) return [];
    const usual = name === 'maxWait' ? FLEET_MAX_WAIT_MS : defaultValue(name);
    return value === usual || canonicalJson(value) === canonicalJson(usual) ? [] : [[name, value]];
  });
  return canonicalJson({ ...others, settings: Object.fromEntries(given) });
}

/** The fields of a spec that hold a text, and those that hold a text or null. */
const TEXTS = ['task_id', 'prompt', 'task_type', 'repo', 'branch', 'account', 'queue'];
const TEXTS_OR_NULL = ['base', 'subdir', 'setup'];

/** Whether data from a database has the form of a spec; the content of its texts is not checked. */
export function isFleetSpec(data: unknown): data is FleetSpec {
  if (!isObject(data) || !isObject(data.settings)) return false;
  return (
    TEXTS.every((name) => typeof data[name] === 'string') &&
    TEXTS_OR_NULL.every((name) => data[name] === null || typeof data[name] === 'string') &&
    Number.isInteger(data.schema) &&
    Number.isInteger(data.priority) &&
    Array.isArray(data.passthrough) &&
    data.passthrough.every((word) => typeof word === 'string') &&
    Object.values(data.settings).every(isSubmitted)
  );
}

function isSubmitted(stored: unknown): boolean {
  return (
    isObject(stored) &&
    typeof stored.source === 'string' &&
    typeof stored.from === 'string' &&
    isShallow(stored, LEVELS)
  );
}

/** How deep a stored setting may be nested: enough for a list of checks, and never too deep to be written as JSON. */
const LEVELS = 4;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1));
}

/** Returns plain data as JSON with the keys of every object sorted. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const pairs = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`);
  return `{${pairs.join(',')}}`;
}
