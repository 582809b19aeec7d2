import { writeCheck } from '../../core/settings/checks.ts';
import { writeDuration } from '../../core/settings/duration.ts';
import { permissionsOf } from '../../core/settings/edit-permissions.ts';
import { judgeOf } from '../../core/settings/judge-setting.ts';
import { resolveSettings } from '../../core/settings/resolve-settings.ts';
import { SETTINGS, type Settings } from '../../core/settings/settings.ts';
import { agentsOf } from '../../core/settings/settings-problems.ts';
import { isFleetSpec, specSettings } from './fleet-spec.ts';
import type { FleetSpec } from './fleet-task.ts';
import { COMMANDS_OF_TASK, commandNamed, withNamedCommands } from './named-commands.ts';
import { isRepositoryAllowed } from './repository-url.ts';
import { legProblems, placeProblems } from './spec-problems.ts';
import { isSandboxed, type WorkerPolicy } from './worker-policy.ts';

/**
 * Returns why a worker must not run a task, as one sentence with the policy's key and the value that breaks it; null if
 * the worker may. Also refuses what no policy allows: a task may have come to the database without `ralph submit`.
 */
export function judgeByPolicy(spec: FleetSpec, policy: WorkerPolicy): string | null {
  if (!isFleetSpec(spec)) return 'The task in the database was not written by ralph submit.';
  const [problem] = placeProblems(spec);
  if (problem !== undefined) return problem;
  const resolved = resolveSettings([specSettings(spec)]);
  const { settings } = resolved;
  const [wrong] = [...resolved.problems, ...legProblems(settings)];
  if (wrong !== undefined) return wrong;
  return (
    judgeRepository(spec, policy) ??
    judgeAgents(resolved, policy) ??
    judgeOutside(settings, policy) ??
    judgeCommands(spec, settings, policy) ??
    judgePermissions(withNamedCommands(spec, policy), policy) ??
    judgeLimits(settings, policy)
  );
}

function judgeRepository({ repo }: FleetSpec, { repos }: WorkerPolicy): string | null {
  if (isRepositoryAllowed(repo, repos)) return null;
  return refusal(
    'repos',
    `the repository ${repo}`,
    repos === null ? 'https, ssh and git URLs' : listed(repos),
  );
}

function judgeAgents(
  resolved: Parameters<typeof agentsOf>[0],
  { agents }: WorkerPolicy,
): string | null {
  const other = agentsOf(resolved).find((agent) => !agents.includes(agent));
  if (other !== undefined) return refusal('agents', `--agent ${other}`, listed(agents));
  const judge = judgeOf(resolved.settings);
  return judge === null || agents.includes(judge.agent)
    ? null
    : refusal('agents', `--judge ${judge.agent}`, listed(agents));
}

/** If the policy asks for a sandbox, refuses commands that run outside of it, on files that the agent has changed. */
function judgeOutside({ after, onEnd }: Settings, policy: WorkerPolicy): string | null {
  const flag = after !== null ? '--after' : onEnd !== null ? '--on-end' : null;
  if (flag === null || !isSandboxed(policy)) return null;
  return refusal('sandbox', flag, 'nothing that runs outside of the sandbox');
}

function judgeCommands(
  { setup, task_id: taskId }: FleetSpec,
  settings: Settings,
  policy: WorkerPolicy,
): string | null {
  const { commands } = policy;
  if (commands === 'any') return null;
  const asked = [
    ...(setup === null ? [] : [{ flag: SETTINGS.setup.flag, shown: setup, line: setup }]),
    ...settings.verify.map((check) => ({
      flag: SETTINGS.verify.flag,
      shown: writeCheck(check),
      line: check.command,
    })),
    ...COMMANDS_OF_TASK.flatMap((name) => {
      const line = settings[name];
      return line === null ? [] : [{ flag: SETTINGS[name].flag, shown: line, line }];
    }),
  ];
  const refused = asked.find(({ line }) => commandNamed(line, policy) === null);
  if (refused === undefined) return null;
  const known = commands === 'none' ? [] : [...commands];
  const why = refusal(
    'commands',
    `${refused.flag} '${refused.shown}'`,
    listed(known.map(([name]) => `@${name}`)),
  );
  const [same] = known.find(([, line]) => line === refused.line) ?? [];
  const todo =
    same === undefined
      ? `Give it a name under commands there, and use ${refused.flag} @NAME`
      : `Its name there is @${same}: use ${refused.flag} @${same}`;
  return `${why} ${todo} with ralph submit --again --task-id ${taskId}.`;
}

function judgePermissions(spec: FleetSpec, policy: WorkerPolicy): string | null {
  const resolved = resolveSettings([specSettings(spec)]);
  const { settings } = resolved;
  const { passthrough } = spec;
  const asked = agentsOf(resolved).map((agent) => permissionsOf(settings, agent));
  const mode = asked.map(({ permissionMode }) => permissionMode).find((each) => each !== null);
  if (mode !== undefined && !policy.permissionModes.includes(mode)) {
    return refusal(
      'permission_modes',
      settings.edit ? `--edit (${mode})` : `--permission-mode ${mode}`,
      listed(policy.permissionModes),
    );
  }
  const { allowedTools } = policy;
  if (allowedTools !== 'any') {
    const tools = asked.flatMap((each) => each.allowedTools).flatMap(toolsIn);
    const other = tools.find((tool) => !allowedTools.includes(tool));
    if (other !== undefined) {
      return refusal(
        'allowed_tools',
        settings.allowedTools.flatMap(toolsIn).includes(other)
          ? `--allowed-tools '${other}'`
          : `--edit (${other})`,
        listed(allowedTools),
      );
    }
  }
  if (settings.dangerouslySkipPermissions && !policy.skipPermissions) {
    return refusal('skip_permissions', '--dangerously-skip-permissions', 'nothing of this kind');
  }
  if (passthrough.length > 0 && !policy.agentArguments) {
    return refusal(
      'agent_arguments',
      `'${passthrough.join(' ')}' after --`,
      'nothing of this kind',
    );
  }
  return null;
}

function judgeLimits(settings: Settings, policy: WorkerPolicy): string | null {
  const { maxIterations, timeoutMs, maxCostUsd } = policy;
  if (maxIterations !== null && settings.maxIterations > maxIterations) {
    return refusal(
      'max_iterations',
      `--max-iterations ${settings.maxIterations}`,
      `at most ${maxIterations}`,
    );
  }
  if (timeoutMs !== null && settings.timeout > timeoutMs) {
    return refusal(
      'timeout',
      `--timeout ${writeDuration(settings.timeout)}`,
      `at most ${writeDuration(timeoutMs)}`,
    );
  }
  if (maxCostUsd !== null && (settings.maxCost === null || settings.maxCost > maxCostUsd)) {
    const asked = settings.maxCost === null ? 'no --max-cost' : `--max-cost ${settings.maxCost}`;
    return refusal('max_cost', asked, `at most ${maxCostUsd}`);
  }
  return null;
}

/** Splits `Edit,Bash(git log:*)` at the commas outside of parentheses. */
function toolsIn(text: string): readonly string[] {
  const tools = [''];
  let depth = 0;
  for (const char of text) {
    if (char === ',' && depth === 0) tools.push('');
    else tools.push(`${tools.pop() ?? ''}${char}`);
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
  }
  return tools.map((tool) => tool.trim()).filter((tool) => tool !== '');
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function refusal(key: string, asked: string, allowed: string): string {
  return `${key}: the task asks for ${asked}, and the policy of the worker allows ${allowed}.`;
}
