import { isGiven, type Source, type SourcedSettings } from './setting-source.ts';
import { SETTINGS, type SettingName } from './settings.ts';
import { shellWords } from './shell-words.ts';

/** A run as it was requested. */
export interface WrittenRun extends SourcedSettings {
  /** Settings with an invalid value, which has been reported already. */
  readonly bad: ReadonlySet<SettingName>;
  /** What the user gave after `--`. */
  readonly passthrough: readonly string[];
}

/** All contradictions between settings, one sentence each. */
export function settingsProblems(run: WrittenRun): readonly string[] {
  return [
    ...conditionProblems(run),
    ...limitProblems(run),
    ...agentProblems(run),
    ...passthroughProblems(run),
  ];
}

const COMMANDS = ['until', 'verify', 'after', 'onEnd'] as const;
const PHRASES = ['signal', 'abortPromise'] as const;

function conditionProblems({ settings, sources }: WrittenRun): readonly string[] {
  const problems: string[] = [];
  if (settings.watchGlob.some((glob) => glob.trim() === '')) {
    problems.push(
      `${sources.watchGlob.where} expects a pattern such as "out/*.md"; found an empty text.`,
    );
  }
  if (settings.watchFile?.trim() === '') {
    problems.push(`${sources.watchFile.where} expects a file; found an empty text.`);
  }
  // In a configuration for many tasks these are harmless; on the command line they are a mistake.
  if (settings.watchExisting && isFlag(sources.watchExisting) && settings.watchGlob.length === 0) {
    problems.push('--watch-existing needs --watch-glob, and none was given.');
  }
  const isMoved = settings.watchFile !== null || settings.taskFile !== null;
  if (settings.doneFolder !== null && isFlag(sources.doneFolder) && !isMoved) {
    problems.push('--done-folder needs --watch-file or --task-file, and neither was given.');
  }
  for (const name of COMMANDS) {
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

/** Limits that contradict each other. A default or a task type's limit is adjusted instead. */
function limitProblems({ settings, sources, bad }: WrittenRun): readonly string[] {
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

/** The kind of agent. An agent command implies the kind `command`, unless a kind was given. */
export function agentOf({ settings, sources }: SourcedSettings): 'claude' | 'command' {
  if (isGiven(sources.agent)) return settings.agent;
  return settings.agentCommand === null ? 'claude' : 'command';
}

function agentProblems(run: WrittenRun): readonly string[] {
  const { settings, sources } = run;
  if (agentOf(run) === 'claude') {
    const isOdd = settings.agentCommand !== null && isFlag(sources.agentCommand);
    return [
      ...(isOdd ? ['--agent-command goes with --agent command; found --agent claude.'] : []),
      ...dashProblems(run),
    ];
  }
  // A setting that is turned off asks for nothing that such an agent lacks.
  const problems = CLAUDE_ONLY.filter(
    (name) => isFlag(sources[name]) && settings[name] !== false,
  ).map((name) => `${SETTINGS[name].flag} is for --agent claude; found --agent command.`);
  const words = shellWords(settings.agentCommand ?? '');
  if (words === null) {
    problems.push(
      `${sources.agentCommand.where} has a quote that is not closed: ${settings.agentCommand}`,
    );
  } else if (words.length === 0) {
    problems.push('--agent command needs --agent-command "PROGRAM ARGUMENTS", and none was given.');
  }
  return problems;
}

/** Settings passed to claude as the value of one of its flags. */
const VALUES_OF_CLAUDE = ['model', 'permissionMode', 'allowedTools'] as const;

/** A value that looks like a flag is a mistake, or an attempt to pass hidden flags to claude. */
function dashProblems({ settings, sources }: WrittenRun): readonly string[] {
  return VALUES_OF_CLAUDE.flatMap((name) =>
    [settings[name] ?? []]
      .flat()
      .filter((value) => value.trimStart().startsWith('-'))
      .map(
        (value) =>
          `${sources[name].where} expects no value that begins with a dash; found '${value}'. Flags for claude stand after --.`,
      ),
  );
}

const CLAUDE_ONLY: readonly SettingName[] = [
  'claudeBin',
  'model',
  'permissionMode',
  'allowedTools',
  'dangerouslySkipPermissions',
  'maxCost',
  'maxUsage',
  'session',
  'acceptRefused',
  'askBack',
];

/** ralph reads structured output and writes the prompt itself; these flags would break that. */
const NOT_AFTER_DASHES = ['--output-format', '--input-format'];

function passthroughProblems(run: WrittenRun): readonly string[] {
  const { passthrough } = run;
  if (agentOf(run) !== 'claude') return [];
  return NOT_AFTER_DASHES.filter((flag) =>
    passthrough.some((word) => word === flag || word.startsWith(`${flag}=`)),
  ).map((flag) => `${flag} after -- would break how ralph talks to claude; take it out.`);
}
