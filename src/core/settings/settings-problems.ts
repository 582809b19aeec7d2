import type { AgentSetting } from '../agent/agent.ts';
import { AGENT_NAMES, AGENTS, type AgentName, DEFAULT_AGENT } from '../agent/agents/agents.ts';
import { namedText, textFor } from './agent-texts.ts';
import { judgeOf, judgeProblems } from './judge-setting.ts';
import { sandboxProblems } from './sandbox-problems.ts';
import { isGiven, type Source, type SourcedSettings } from './setting-source.ts';
import { SETTINGS, type SettingName } from './settings.ts';
import { shellWords } from './shell-words.ts';

/** The settings of a run as the user requested them, before they are checked against each other. */
export interface RequestedSettings extends SourcedSettings {
  /** Settings with an invalid value, which has been reported already. */
  readonly bad: ReadonlySet<SettingName>;
  /** What the user gave after `--`. */
  readonly passthrough: readonly string[];
}

/** Returns all contradictions between settings, one sentence each. */
export function settingsProblems(run: RequestedSettings): readonly string[] {
  return [
    ...conditionProblems(run),
    ...judgeProblems(run),
    ...limitProblems(run),
    ...agentProblems(run),
    ...passthroughProblems(run),
    ...gitProblems(run),
    ...sandboxProblems(run),
  ];
}

/** Settings that say how checks are run. Their flags are a mistake if there are no checks. */
const NEEDING_CHECKS = ['verifyEach', 'baseline', 'knownFailures', 'verifyClean'] as const;

function conditionProblems({ settings, sources }: RequestedSettings): readonly string[] {
  const problems: string[] = [];
  // Each of these two settings needs another one. Alone it is a mistake as a flag, but harmless in a configuration.
  if (settings.watchExisting && isFlag(sources.watchExisting) && settings.watchGlob.length === 0) {
    problems.push('--watch-existing needs --watch-glob, and none was given.');
  }
  const isMoved = settings.watchFile !== null || settings.taskFile !== null;
  if (settings.doneFolder !== null && isFlag(sources.doneFolder) && !isMoved) {
    problems.push('--done-folder needs --watch-file or --task-file, and neither was given.');
  }
  for (const name of NEEDING_CHECKS) {
    const isOn = settings[name] === true || settings[name] === 'allow';
    const decides =
      settings.verify.length > 0 || (name === 'verifyClean' && settings.until !== null);
    if (isOn && isFlag(sources[name]) && !decides) {
      problems.push(`${SETTINGS[name].flag} needs --verify, and it was not given.`);
    }
  }
  if (settings.verifyClean && settings.snapshots === false) {
    problems.push(
      `${sources.verifyClean.where} and ${sources.snapshots.where} exclude each other: a clean checkout is made from the snapshot of the claim.`,
    );
  }
  if (settings.baseline === false && settings.knownFailures === 'allow') {
    problems.push(
      `${sources.baseline.where} and ${sources.knownFailures.where} exclude each other: without a baseline, no failure is known.`,
    );
  }
  if (settings.proof === 'strict' && settings.verify.length === 0) {
    problems.push(
      `${sources.proof.where} strict expects a check, by --verify or checks: in the configuration; found none.`,
    );
  }
  if (settings.proof === 'strict' && settings.baseline === false) {
    problems.push(
      `${sources.proof.where} strict and ${sources.baseline.where} exclude each other: without a baseline, nobody knows what the checks said before the work.`,
    );
  }
  if (settings.abortPromise !== null && settings.abortPromise === settings.promise) {
    problems.push(
      `${sources.abortPromise.where} and ${sources.promise.where} are the same words; they have to differ.`,
    );
  }
  for (const name of ['minIterations', 'confirm'] as const) {
    if (settings[name] > settings.maxIterations) {
      problems.push(
        `${sources[name].where} (${settings[name]}) is more than the iterations there are (${settings.maxIterations}, ${sources.maxIterations.where}); lower the one or raise the other.`,
      );
    }
  }
  if (settings.quiet && settings.verbose) {
    problems.push(`${sources.quiet.where} and ${sources.verbose.where} exclude each other.`);
  }
  return problems;
}

function isFlag(source: Source): boolean {
  return source.kind === 'flag';
}

const LIMITS: readonly SettingName[] = ['iterationTimeout', 'idleTimeout', 'timeout', 'delay'];

/** Finds limits that contradict each other. A limit that comes from a default or a task type is adjusted instead. */
function limitProblems({ settings, sources, bad }: RequestedSettings): readonly string[] {
  const problems: string[] = [];
  const { iterationTimeout, idleTimeout, timeout } = settings;
  if (LIMITS.some((name) => bad.has(name))) return [];
  if (isGiven(sources.iterationTimeout) && iterationTimeout > timeout) {
    problems.push(
      `${sources.iterationTimeout.where} (${seconds(iterationTimeout)}) is longer than the time for the whole task (${seconds(timeout)}, ${sources.timeout.where}); lower the one or raise the other.`,
    );
  }
  if (idleTimeout !== null && idleTimeout > Math.min(iterationTimeout, timeout)) {
    problems.push(
      `${sources.idleTimeout.where} (${seconds(idleTimeout)}) is longer than an iteration may last (${seconds(Math.min(iterationTimeout, timeout))}, ${sources.iterationTimeout.where}), so it would never be reached; lower it or raise --iteration-timeout.`,
    );
  }
  if (isGiven(sources.delay) && settings.maxIterations > 1 && settings.delay >= timeout) {
    problems.push(
      `${sources.delay.where} (${seconds(settings.delay)}) leaves no time for a second iteration within the whole task (${seconds(timeout)}, ${sources.timeout.where}); lower it or raise --timeout.`,
    );
  }
  return problems;
}

function seconds(ms: number): string {
  return `${ms / 1000}s`;
}

/** Returns the agents of a run, in order. An agent command implies the agent `command` if none is named. */
export function agentsOf({ settings, sources }: SourcedSettings): readonly AgentName[] {
  if (isGiven(sources.agent)) return settings.agent;
  return [settings.agentCommand === null ? DEFAULT_AGENT : 'command'];
}

function agentProblems(run: RequestedSettings): readonly string[] {
  const agents = agentsOf(run);
  return [
    ...agents.flatMap((agent) => problemsOf(agent, run)),
    ...editProblems(run),
    ...textProblems(run),
    ...(agents.length === 1 ? [] : listProblems(run)),
  ];
}

function editProblems({ settings, sources }: RequestedSettings): readonly string[] {
  const { edit, permissionMode: mode, dangerouslySkipPermissions } = settings;
  if (!edit) return [];
  const others = [
    ...(mode === null || mode === 'acceptEdits' ? [] : [`${sources.permissionMode.where} ${mode}`]),
    ...(dangerouslySkipPermissions ? [sources.dangerouslySkipPermissions.where] : []),
  ];
  return others.map(
    (other) =>
      `${sources.edit.where} and ${other} exclude each other: each says what the agent may do. Leave one of them out.`,
  );
}

/** Finds settings that an agent does not take: among the flags, and with several agents, among all given settings. */
function problemsOf(agent: AgentName, run: RequestedSettings): readonly string[] {
  const { settings, sources } = run;
  const { takes } = AGENTS[agent];
  const isMeant = agentsOf(run).length > 1 ? isGiven : isFlag;
  // A setting that is turned off is fine even if the agent does not have it.
  const problems = SETTINGS_OF_SOME.filter(
    (name) => !takes.includes(name) && isMeant(sources[name]) && settings[name] !== false,
  ).map((name) => `${sources[name].where} ${whoTakes(name)}; found --agent ${agent}.`);
  const words = takes.includes('agentCommand')
    ? shellWords(settings.agentCommand ?? '')
    : undefined;
  if (words === null) {
    problems.push(
      `${sources.agentCommand.where} has a quote that is not closed: ${settings.agentCommand}`,
    );
  } else if (words?.length === 0) {
    problems.push(
      `--agent ${agent} needs --agent-command "PROGRAM ARGUMENTS", and none was given.`,
    );
  }
  const { permissionMode: mode } = settings;
  const wrongMode = mode === null ? null : (AGENTS[agent].permissionModeProblem?.(mode) ?? null);
  if (takes.includes('permissionMode') && wrongMode !== null) {
    problems.push(`${sources.permissionMode.where} ${mode} ${wrongMode}.`);
  }
  return [...problems, ...dashProblems(agent, run)];
}

const TEXTS_OF_AGENTS = ['model', 'agentBin'] as const;

/** Finds texts for agents that do not work on this task, and, if the task has several agents, texts that name none. */
function textProblems(run: RequestedSettings): readonly string[] {
  const { settings, sources } = run;
  const agents = agentsOf(run);
  return TEXTS_OF_AGENTS.flatMap((name) =>
    settings[name].flatMap((text) => {
      const { where } = sources[name];
      const named = namedText(text);
      if (named === null) {
        return agents.length === 1
          ? []
          : [
              `${where} expects AGENT=${SETTINGS[name].argument} for a list of agents; found '${text}'.`,
            ];
      }
      // A configuration may have texts for more agents than one run uses.
      const isJudge = name === 'agentBin' && judgeOf(settings)?.agent === named.agent;
      const isStray = !agents.includes(named.agent) && !isJudge && isFlag(sources[name]);
      return isStray ? [`${where} names ${named.agent}; found --agent ${agents.join(',')}.`] : [];
    }),
  );
}

/** The values of `--permission-mode` that mean the same to every agent that has them. */
const COMMON_MODES = ['acceptEdits', 'plan'];

function listProblems(run: RequestedSettings): readonly string[] {
  const { settings, sources, passthrough } = run;
  const agents = agentsOf(run);
  const { where } = sources.agent;
  const problems: string[] = [];
  if (agents.includes('command')) {
    problems.push(
      `${where} expects a list without command: its output does not tell a limit or a failure reliably enough to change agents.`,
    );
  }
  const twice = agents.find((agent, index) => agents.indexOf(agent) !== index);
  if (twice !== undefined) problems.push(`${where} expects each agent once; found ${twice} twice.`);
  const { permissionMode: mode } = settings;
  if (mode !== null && !COMMON_MODES.includes(mode)) {
    problems.push(
      `${sources.permissionMode.where} expects ${COMMON_MODES.join(' or ')} for a list of agents, since other words are those of one agent; found '${mode}'.`,
    );
  }
  if (passthrough.length > 0) {
    problems.push(
      `A list of agents takes no words after --, since each agent has other flags; found '${passthrough.join(' ')}'.`,
    );
  }
  return problems;
}

const SETTINGS_OF_SOME = [...new Set(AGENT_NAMES.flatMap((name) => AGENTS[name].takes))];

function whoTakes(setting: AgentSetting): string {
  const names = AGENT_NAMES.filter((name) => AGENTS[name].takes.includes(setting));
  return `${setting === 'agentCommand' ? 'goes with' : 'is for'} --agent ${names.join(' or ')}`;
}

/** Settings passed to an agent as the value of one of its flags. */
const HANDED_ON = ['model', 'permissionMode', 'allowedTools'] as const;

/** Finds values that look like a flag: a mistake, or an attempt to pass hidden flags to the agent. */
function dashProblems(
  agent: AgentName,
  { settings, sources }: RequestedSettings,
): readonly string[] {
  const values = { ...settings, model: textFor(settings.model, agent) };
  return HANDED_ON.filter((name) => AGENTS[agent].takes.includes(name)).flatMap((name) =>
    [values[name] ?? []]
      .flat()
      .filter((value) => value.trimStart().startsWith('-'))
      .map(
        (value) =>
          `${sources[name].where} expects no value that begins with a dash; found '${value}'. Flags for ${agent} go after --.`,
      ),
  );
}

function passthroughProblems(run: RequestedSettings): readonly string[] {
  return agentsOf(run).flatMap((agent) =>
    AGENTS[agent].ownFlags
      .filter((flag) =>
        run.passthrough.some((word) => word === flag || word.startsWith(`${flag}=`)),
      )
      .map((flag) => `${flag} after -- would break how ralph talks to ${agent}; take it out.`),
  );
}

/** Settings that must know which task made a change, so no other task may work in the same files. */
const ALONE = ['commit', 'revertFailed'] as const satisfies readonly SettingName[];

function gitProblems({ settings, sources }: RequestedSettings): readonly string[] {
  const problems: string[] = [];
  for (const name of ['base', 'worktreeDir'] as const) {
    if (settings[name] !== null && isFlag(sources[name]) && !settings.worktree) {
      problems.push(`${SETTINGS[name].flag} needs --worktree, and it was not given.`);
    }
  }
  if (settings.shareWorktree) problems.push(...sharingProblems({ settings, sources }));
  return problems;
}

/** Returns a sentence for each setting that is impossible where tasks share a work tree. */
export function sharingProblems({ settings, sources }: SourcedSettings): readonly string[] {
  return ALONE.filter((name) => settings[name]).map(
    (name) =>
      `${sources[name].where} needs a work tree in which no other task works, because changes of two tasks could not be told apart; use --worktree without --share-worktree.`,
  );
}
