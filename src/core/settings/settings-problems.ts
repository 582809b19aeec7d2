import type { AgentSetting } from '../agent/agent.ts';
import { AGENT_NAMES, AGENTS, type AgentName, chosenAgent } from '../agent/agents/agents.ts';
import { isGiven, type Source, type SourcedSettings } from './setting-source.ts';
import { commandSettings, SETTINGS, type SettingName } from './settings.ts';
import { shellWords } from './shell-words.ts';

/** The settings of a run as the user requested it. */
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
    ...limitProblems(run),
    ...agentProblems(run),
    ...passthroughProblems(run),
    ...gitProblems(run),
  ];
}

const PHRASES = ['signal', 'abortPromise'] as const;

function conditionProblems({ settings, sources }: RequestedSettings): readonly string[] {
  const problems: string[] = [];
  if (settings.watchGlob.some((glob) => glob.trim() === '')) {
    problems.push(
      `${sources.watchGlob.where} expects a pattern such as "out/*.md"; found an empty text.`,
    );
  }
  if (settings.watchFile?.trim() === '') {
    problems.push(`${sources.watchFile.where} expects a file; found an empty text.`);
  }
  // The next two settings are harmless in a configuration for many tasks, but a mistake as a flag.
  if (settings.watchExisting && isFlag(sources.watchExisting) && settings.watchGlob.length === 0) {
    problems.push('--watch-existing needs --watch-glob, and none was given.');
  }
  const isMoved = settings.watchFile !== null || settings.taskFile !== null;
  if (settings.doneFolder !== null && isFlag(sources.doneFolder) && !isMoved) {
    problems.push('--done-folder needs --watch-file or --task-file, and neither was given.');
  }
  for (const name of commandSettings()) {
    if (settings[name]?.trim() === '') {
      problems.push(`${sources[name].where} expects a shell command; found an empty text.`);
    }
  }
  for (const name of PHRASES) {
    const phrases = [settings[name] ?? []].flat();
    if (phrases.some((phrase) => phrase.trim() === '')) {
      problems.push(
        `${sources[name].where} expects the words that the agent has to state; found an empty text.`,
      );
    }
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

/** Finds limits that contradict each other. A limit by default or by task type is adjusted instead. */
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

/** Returns the agent that the settings of a run choose. */
export function agentOf({ settings, sources }: SourcedSettings): AgentName {
  return chosenAgent(isGiven(sources.agent) ? settings.agent : null, settings.agentCommand);
}

function agentProblems(run: RequestedSettings): readonly string[] {
  const { settings, sources } = run;
  const agent = agentOf(run);
  const { takes } = AGENTS[agent];
  // A setting that is turned off asks for nothing that the agent lacks.
  const problems = SETTINGS_OF_SOME.filter(
    (name) => !takes.includes(name) && isFlag(sources[name]) && settings[name] !== false,
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
  return [...problems, ...dashProblems(run)];
}

/** The settings that not every agent takes. */
const SETTINGS_OF_SOME = [...new Set(AGENT_NAMES.flatMap((name) => AGENTS[name].takes))];

function whoTakes(setting: AgentSetting): string {
  const names = AGENT_NAMES.filter((name) => AGENTS[name].takes.includes(setting));
  return `${setting === 'agentCommand' ? 'goes with' : 'is for'} --agent ${names.join(' or ')}`;
}

/** Settings passed to an agent as the value of one of its flags. */
const HANDED_ON = ['model', 'permissionMode', 'allowedTools'] as const;

/** Finds values that look like a flag: a mistake, or an attempt to pass hidden flags to the agent. */
function dashProblems(run: RequestedSettings): readonly string[] {
  const { settings, sources } = run;
  const agent = agentOf(run);
  return HANDED_ON.filter((name) => AGENTS[agent].takes.includes(name)).flatMap((name) =>
    [settings[name] ?? []]
      .flat()
      .filter((value) => value.trimStart().startsWith('-'))
      .map(
        (value) =>
          `${sources[name].where} expects no value that begins with a dash; found '${value}'. Flags for ${agent} stand after --.`,
      ),
  );
}

function passthroughProblems(run: RequestedSettings): readonly string[] {
  const agent = agentOf(run);
  return AGENTS[agent].ownFlags
    .filter((flag) => run.passthrough.some((word) => word === flag || word.startsWith(`${flag}=`)))
    .map((flag) => `${flag} after -- would break how ralph talks to ${agent}; take it out.`);
}

/** Settings that need to know whose change each is, so no other task may work in the same files. */
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

/** Returns the settings that are impossible where tasks share a work tree, one sentence each. */
export function sharingProblems({ settings, sources }: SourcedSettings): readonly string[] {
  return ALONE.filter((name) => settings[name]).map(
    (name) =>
      `${sources[name].where} needs a work tree in which no other task works, since nobody can tell whose change is whose; use --worktree without --share-worktree.`,
  );
}
