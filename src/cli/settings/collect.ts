import path from 'node:path';
import { findConfig, readNamedConfig } from '../../compose.ts';
import { nearest } from '../../core/nearest.ts';
import type { Layer, Source, Sources, Written } from '../../core/setting-source.ts';
import type { SettingName, Settings } from '../../core/settings.ts';
import { isPayment, TASK_TYPES, type TaskTypeLimits } from '../../core/task-type.ts';
import type { ConfigSettings } from './config-file.ts';
import { settingsFromEnvironment } from './environment.ts';
import { resolveSettings } from './resolve.ts';

export interface CollectRequest {
  readonly flags: Layer;
  readonly env: NodeJS.ProcessEnv;
  readonly startDir: string;
}

export interface CollectedSettings {
  readonly settings: Settings;
  readonly sources: Sources;
  readonly bad: ReadonlySet<SettingName>;
  readonly taskType: string;
  readonly problems: readonly string[];
  readonly notices: readonly string[];
}

/** Gathers the settings from everywhere they may be written, first hit wins. */
export async function collectSettings(request: CollectRequest): Promise<CollectedSettings> {
  const { flags, env, startDir } = request;
  const variables = settingsFromEnvironment(env);
  const named = placedText(flags.config) ?? placedText(variables.layer.config);
  const search =
    named === undefined
      ? findConfig(startDir, env)
      : readNamedConfig(path.resolve(startDir, named.text), named.where);
  // The YAML reader is loaded only where there is something to read.
  const config =
    search.config === null
      ? NO_CONFIG
      : (await import('./config-file.ts')).readConfig(search.config);
  const types = allTypes(config.taskTypes);
  const written = [flags, variables.layer, config.layer].find((layer) => layer.taskType)?.taskType;
  const type = taskTypeLayer(written, types);
  const fallback = written === undefined ? config.taskTypes.default : undefined;
  const resolved = resolveSettings([
    flags,
    variables.layer,
    type.layer,
    config.layer,
    ...(fallback === undefined ? [] : [layerOf(fallback, 'default')]),
  ]);
  return {
    settings: resolved.settings,
    sources: resolved.sources,
    bad: resolved.bad,
    taskType: textOf(written) ?? 'default',
    problems: [...resolved.problems, ...search.problems, ...config.problems, ...type.problems],
    notices: [...search.notices, ...config.notices, ...variables.warnings],
  };
}

const NO_CONFIG: ConfigSettings = { layer: {}, taskTypes: {}, problems: [], notices: [] };

/** What a configuration says of a built-in type is laid over it: the rest of its limits stay. */
function allTypes(
  own: Readonly<Record<string, TaskTypeLimits>>,
): Readonly<Record<string, TaskTypeLimits>> {
  const changed = Object.entries(own).map(([type, limits]) => [
    type,
    { ...(Object.hasOwn(TASK_TYPES, type) ? TASK_TYPES[type] : {}), ...limits },
  ]);
  return { ...TASK_TYPES, ...Object.fromEntries(changed) };
}

function taskTypeLayer(
  written: Written | undefined,
  types: Readonly<Record<string, TaskTypeLimits>>,
): { readonly layer: Layer; readonly problems: readonly string[] } {
  const type = textOf(written);
  if (written === undefined || type === undefined) return { layer: {}, problems: [] };
  const { where } = written.source;
  if (isPayment(type)) {
    return {
      layer: {},
      problems: [`${where} '${type}' is refused: a payment is never looped; leave it to a person.`],
    };
  }
  const limits = Object.hasOwn(types, type) ? types[type] : undefined;
  if (limits !== undefined) return { layer: layerOf(limits, type), problems: [] };
  const near = nearest(type, Object.keys(types));
  const hint =
    near === null ? `expected one of ${Object.keys(types).join(', ')}` : `did you mean ${near}?`;
  return { layer: {}, problems: [`${where} '${type}' is not a task type; ${hint}`] };
}

function layerOf(limits: TaskTypeLimits, type: string): Layer {
  const source: Source = { kind: 'task-type', where: `task type ${type}` };
  const layer: Partial<Record<SettingName, Written>> = {};
  if (limits.maxIterations !== undefined)
    layer.maxIterations = { value: limits.maxIterations, source };
  if (limits.iterationTimeout !== undefined) {
    layer.iterationTimeout = { value: limits.iterationTimeout, source };
  }
  if (limits.timeout !== undefined) layer.timeout = { value: limits.timeout, source };
  return layer;
}

function placedText(
  written: Written | undefined,
): { readonly text: string; readonly where: string } | undefined {
  const text = textOf(written);
  return text === undefined || written === undefined
    ? undefined
    : { text, where: written.source.where };
}

function textOf(written: Written | undefined): string | undefined {
  return typeof written?.value === 'string' ? written.value : undefined;
}
