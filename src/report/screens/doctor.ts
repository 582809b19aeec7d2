import { AGENTS, type AgentName } from '../../core/agent/agents/agents.ts';
import type { DoctorFinding } from '../../core/agent/finding.ts';
import { commandHere } from '../../printed-command.ts';
import { formatBytes, plural } from '../format.ts';
import { type UntrustedConfig, untrustedRemedy, untrustedWords } from './trust.ts';

/** Whether files can be created in a folder, and why not. */
export interface FolderFacts {
  readonly kind: string;
  readonly why?: string;
}

export interface AgentFacts {
  readonly name: AgentName;
  readonly program: { readonly file: string } | { readonly missing: string };
  /** Null if ralph did not ask for the version: not every program answers to `--version`. */
  readonly version: { readonly version: string } | { readonly failed: string } | null;
  readonly findings: readonly DoctorFinding[];
  /** Descriptions of other loops that interfere with the agent, with remedies; null if none could interfere. */
  readonly interferences: readonly string[] | null;
}

export function ok(says: string): DoctorFinding {
  return { kind: 'ok', says, remedy: null };
}

function off(says: string): DoctorFinding {
  return { kind: 'off', says, remedy: null };
}

export function warning(says: string, remedy: string | null = null): DoctorFinding {
  return { kind: 'warning', says, remedy };
}

export function problem(says: string, remedy: string | null = null): DoctorFinding {
  return { kind: 'problem', says, remedy };
}

/** Returns findings on the settings: what keeps every run from starting, and what every run would print. */
export function settingsFindings(
  problems: readonly string[],
  notices: readonly string[],
): readonly DoctorFinding[] {
  const agree = ok('settings: flags, variables and configuration agree');
  return [
    ...(problems.length === 0 ? [agree] : problems.map((says) => problem(says))),
    ...notices.map((says) => warning(says)),
  ];
}

/** Returns findings on a configuration that a run would refuse. `isOfAgent`: the file also chooses the agent. */
export function untrustedFindings(
  config: UntrustedConfig,
  isOfAgent: boolean,
): readonly DoctorFinding[] {
  const refused = `settings: every run is refused: ${untrustedWords(config)}`;
  return [
    problem(refused, untrustedRemedy(config)),
    ...(isOfAgent
      ? [
          warning(
            `agent: ${config.file} says which; it was not started`,
            'trust the file, then run ralph doctor again',
          ),
        ]
      : []),
  ];
}

/** Returns findings about an agent's program, and adds those of the agent's own checks. */
export function agentFindings({
  name,
  program,
  version,
  findings,
}: AgentFacts): readonly DoctorFinding[] {
  if ('missing' in program) {
    return [problem(`agent: ${program.missing}`, AGENTS[name].installRemedy), ...findings];
  }
  const { file } = program;
  if (version === null) return [ok(`agent: ${file}`), ...findings];
  if ('version' in version) return [ok(`agent: ${file}, ${version.version}`), ...findings];
  const says = `agent: ${file} does not answer to --version: ${version.failed}`;
  return [
    problem(says, `try ${file} --version by hand; reinstall it if that fails too`),
    ...findings,
  ];
}

/** Returns a finding on whether files can be created in a folder, which `flag` names. */
export function folderFinding(
  what: string,
  folder: string,
  { kind, why }: FolderFacts,
  flag: string,
): DoctorFinding {
  if (kind === 'writable') return ok(`${what}: ${folder} is writable`);
  if (kind === 'to-be-made') return ok(`${what}: ${folder} does not exist yet and can be created`);
  return problem(
    `${what}: cannot write to ${folder}: ${why}`,
    `correct its owner or mode, or choose another folder with ${flag}`,
  );
}

/** Warns of a symbolic link that replaces a folder of the vault (the folder of task files) and leads out of it. */
export function strayFinding(folder: string): DoctorFinding {
  return warning(
    `vault: ${folder} is a link that leads out of the vault; ralph writes nothing there`,
    'replace it with a folder',
  );
}

const MB = 1024 * 1024;
/** Above this size, the free space is enough: by default, a single log can grow to this. */
const AMPLE_BYTES = 1024 * MB;
const SCANT_BYTES = 50 * MB;

/** Returns findings about the free space for the state folder; `free` is null if it is unknown. */
export function spaceFindings(free: number | null, stateDir: string): readonly DoctorFinding[] {
  if (free === null) return [];
  const says = `disk: ${formatBytes(free)} free in ${stateDir}`;
  if (free >= AMPLE_BYTES) return [ok(says)];
  const remedy = 'make room (ralph prune clears the history), or lower --log-limit';
  return [free < SCANT_BYTES ? problem(says, remedy) : warning(says, remedy)];
}

/** Returns findings about git in the work folder. `lacksAuthor`: git knows no author, and the settings need none. */
export function gitFindings(
  git: 'work-tree' | 'no-work-tree' | 'refused' | 'no-git',
  cwd: string,
  lacksAuthor: boolean,
): readonly DoctorFinding[] {
  return [gitFinding(git, cwd), ...(lacksAuthor ? [off(NO_AUTHOR)] : [])];
}

function gitFinding(git: Parameters<typeof gitFindings>[0], cwd: string): DoctorFinding {
  switch (git) {
    case 'work-tree':
      return ok(`git: ${cwd} is a work tree, so commits and changed files count as progress`);
    case 'no-work-tree':
      return warning(
        `git: ${cwd} is not a work tree: commits and changed files do not count as progress`,
        'git init there, or have the agent report its progress',
      );
    case 'refused':
      return warning(
        `git: git refuses to open the repository of ${cwd}`,
        'run git status there to see why (often: git config --global --add safe.directory DIR)',
      );
    case 'no-git':
      return warning(
        'git: not found on PATH: commits and changed files do not count as progress',
        'install git',
      );
  }
}

const NO_AUTHOR =
  'git: no author is known (user.name and user.email), so --commit and ralph land are refused';

/** Returns findings about the sandbox. A refusal is a problem only if the settings ask for the sandbox. */
export function sandboxFindings(
  refusals: readonly string[],
  isWanted: boolean,
): readonly DoctorFinding[] {
  if (refusals.length === 0) {
    const says = 'sandbox: what --sandbox needs is there';
    return [isWanted ? ok(says) : off(says)];
  }
  return refusals.map((sentence) =>
    isWanted ? problem(`sandbox: ${sentence}`) : off(`sandbox: not possible here: ${sentence}`),
  );
}

/** Returns findings about other loops that interfere with an agent. */
export function hookFindings({ name, interferences }: AgentFacts): readonly DoctorFinding[] {
  if (interferences === null) return [];
  if (interferences.length === 0) return [ok(`hooks: no other loop interferes with ${name}`)];
  return interferences.map((says) => warning(`hooks: ${says}`));
}

/** A task whose state needs a person. */
export interface TroubledTask {
  readonly taskId: string;
  readonly stateFile: string;
  readonly how: 'corrupt' | 'too-new' | 'unreadable' | 'interrupted';
}

/** Returns findings about the tasks' states, and about locks whose process is dead. */
export function stateFindings(
  tasks: readonly TroubledTask[],
  staleLocks: readonly string[],
  stateDir: string,
): readonly DoctorFinding[] {
  const found = [
    ...tasks.map(stateFinding),
    ...staleLocks.map((taskId) =>
      warning(
        `locks: ${taskId} is locked by a dead driver`,
        `the next ralph run or resume of this task takes over; or remove ${stateDir}/locks/${taskId}`,
      ),
    ),
  ];
  return found.length > 0 ? found : [ok('states: no corrupt states, no stale locks')];
}

function stateFinding({ taskId, stateFile, how }: TroubledTask): DoctorFinding {
  switch (how) {
    case 'corrupt':
      return warning(
        `states: ${stateFile} is not a ralph state file`,
        `a run with --task-id ${taskId} sets it aside and starts over; or restore it from a backup`,
      );
    case 'too-new':
      return warning(
        `states: ${stateFile} was written by a newer ralph`,
        'use that version for this task',
      );
    case 'unreadable':
      return warning(`states: ${stateFile} cannot be read`, 'correct its owner or mode');
    case 'interrupted':
      return warning(
        `states: ${taskId} was interrupted: its driver is dead`,
        commandHere('resume', taskId),
      );
  }
}

/** Returns all findings with their remedies, and a summary. */
export function renderFindings(all: readonly DoctorFinding[]): string {
  const lines = all.map(({ kind, says, remedy }) => {
    const line = `${kind.padEnd(8)} ${says.replace(/\.$/, '')}\n`;
    return remedy === null ? line : `${line}         -> ${remedy}\n`;
  });
  return `${lines.join('')}\n${summary(all)}\n`;
}

function summary(all: readonly DoctorFinding[]): string {
  const count = (kind: DoctorFinding['kind']): string =>
    plural(all.filter((finding) => finding.kind === kind).length, kind);
  const warnings = count('warning');
  return all.some(({ kind }) => kind === 'problem')
    ? `A run would fail: ${count('problem')}, ${warnings}.`
    : `A run can start: no problems, ${warnings}.`;
}
