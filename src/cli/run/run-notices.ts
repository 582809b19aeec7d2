import { existsSync } from 'node:fs';
import path from 'node:path';
import { AGENTS } from '../../core/agent/agents/agents.ts';
import { SIGN_NAMES } from '../../core/agent/sign.ts';
import { commandsToCheck, doneWhen } from '../../core/completion/conditions/conditions.ts';
import { judgePromise } from '../../core/completion/promise.ts';
import { runOf } from '../../core/proof/check-words.ts';
import { describeEdit, permissionsOf } from '../../core/settings/edit-permissions.ts';
import { isGiven } from '../../core/settings/setting-source.ts';
import { isTold, SIGNS } from '../../core/supervisor/signs.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { promptNotice } from '../../effects/plan/prompt-source.ts';
import type { RunPlan } from '../../effects/plan/run-plan.ts';
import {
  isNotWatched,
  limitNotHeld,
  limitsNothing,
  mayDoEverything,
  promptIncludesFiles,
  promptStatesPromise,
  runsAgentsFiles,
  startLine,
} from '../../report/notices.ts';

/** Returns the sentences that are printed before the first iteration: what was started, and warnings. */
export function announcements(plan: RunPlan): readonly string[] {
  const { policy } = plan;
  const start = startLine(plan.taskId, {
    maxIterations: policy.maxIterations,
    iterationTimeoutMs: policy.iterationTimeoutMs,
    taskTimeoutMs: plan.taskTimeoutMs,
    completion: doneWhen(policy),
  });
  // A file name may contain anything, even line breaks.
  return [start, ...planWarnings(plan)].map((each) => oneLine(each, 2_000));
}

/** Returns sentences: what `--edit` allows, and warnings about settings that the user perhaps did not mean. */
export function planWarnings(plan: RunPlan): readonly string[] {
  const { policy, settings, sources } = plan;
  const warnings = [promptNotice(plan.prompt) ?? []].flat();
  if (settings.edit) warnings.push(...policy.agents.map((agent) => describeEdit(settings, agent)));
  for (const agent of policy.agents) {
    const { permissionMode } = permissionsOf(settings, agent);
    const { permissionsNotice, readOnlyModes, takes } = AGENTS[agent];
    const allowsNothing =
      (permissionMode === null || readOnlyModes.includes(permissionMode)) &&
      // An agent that does not take `allowedTools` gets nothing from it: the list may be meant for other agents.
      (settings.allowedTools.length === 0 || !takes.includes('allowedTools')) &&
      !settings.dangerouslySkipPermissions &&
      plan.passthrough.length === 0;
    if (permissionsNotice !== null && allowsNothing) warnings.push(permissionsNotice);
  }
  if (skipsPermissions(plan) && !isGiven(sources.sandbox)) warnings.push(mayDoEverything());
  for (const name of ['after', 'onEnd'] as const) {
    const command = settings.sandbox === true ? settings[name] : null;
    if (command !== null && startsFilesOf(plan, command)) {
      warnings.push(runsAgentsFiles(sources[name].where, oneLine(command, 200)));
    }
  }
  for (const limit of ['maxCost', 'maxCostPerDay', 'maxUsage'] as const) {
    const silent = policy.agents.filter((agent) => !AGENTS[agent].takes.includes(limit));
    if (settings[limit] !== null && silent.length > 0) {
      const what = limit === 'maxUsage' ? 'use of its plan' : 'cost';
      warnings.push(limitsNothing(sources[limit].where, silent, what));
    }
  }
  for (const sign of SIGN_NAMES) {
    const { setting } = SIGNS[sign];
    const deaf = policy.agents.filter((agent) => !isTold(sign, agent));
    const isMeant = setting !== 'maxCost' && isGiven(sources[setting]) && settings[setting] !== 0;
    if (isMeant && settings.supervise && deaf.length > 0) {
      warnings.push(limitNotHeld(sources[setting].where, deaf));
    }
  }
  if (settings.protect.length === 0) {
    const hidden = commandsToCheck(policy).flatMap((command) => runOf(command).hidden);
    warnings.push(...[...new Set(hidden)].map((word) => isNotWatched(oneLine(word, 200))));
  }
  const { promise } = policy;
  const text = new TextDecoder().decode(plan.prompt);
  if (promise !== null && couldStatePromise(text, promise, policy)) {
    warnings.push(promptStatesPromise(promise));
  }
  const reading = policy.agents.filter((agent) => AGENTS[agent].expandsAtPaths);
  const isRead = reading.length > 0 && plan.taskFile === null;
  const paths = isRead ? pathsIncluded(text, plan) : [];
  if (paths.length > 0) warnings.push(promptIncludesFiles(reading.join(' and '), paths));
  return warnings;
}

function skipsPermissions({ settings, passthrough }: RunPlan): boolean {
  return (
    settings.dangerouslySkipPermissions ||
    settings.permissionMode === 'bypassPermissions' ||
    passthrough.some((word) => /^--(dangerously-|yolo$|allow-all)/.test(word))
  );
}

/** Programs that start commands which a file of the work folder names. */
const RUNNERS = ['npm', 'npx', 'pnpm', 'yarn', 'bun', 'make', 'just'];

/** Whether a command of the user's settings starts files of the work folder, as far as its words show. */
function startsFilesOf({ cwd }: RunPlan, command: string): boolean {
  const { programs, files } = runOf(command);
  return (
    programs.some((name) => RUNNERS.includes(name)) ||
    files.some((file) => isFileIn(cwd, path.resolve(cwd, file)))
  );
}

function isFileIn(folder: string, file: string): boolean {
  return file.startsWith(`${folder}${path.sep}`);
}

/** Returns the words of a prompt that name an existing file with an `@`, as in `@src/a.ts`. */
function pathsIncluded(text: string, { cwd, env }: RunPlan): readonly string[] {
  const words = text.match(/(?<=^|\s)@[^\s,;:!?)\]}'"`]+/gm) ?? [];
  return [...new Set(words)].filter((word) => {
    const named = word.slice(1).replace(/\.$/, '');
    const home = named.startsWith('~/') ? env.HOME : undefined;
    return existsSync(path.resolve(cwd, home === undefined ? named : `${home}${named.slice(1)}`));
  });
}

/** Whether an agent that repeats `text` could state the promise (words for "done"). Not if the two share a line. */
function couldStatePromise(text: string, promise: string, { match }: RunPlan['policy']): boolean {
  const verdict = judgePromise(text, promise, match, []);
  return (
    verdict.kind === 'stated' || (verdict.kind === 'in-doubt' && verdict.where !== 'shared-line')
  );
}
