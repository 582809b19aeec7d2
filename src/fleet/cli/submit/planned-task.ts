import path from 'node:path';
import { settle } from '../../../compose/settings.ts';
import { rulesForAll } from '../../../core/agent/agents/agents.ts';
import { policyOf, promiseProblems } from '../../../core/policy/policy-of.ts';
import { promptTooLong } from '../../../core/prompt/prompt-room.ts';
import type { Layer, SourcedSettings, Written } from '../../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName, settingNames } from '../../../core/settings/settings.ts';
import { agentsOf, settingsProblems } from '../../../core/settings/settings-problems.ts';
import type { Policy } from '../../../core/task/policy.ts';
import { sha256Of } from '../../../effects/files/file-hash.ts';
import { readPrompt } from '../../../effects/plan/prompt-source.ts';
import { withFrozenCriteria } from '../../../effects/plan/run-plan.ts';
import { fleetSpec, specContent, withFleetDefaults } from '../../core/fleet-spec.ts';
import type { FleetSpec } from '../../core/fleet-task.ts';
import { readNotBefore } from '../../core/not-before.ts';
import {
  legProblems,
  type Naming,
  placeProblems,
  unstorableText,
} from '../../core/spec-problems.ts';
import {
  SUBMIT_SETTINGS,
  type SubmitLayer,
  type SubmitSettingName,
} from '../../core/submit-settings.ts';
import { whyNotSubmitted } from '../../core/submitted-settings.ts';
import type { openNamed } from '../on-fleet.ts';

export type Fleet = Awaited<ReturnType<typeof openNamed>>;

type NewFleetTask = Parameters<Fleet['submit']>[0][number];

export interface TaskToQueue {
  readonly task: NewFleetTask;
  readonly policy: Policy;
}

/** A task to submit, as the user wrote it. */
export interface TaskToPlan {
  /** The settings that were written for this task itself, by flags or in a line of a batch. */
  readonly layer: Layer & SubmitLayer;
  /** The settings from environment variables that a task may have: see `variablesOfTask`. */
  readonly variables: Layer;
  readonly passthrough: readonly string[];
  readonly startDir: string;
  readonly again: boolean;
  /** Returns how messages name a flag: by itself, or by its key in a line of a batch. */
  readonly named: Naming;
  /** Reads standard input; absent if the prompt cannot come from there. */
  readonly readStdin?: () => Promise<Uint8Array>;
  readonly newTaskId: () => string;
}

/**
 * Resolves all settings of a task and checks them, without a configuration file. Resolves to the task, or to all
 * problems, one sentence each.
 */
export async function planTask(
  wanted: TaskToPlan,
): Promise<TaskToQueue | { readonly problems: readonly string[] }> {
  const { layer, variables, passthrough, startDir, named } = wanted;
  const problems = [...machineProblems(layer)];
  const settled = await settle({
    flags: withoutMachine(layer),
    variables,
    config: {},
    taskTypes: {},
    startDir,
  });
  const { bad, taskType } = settled;
  const { settings: resolved, sources } = await withFrozenCriteria(
    withFleetDefaults(settled),
    startDir,
    problems,
  );
  const settings = { ...resolved, agent: agentsOf({ settings: resolved, sources }) };
  problems.push(...settled.valueProblems, ...settled.problems);
  const prompt = await promptOf(wanted, { settings, sources }, bad, problems);
  const policy = policyOf({ settings, sources }, NO_FACTS);
  // `base` is left out, since a local run may only have it with a work tree of its own, which a fleet always makes.
  const ofRun = { settings: { ...settings, base: null }, sources, bad, passthrough };
  problems.push(...promiseProblems(policy, sources), ...settingsProblems(ofRun));
  const taskId = settings.taskId ?? wanted.newTaskId();
  const text = prompt === null ? '' : decoded(prompt, problems);
  const spec = fleetSpec(
    { settings, sources, taskId, taskType, passthrough, prompt: text },
    {
      repo: textOf('repo', wanted, problems) ?? '',
      subdir: textOf('subdir', wanted, problems),
      branch: textOf('branch', wanted, problems) ?? `ralph/${taskId}`,
      account: textOf('account', wanted, problems) ?? 'default',
      queue: textOf('queue', wanted, problems) ?? 'default',
      priority: priorityOf(wanted, problems),
    },
  );
  if (layer.repo === undefined) {
    problems.push(
      `${named('--repo')} is missing: the URL of the repository to work on is expected.`,
    );
  } else problems.push(...placeProblems(spec, named));
  problems.push(...legProblems(settings, named));
  if (prompt !== null) {
    problems.push(...policy.agents.flatMap((agent) => promptTooLong(prompt, agent) ?? []));
  }
  const written = given(layer).map(([, { value, source }]) => [source.where, value]);
  const odd =
    unstorableText(Object.fromEntries(written)) ??
    unstorableText({ [named('--prompt')]: text, [named('--agent-arguments')]: passthrough });
  if (odd !== null) {
    problems.push(
      `${odd} has a character that PostgreSQL does not store: NUL, or half of a surrogate pair.`,
    );
  }
  problems.push(...sizeProblems(spec));
  const notBefore = notBeforeOf(wanted, problems);
  if (problems.length > 0) return { problems: [...new Set(problems)] };
  return { task: { spec, contentSha256: hashOf(spec), notBefore, again: wanted.again }, policy };
}

/** Returns the settings that a task gets from variables, and notices about those that it cannot have. */
export function variablesOfTask(variables: Layer): {
  readonly layer: Layer;
  readonly notices: readonly string[];
} {
  const notices = given(variables).flatMap(([name, { source }]) => {
    const why = whyNotSubmitted(name);
    // Output settings are not reported: users set them for all commands.
    const isTold = why !== null && SETTINGS[name].group !== 'Output';
    return isTold ? [`${source.where} is ignored: ${why}.`] : [];
  });
  return { layer: withoutMachine(variables), notices };
}

function withoutMachine(layer: Layer): Layer {
  return Object.fromEntries(given(layer).filter(([name]) => whyNotSubmitted(name) === null));
}

function machineProblems(layer: Layer): readonly string[] {
  return given(layer).flatMap(([name, { source }]) => {
    const why = whyNotSubmitted(name);
    return why === null ? [] : [`${source.where} is not for ralph submit: ${why}.`];
  });
}

function given(layer: Layer): readonly (readonly [SettingName, Written])[] {
  return settingNames().flatMap((name) => {
    const written = layer[name];
    return written === undefined ? [] : [[name, written] as const];
  });
}

/** The policy made here serves only to check and describe the task, so it needs no facts of a worker. */
const NO_FACTS = {
  fileInWork: null,
  doneFolder: 'Done',
  approvalRequired: null,
  timeZone: () => 'UTC',
};

async function promptOf(
  { startDir, named, passthrough, ...wanted }: TaskToPlan,
  { settings, sources }: SourcedSettings,
  bad: ReadonlySet<SettingName>,
  problems: string[],
): Promise<Uint8Array | null> {
  const names = ['prompt', 'promptFile'] as const;
  if (names.some((name) => bad.has(name))) return null;
  const count = names.filter((name) => settings[name] !== null).length;
  if (count !== 1) {
    const found = count === 0 ? 'neither' : 'both';
    problems.push(
      `A task has either ${named('--prompt')} or ${named('--prompt-file')}; found ${found}.`,
    );
    return null;
  }
  const isStdin = settings.prompt === '-' || settings.promptFile === '/dev/stdin';
  if (isStdin && wanted.readStdin === undefined) {
    problems.push(`${named('--prompt')} expects a text; in a batch, standard input is no prompt.`);
    return null;
  }
  const { promptFile } = settings;
  return readPrompt(
    { settings, sources, bad, passthrough, ...wanted },
    {
      promptFile: promptFile === null ? null : path.resolve(startDir, promptFile),
      taskFile: null,
      vault: startDir,
      rules: rulesForAll(settings.agent),
    },
    problems,
  );
}

function decoded(prompt: Uint8Array, problems: string[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(prompt);
  } catch {
    problems.push('The prompt is not text in UTF-8, which a fleet stores; convert it with iconv.');
    return '';
  }
}

function textOf(
  name: SubmitSettingName,
  { layer, named }: TaskToPlan,
  problems: string[],
): string | null {
  const value = layer[name]?.value ?? null;
  if (value === null || typeof value === 'string') return value;
  problems.push(
    `${named(SUBMIT_SETTINGS[name].flag)} expects text; found ${JSON.stringify(value)}.`,
  );
  return null;
}

/** The limits of the fleet's tables for the settings of a task, and for the rest of it, in bytes of JSON. */
const MOST_BYTES_OF_SETTINGS = 1_000_000;
const MOST_BYTES = 8_000_000;

function sizeProblems({ settings, ...rest }: FleetSpec): readonly string[] {
  const isTooLarge =
    Buffer.byteLength(JSON.stringify(settings)) >= MOST_BYTES_OF_SETTINGS ||
    Buffer.byteLength(JSON.stringify(rest)) >= MOST_BYTES;
  return isTooLarge
    ? ['A fleet stores less than 1 MB of settings of a task, and 8 MB of all else; found more.']
    : [];
}

function priorityOf({ layer, named }: TaskToPlan, problems: string[]): number {
  const value = layer.priority?.value ?? 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && /^[+-]?\d{1,9}$/.test(value)) return Number(value);
  problems.push(
    `${named('--priority')} expects a whole number from -100 to 100; found ${JSON.stringify(value)}.`,
  );
  return 0;
}

function notBeforeOf({ layer, named }: TaskToPlan, problems: string[]): string | number | null {
  const value = layer.notBefore?.value;
  if (value === undefined) return null;
  const read = typeof value === 'string' ? readNotBefore(value) : null;
  if (read === null) {
    problems.push(
      `${named('--not-before')} expects a time with its zone, such as 2027-01-31T22:00:00+01:00, or a duration from now, such as 2h; found ${JSON.stringify(value)}.`,
    );
  }
  return read;
}

function hashOf(spec: FleetSpec): string {
  return sha256Of(specContent(spec));
}
