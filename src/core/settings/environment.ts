import { nearest } from '../text/nearest.ts';
import { VAULT_VARIABLES } from './rescue-settings.ts';
import type { Layer, Written } from './setting-source.ts';
import {
  aliasKeys,
  isRepeatable,
  SETTINGS,
  type SettingName,
  settingNames,
  variableOf,
} from './settings.ts';

/** Variables that tell an agent about its loop. Inside a loop they are not read as settings. */
const IDENTITY = [
  'RALPH_TASK_ID',
  'RALPH_ITERATION',
  'RALPH_MAX_ITERATIONS',
  'RALPH_STATE_FILE',
  'RALPH_RUN_ID',
  'RALPH_IN_SANDBOX',
];

/** The variable that passes the path of the log to a loop in the background. */
export const DETACHED_LOG = 'RALPH_DETACHED_LOG';

/** The variable that names the fleet (machines that share tasks), for commands that work on a fleet. */
export const FLEET_VARIABLE = 'RALPH_FLEET';

/** Another name for `RALPH_TIMEOUT`, for a number of minutes without a unit. */
const TIMEOUT_MINUTES = 'RALPH_TIMEOUT_MINUTES';

/** Reads the `RALPH_*` variables. An unknown variable leads only to a warning. */
export function settingsFromEnvironment(env: NodeJS.ProcessEnv): {
  readonly layer: Layer;
  readonly warnings: readonly string[];
} {
  const isInsideLoop = env.RALPH_RUN_ID !== undefined;
  const names = new Map<string, SettingName>();
  for (const name of settingNames()) {
    const variable = variableOf(name);
    if (variable === null) continue;
    names.set(variable, name);
    for (const further of aliasKeys(name)) names.set(`RALPH_${further.toUpperCase()}`, name);
  }
  const layer: Partial<Record<SettingName, Written>> = {};
  const warnings: string[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('RALPH_') || value === undefined) continue;
    if (variable === DETACHED_LOG || (isInsideLoop && IDENTITY.includes(variable))) continue;
    if (VAULT_VARIABLES.includes(variable) || isOfFleet(variable)) continue;
    const name = names.get(variable);
    const source = { kind: 'variable' as const, where: variable };
    if (name !== undefined) layer[name] ??= { value: readText(name, value), source };
    else if (variable !== TIMEOUT_MINUTES)
      warnings.push(unknownVariable(variable, [...names.keys()]));
  }
  const minutes = env[TIMEOUT_MINUTES];
  if (minutes !== undefined && layer.timeout === undefined) {
    const source = { kind: 'variable' as const, where: TIMEOUT_MINUTES };
    layer.timeout = { value: /^[\d.]+$/.test(minutes) ? `${minutes}m` : minutes, source };
  }
  return { layer, warnings };
}

function isOfFleet(variable: string): boolean {
  return variable === FLEET_VARIABLE || variable.startsWith(`${FLEET_VARIABLE}_`);
}

/** Returns the environment without the variables of a fleet, with which a program could control the fleet's workers. */
export function withoutFleet(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) => !name.startsWith(FLEET_VARIABLE));
  if (names.length === Object.keys(env).length) return env;
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

/** Reads the value of a variable. If the setting takes several texts, each line is one text. */
function readText(name: SettingName, value: string): unknown {
  if (!isRepeatable(SETTINGS[name])) return value;
  return value.split('\n').filter((line) => line.trim() !== '');
}

function unknownVariable(variable: string, known: readonly string[]): string {
  const near = nearest(variable, [...known, TIMEOUT_MINUTES]);
  return `ralph does not know the variable ${variable}${near === null ? '' : `; did you mean ${near}?`}`;
}

/** Returns the log path of a loop in the background, else null. Removes its variable, so that no agent inherits it. */
export function takeDetachedLog(env: NodeJS.ProcessEnv): string | null {
  const log = env[DETACHED_LOG] ?? null;
  delete env[DETACHED_LOG];
  return log;
}
