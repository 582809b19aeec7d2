import path from 'node:path';
import { examineAgent } from '../../../compose/agent.ts';
import { knowsAuthor, lookAhead } from '../../../compose/before-start.ts';
import { examineSnapshots } from '../../../compose/git-commands/snapshot-facts.ts';
import { sandboxRefusals } from '../../../compose/sandbox/sandbox-refusals.ts';
import { AGENTS, type AgentName } from '../../../core/agent/agents/agents.ts';
import { textFor } from '../../../core/settings/agent-texts.ts';
import { resolveSettings } from '../../../core/settings/resolve-settings.ts';
import { isGiven, type Layer, type Written } from '../../../core/settings/setting-source.ts';
import { SETTINGS, type SettingName } from '../../../core/settings/settings.ts';
import { agentsOf } from '../../../core/settings/settings-problems.ts';
import { shownState } from '../../../core/task/shown-task.ts';
import { oneLine } from '../../../core/text/untrusted-text.ts';
import { freeBytes, probeFolder } from '../../../effects/files/folder-probe.ts';
import { leadsOut } from '../../../effects/files/real-path.ts';
import { probeGit } from '../../../effects/git/git-probe.ts';
import { thisPlace } from '../../../effects/lock/driver-identity.ts';
import { findStaleLocks } from '../../../effects/lock/lock-folder.ts';
import { isOfAgent, outerEnvironment } from '../../../effects/plan/outer-environment.ts';
import { planRun, type RunPlan } from '../../../effects/plan/run-plan.ts';
import { askVersion } from '../../../effects/processes/ask-version.ts';
import { listTasks, type TaskEntry } from '../../../effects/state/task-list.ts';
import { keyFlag } from '../../../effects/trust/key.ts';
import { vaultAbove } from '../../../effects/vault/vault-above.ts';
import { VAULT_FOLDERS } from '../../../effects/vault/vault-folders.ts';
import { messageOf, SandboxError } from '../../../errors.ts';
import { EXIT_FAILED } from '../../../exit-codes.ts';
import { worksOn } from '../../../printed-command.ts';
import {
  type AgentFacts,
  type DoctorFacts,
  findings,
  renderFindings,
} from '../../../report/screens/doctor.ts';
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

/**
 * `ralph doctor`: checks whether a run could start. Changes and sends nothing. Resolves to 1 if a run
 * would fail.
 */
export async function doctor(
  options: DoctorOptions,
  env: NodeJS.ProcessEnv = process.env,
  signal: AbortSignal = signalled(),
): Promise<number> {
  const spinner = await spinnerFor(env);
  const facts = await examine(options, env, signal).finally(() => spinner?.stop());
  const all = findings(facts);
  if (signal.aborted) return EXIT_INTERRUPTED;
  const shown = all.map((each) => ({ ...each, says: oneLine(each.says, 1_000) }));
  process.stdout.write(renderFindings(shown));
  return all.some(({ kind }) => kind === 'problem') ? EXIT_FAILED : 0;
}

/** Starts a spinner, since an agent may take seconds to print its version. Returns null without a terminal. */
async function spinnerFor(env: NodeJS.ProcessEnv): Promise<{ stop(): unknown } | null> {
  const { stderr } = process;
  if (!stderr.isTTY || env.TERM === 'dumb' || env.CI !== undefined) return null;
  const { default: ora } = await import('ora');
  return ora({ text: 'checking', stream: stderr, discardStdin: false }).start();
}

async function examine(
  options: DoctorOptions,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<DoctorFacts> {
  const startDir = startFolder();
  // Untrusted settings can name programs and folders, so no check uses them.
  const collected = await collectSettings({
    flags: layerOf(options),
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
  const untrusted = untrustedOf(collected);
  const agents: AgentFacts[] = [];
  for (const name of untrusted?.program == null ? agentsOf(collected) : []) {
    agents.push(await agentFacts(name, { ...collected, startDir }, cwd, env, signal));
  }
  const planned = await plannedRun(collected, startDir, env);
  const refused = 'plan' in planned ? await refusalsOf(planned.plan) : NOTHING_REFUSED;
  const isWanted = settings.sandbox === true;
  const git = (await probeGit(cwd, env, signal)).kind;
  const refusals = [...(await sandboxRefusals(cwd, env, signal)), ...refused.bySandbox];
  return {
    problems: [
      ...collected.problems,
      ...('plan' in planned ? [] : planned.problems),
      ...refused.otherwise,
    ],
    notices: [...collected.powers, ...collected.notices],
    untrusted,
    agents,
    vault,
    vaultProbe: probeFolder(vault),
    stateDir,
    stateProbe: probeFolder(stateDir),
    strayFolders: VAULT_FOLDERS.filter((name) => leadsOut(path.join(vault, name), vault)),
    freeBytes: freeBytes(stateDir),
    cwd,
    git,
    lacksAuthor: git === 'work-tree' && !settings.commit && !(await knowsAuthor(cwd, env)),
    snapshots: settings.snapshots === false ? null : await examineSnapshots(cwd, env, signal),
    sandbox: { isWanted, refusals: [...new Set(refusals)] },
    ...examineStates(stateDir),
  };
}

const FLAGS = [
  ...(['vault', 'stateDir', 'cwd', 'config'] as const),
  ...(['agent', 'agentBin', 'agentCommand'] as const),
];

function layerOf(options: DoctorOptions): Layer {
  const layer: Partial<Record<SettingName, Written>> = {};
  for (const name of FLAGS) {
    const value = options[name];
    const where = SETTINGS[name].flag;
    if (value !== undefined) layer[name] = { value, source: { kind: 'flag', where } };
  }
  return layer;
}

/** Returns the plan of a run with these settings, or the problems that any has, whatever its prompt. */
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

interface Refused {
  readonly bySandbox: readonly string[];
  readonly otherwise: readonly string[];
}

const NOTHING_REFUSED: Refused = { bySandbox: [], otherwise: [] };

/** Returns why a run would be refused here, one sentence each. */
async function refusalsOf(plan: RunPlan): Promise<Refused> {
  const { refusals } = await lookAhead({ plan, isNew: true });
  const messagesOf = (isOfSandbox: boolean): readonly string[] =>
    refusals
      .filter((each) => each instanceof SandboxError === isOfSandbox)
      .map(({ message }) => message);
  return { bySandbox: messagesOf(true), otherwise: messagesOf(false) };
}

/** Returns the untrusted configuration and the program that it would start, or null if all is trusted. */
function untrustedOf(collected: CollectedSettings): DoctorFacts['untrusted'] {
  const { untrusted, sources } = collected;
  if (untrusted === null) return null;
  const { powers } = untrusted;
  const of = (name: SettingName): Layer => {
    const value = powers.find((power) => power.name === name)?.value;
    return value === undefined ? {} : { [name]: { value, source: UNTRUSTED } };
  };
  const isChosen = isGiven(sources.agent) || isGiven(sources.agentCommand);
  const written = resolveSettings([{ ...of('agent'), ...of('agentCommand'), ...of('agentBin') }]);
  const { agentCommand, agentBin } = written.settings;
  const programs = agentsOf(isChosen ? collected : written).map((agent) => {
    if (AGENTS[agent].takes.includes('agentCommand')) return isChosen ? null : agentCommand;
    return isGiven(sources.agentBin) ? null : textFor(agentBin, agent);
  });
  const named = programs.filter((program) => program !== null).join(', ');
  return { ...untrusted, program: named === '' ? null : named };
}

const UNTRUSTED = { kind: 'config', where: 'the configuration' } as const;

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
  // What lies where the agent may write was perhaps written inside, and would run outside here.
  const version =
    'missing' in program || versionVariables === null || isOfAgent(program.file, env, run)
      ? null
      : await askVersion({ ...question, ...program, env: own });
  return { name, ...examined, version };
}

type StateFacts = Pick<DoctorFacts, 'staleLocks' | 'interrupted' | 'broken' | 'statesUnreadable'>;

function examineStates(stateDir: string): StateFacts {
  const here = thisPlace(new Date().toISOString());
  const staleLocks = findStaleLocks(stateDir, here);
  let open: readonly TaskEntry[];
  try {
    open = listTasks(stateDir, 0).open;
  } catch (error) {
    return { staleLocks, interrupted: [], broken: [], statesUnreadable: messageOf(error) };
  }
  const interrupted = open.filter(({ found }) => {
    // A task of the library has no driver.
    if (found.kind !== 'task' || found.state.kept_by !== undefined) return false;
    return shownState(found.state, here) === 'interrupted';
  });
  return {
    staleLocks,
    interrupted: interrupted.map(({ name }) => name),
    broken: open.flatMap(({ name, stateFile, found }) =>
      found.kind === 'task' ? [] : [{ taskId: name, stateFile, how: found.kind }],
    ),
    statesUnreadable: null,
  };
}
