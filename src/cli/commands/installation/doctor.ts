import path from 'node:path';
import { examineAgent } from '../../../compose/agent.ts';
import { knowsAuthor, lookAhead } from '../../../compose/before-start.ts';
import { examineSnapshots } from '../../../compose/git-commands/snapshot-facts.ts';
import { sandboxRefusals } from '../../../compose/sandbox/sandbox-refusals.ts';
import { AGENTS, type AgentName } from '../../../core/agent/agents/agents.ts';
import type { DoctorFinding } from '../../../core/agent/finding.ts';
import { isGiven, layerOf } from '../../../core/settings/setting-source.ts';
import { SETTINGS } from '../../../core/settings/settings.ts';
import { agentsOf } from '../../../core/settings/settings-problems.ts';
import { shownState } from '../../../core/task/shown-task.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';
import { freeBytes, probeFolder } from '../../../effects/files/folder-probe.ts';
import { leadsOut } from '../../../effects/files/real-path.ts';
import { probeGit } from '../../../effects/git/git-probe.ts';
import { thisPlace } from '../../../effects/lock/driver-identity.ts';
import { findStaleLocks } from '../../../effects/lock/lock-folder.ts';
import { isOfAgent, outerEnvironment } from '../../../effects/plan/outer-environment.ts';
import { planRun } from '../../../effects/plan/run-plan.ts';
import { askVersion } from '../../../effects/processes/ask-version.ts';
import { listTasks } from '../../../effects/state/task-list.ts';
import { keyFlag } from '../../../effects/trust/key.ts';
import { vaultAbove } from '../../../effects/vault/vault-above.ts';
import { VAULT_FOLDERS } from '../../../effects/vault/vault-folders.ts';
import { messageOf, SandboxError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { worksOn } from '../../../printed-command.ts';
import {
  type AgentFacts,
  agentFindings,
  folderFinding,
  gitFindings,
  hookFindings,
  problem,
  renderFindings,
  sandboxFindings,
  settingsFindings,
  spaceFindings,
  stateFindings,
  strayFinding,
  type TroubledTask,
  untrustedFindings,
} from '../../../report/screens/doctor.ts';
import { snapshotFindings } from '../../../report/screens/snapshot-findings.ts';
import { type CollectedSettings, collectSettings } from '../../settings/collect.ts';
import { isFound, startFolder } from '../../tasks/named-folders.ts';
import { signalled } from '../../terminal/outlet.ts';

export interface DoctorOptions {
  readonly vault?: string;
  readonly stateDir?: string;
  readonly cwd?: string;
  readonly config?: string;
  readonly agent?: string;
  readonly agentBin?: readonly string[];
  readonly agentCommand?: string;
}

const EXIT_INTERRUPTED = 130;
const VERSION_TIMEOUT_MS = 10_000;

/** `ralph doctor`: checks whether a run could start. Changes and sends nothing. Resolves to 1 if a run would fail. */
export async function doctor(
  options: DoctorOptions,
  env: NodeJS.ProcessEnv = process.env,
  signal: AbortSignal = signalled(),
): Promise<number> {
  const all = await examine(options, env, signal);
  if (signal.aborted) return EXIT_INTERRUPTED;
  const shown = all.map((each) => ({ ...each, says: oneLine(each.says, 1_000) }));
  process.stdout.write(renderFindings(shown));
  return all.some(({ kind }) => kind === 'problem') ? EXIT_FAILED : 0;
}

async function examine(
  options: DoctorOptions,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly DoctorFinding[]> {
  const startDir = startFolder();
  // Untrusted settings can name programs and folders, so `ralph doctor` leaves these settings out.
  const collected = await collectSettings({
    flags: layerOf({ ...options }, (name) => ({ kind: 'flag', where: SETTINGS[name].flag })),
    env,
    startDir,
    untrusted: 'leave-out',
  });
  const { settings } = collected;
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
  const vault = path.resolve(startDir, settings.vault ?? vaultAbove(startDir));
  const stateDir =
    settings.stateDir === null
      ? path.join(vault, '.ralph_state')
      : path.resolve(cwd, settings.stateDir);
  const keyFile = settings.keyFile === null ? null : path.resolve(startDir, settings.keyFile);
  worksOn({ vault, stateDir, keyFlag: keyFlag(keyFile, env) }, isFound);
  const { untrusted } = collected;
  const isOfAgent = choosesAgent(collected);
  const agents: AgentFacts[] = [];
  for (const name of isOfAgent ? [] : agentsOf(collected)) {
    agents.push(await agentFacts(name, { ...collected, startDir }, cwd, env, signal));
  }
  const planned = await plannedRun(collected, startDir, env);
  const { refusals } =
    'plan' in planned ? await lookAhead({ plan: planned.plan, isNew: true }) : { refusals: [] };
  const refused = (isBySandbox: boolean): readonly string[] =>
    refusals
      .filter((each) => each instanceof SandboxError === isBySandbox)
      .map(({ message }) => message);
  const git = await probeGit(cwd, env, signal);
  const lacksAuthor = git === 'work-tree' && !settings.commit && !(await knowsAuthor(cwd, env));
  const [vaultProbe, stateProbe] = [probeFolder(vault), probeFolder(stateDir)];
  const isStateShown = stateProbe.kind === 'not-writable' && vaultProbe.kind !== 'not-writable';
  const strays = VAULT_FOLDERS.filter((name) => leadsOut(path.join(vault, name), vault));
  return [
    ...settingsFindings(
      [...collected.problems, ...('plan' in planned ? [] : planned.problems), ...refused(false)],
      [...collected.powers, ...collected.notices],
    ),
    ...(untrusted === null ? [] : untrustedFindings(untrusted, isOfAgent)),
    ...agents.flatMap(agentFindings),
    folderFinding('vault', vault, vaultProbe, '--vault DIR'),
    ...(isStateShown
      ? [folderFinding('state folder', stateDir, stateProbe, '--state-dir DIR')]
      : []),
    ...strays.map(strayFinding),
    ...spaceFindings(freeBytes(stateDir), stateDir),
    ...gitFindings(git, cwd, lacksAuthor),
    ...snapshotFindings(
      settings.snapshots === false ? null : await examineSnapshots(cwd, env, signal),
    ),
    ...sandboxFindings(
      [...new Set([...(await sandboxRefusals(cwd, env, signal)), ...refused(true)])],
      settings.sandbox === true,
    ),
    ...agents.flatMap(hookFindings),
    ...examineStates(stateDir),
  ];
}

/** Whether an untrusted configuration says which program is the agent, and neither a flag nor a variable does. */
function choosesAgent(collected: CollectedSettings): boolean {
  const { untrusted, sources } = collected;
  const isChosen = isGiven(sources.agent) || isGiven(sources.agentCommand);
  const taken: readonly string[] = agentsOf(collected).flatMap((name) => AGENTS[name].takes);
  return (['agent', 'agentBin', 'agentCommand'] as const).some(
    (name) =>
      (untrusted?.powers.some((power) => power.name === name) ?? false) &&
      !isGiven(sources[name]) &&
      (!isChosen || taken.includes(name)),
  );
}

/** Plans a run with these settings and any prompt. Returns the plan, or the problems that every such run has. */
function plannedRun(
  collected: CollectedSettings,
  startDir: string,
  env: NodeJS.ProcessEnv,
): ReturnType<typeof planRun> {
  return planRun({
    ...collected,
    passthrough: [],
    startDir,
    env,
    keptPrompt: new TextEncoder().encode('any'),
    newTaskId: () => 'doctor',
  });
}

async function agentFacts(
  name: AgentName,
  run: CollectedSettings & { readonly startDir: string },
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<AgentFacts> {
  const { settings } = run;
  const examined = examineAgent(name, { settings, passthrough: [], cwd, env });
  const { program } = examined;
  const { versionVariables } = AGENTS[name];
  const question = { cwd, timeoutMs: VERSION_TIMEOUT_MS, signal };
  const own = { ...outerEnvironment(env, run), ...versionVariables };
  // A program in a folder that the agent can write may come from the agent, so it is not run outside the sandbox.
  const version =
    'missing' in program || versionVariables === null || isOfAgent(program.file, env, run)
      ? null
      : await askVersion({ ...question, ...program, env: own });
  return { name, ...examined, version };
}

function examineStates(stateDir: string): readonly DoctorFinding[] {
  const here = thisPlace(new Date().toISOString());
  const staleLocks = findStaleLocks(stateDir, here);
  try {
    const troubled = listTasks(stateDir, 0).open.flatMap(
      ({ name, stateFile, found }): readonly TroubledTask[] => {
        if (found.kind !== 'task') return [{ taskId: name, stateFile, how: found.kind }];
        // A task kept by a program that uses ralph as a library has no process of its own, so it cannot be interrupted.
        const isCut =
          found.state.kept_by === undefined && shownState(found.state, here) === 'interrupted';
        return isCut ? [{ taskId: name, stateFile, how: 'interrupted' }] : [];
      },
    );
    return stateFindings(troubled, staleLocks, stateDir);
  } catch (error) {
    return [problem(`states: ${messageOf(error)}`)];
  }
}
