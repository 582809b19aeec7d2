import { AGENT_NAMES, type AgentName, DEFAULT_AGENT } from '../../core/agent/agents/agents.ts';
import { parseValue } from '../../core/settings/parse-value.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import type { SettingKind } from '../../core/settings/rows/setting-row.ts';
import { sandboxProblems } from '../../core/settings/sandbox-problems.ts';
import type { Layer, Written } from '../../core/settings/setting-source.ts';
import {
  SETTINGS,
  type SettingName,
  settingsWith,
  snakeCase,
} from '../../core/settings/settings.ts';
import { isObject } from '../../core/text/is-object.ts';
import { nearest } from '../../core/text/nearest.ts';
import { patternProblem } from './repository-url.ts';

/** What a worker allows the tasks that it takes. */
export interface WorkerPolicy {
  /** Patterns of the allowed repositories; null: every https, ssh and git address. */
  readonly repos: readonly string[] | null;
  readonly agents: readonly AgentName[];
  /** The allowed command lines, each by the name that tasks use, as in `--verify @test`. */
  readonly commands: 'none' | 'any' | ReadonlyMap<string, string>;
  readonly permissionModes: readonly string[];
  readonly allowedTools: 'any' | readonly string[];
  readonly skipPermissions: boolean;
  readonly agentArguments: boolean;
  /** The highest limits that a task may set; null: any. */
  readonly maxIterations: number | null;
  readonly timeoutMs: number | null;
  readonly maxCostUsd: number | null;
  /** The settings of the sandbox in which the worker runs each task. */
  readonly sandbox: Layer;
}

/** What a worker without a policy file allows. */
export const DEFAULT_POLICY: WorkerPolicy = {
  repos: null,
  agents: [DEFAULT_AGENT],
  commands: 'none',
  permissionModes: ['plan', 'default', 'acceptEdits'],
  allowedTools: [],
  skipPermissions: false,
  agentArguments: false,
  maxIterations: null,
  timeoutMs: null,
  maxCostUsd: null,
  sandbox: {},
};

/** Whether a worker runs its tasks in the sandbox. */
export function isSandboxed({ sandbox }: WorkerPolicy): boolean {
  return resolveSettings([sandbox]).settings.sandbox === true;
}

type Read = { readonly value: unknown } | { readonly problem: string };

/** The keys of a policy, each with its field in `WorkerPolicy` and the function that reads its value. */
const KEYS: Readonly<Record<string, readonly [keyof WorkerPolicy, (written: unknown) => Read]>> = {
  repos: ['repos', readRepos],
  agents: ['agents', (written) => parsed({ kind: 'choices', choices: AGENT_NAMES }, written)],
  commands: ['commands', readCommands],
  permission_modes: ['permissionModes', (written) => parsed({ kind: 'texts' }, written)],
  allowed_tools: ['allowedTools', readTools],
  skip_permissions: ['skipPermissions', readSwitch],
  agent_arguments: ['agentArguments', readSwitch],
  max_iterations: ['maxIterations', (written) => parsed(SETTINGS.maxIterations.type, written)],
  timeout: ['timeoutMs', (written) => parsed(SETTINGS.timeout.type, written)],
  max_cost: ['maxCostUsd', (written) => parsed(SETTINGS.maxCost.type, written)],
};

const SANDBOX_KEYS: ReadonlyMap<string, SettingName> = new Map(
  settingsWith({ rescue: 'wall' }).map((name) => [snakeCase(name), name]),
);

/**
 * Reads the data of a policy file. Returns the policy, or all problems, one sentence each without the name of the
 * file. An empty file is the default policy.
 */
export function readWorkerPolicy(
  data: unknown,
): { readonly policy: WorkerPolicy } | { readonly problems: readonly string[] } {
  if (data === null || data === undefined) return { policy: DEFAULT_POLICY };
  if (!isObject(data)) {
    return { problems: ['A policy has keys and values, such as "agents: [claude]".'] };
  }
  const problems: string[] = [];
  const fields: Record<string, unknown> = {};
  const sandbox: Partial<Record<SettingName, Written>> = {};
  for (const [key, written] of Object.entries(data)) {
    const setting = SANDBOX_KEYS.get(key);
    const row = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (setting !== undefined) {
      sandbox[setting] = { value: written, source: { kind: 'config', where: key } };
    } else if (row === undefined) problems.push(unknownKey(key));
    else {
      const [field, read] = row;
      const found = read(written);
      if ('problem' in found) problems.push(`${key} ${found.problem}.`);
      else fields[field] = found.value;
    }
  }
  const resolved = resolveSettings([sandbox]);
  problems.push(...resolved.problems, ...sandboxProblems(resolved));
  if (problems.length > 0) return { problems };
  return { policy: { ...DEFAULT_POLICY, ...fields, sandbox } };
}

function unknownKey(key: string): string {
  const known = [...Object.keys(KEYS), ...SANDBOX_KEYS.keys()];
  const near = nearest(key, known);
  return `${key} is not a key of a policy; ${near === null ? `expected one of ${known.join(', ')}.` : `did you mean ${near}?`}`;
}

function parsed(type: SettingKind, written: unknown): Read {
  const read = parseValue(type, written);
  if (!('value' in read) || type.kind !== 'choices' || !Array.isArray(read.value)) return read;
  return { value: [...new Set(read.value)] };
}

/** Accepts only true and false: a text such as "no" could be meant otherwise. */
function readSwitch(written: unknown): Read {
  return typeof written === 'boolean'
    ? { value: written }
    : { problem: `expects true or false; found ${JSON.stringify(written)}` };
}

function readRepos(written: unknown): Read {
  const read = parsed({ kind: 'texts' }, written);
  if ('problem' in read || !Array.isArray(read.value)) return read;
  for (const pattern of read.value) {
    const problem = patternProblem(pattern);
    if (problem !== null) return { problem: `'${pattern}' ${problem}` };
  }
  return read;
}

function readTools(written: unknown): Read {
  if (written === 'any') return { value: 'any' };
  if (written === 'none') return { value: [] };
  const read = parsed({ kind: 'texts' }, written);
  return 'problem' in read
    ? { problem: `expects any, none, or a list of tools; found ${JSON.stringify(written)}` }
    : read;
}

function readCommands(written: unknown): Read {
  if (written === 'none' || written === 'any') return { value: written };
  if (!isObject(written)) {
    return {
      problem: `expects none, any, or names with a command line each; found ${JSON.stringify(written)}`,
    };
  }
  const commands = Object.entries(written);
  for (const [name, line] of commands) {
    if (!/^[\w.-]+$/.test(name)) {
      return { problem: `expects names of A-Z a-z 0-9 . _ -; found '${name}'` };
    }
    if (typeof line !== 'string' || line.trim() === '') {
      return { problem: `expects a command line for ${name}; found ${JSON.stringify(line)}` };
    }
  }
  return { value: new Map(commands) };
}
