import { AGENTS, type AgentName } from '../../core/agent/agents/agents.ts';
import type { DoctorFinding } from '../../core/agent/finding.ts';
import { commandHere } from '../../printed-command.ts';
import { formatBytes, plural } from '../format.ts';
import { type SnapshotFacts, snapshotFindings } from './snapshot-findings.ts';
import { type UntrustedConfig, untrustedRemedy, untrustedWords } from './trust.ts';

/** What `ralph doctor` found. `findings` rates it. */
export interface DoctorFacts {
  /** What prevents every run from starting: invalid settings, a path that is not a folder. */
  readonly problems: readonly string[];
  /** What every run would print when it starts. */
  readonly notices: readonly string[];
  /** The configuration that a run would refuse because nobody has trusted it, or null if there is none. */
  readonly untrusted:
    | (UntrustedConfig & {
        /** The agent program that it names, or null if it names none. ralph does not start it. */
        readonly program: string | null;
      })
    | null;
  /** The facts of each agent; empty if an untrusted configuration chooses them. */
  readonly agents: readonly AgentFacts[];
  readonly vault: string;
  readonly vaultProbe: FolderFacts;
  readonly stateDir: string;
  readonly stateProbe: FolderFacts;
  /** Folders of the vault that are symbolic links to a place outside it. */
  readonly strayFolders: readonly string[];
  /** Free bytes on the disk of the state folder; null if unknown. */
  readonly freeBytes: number | null;
  readonly cwd: string;
  readonly git: 'work-tree' | 'no-work-tree' | 'refused' | 'no-git';
  /** Whether git knows no author, and the settings do not need one. */
  readonly lacksAuthor: boolean;
  /** Null without a repository that git opens, and where the settings want no snapshots. */
  readonly snapshots: SnapshotFacts | null;
  /** Whether the settings want the sandbox, and why it would be refused, one sentence each. */
  readonly sandbox: { readonly isWanted: boolean; readonly refusals: readonly string[] };
  /** The ids of tasks that a dead driver has locked. */
  readonly staleLocks: readonly string[];
  /** The ids of tasks without a driver that are stored as running, or whose ending was not announced. */
  readonly interrupted: readonly string[];
  readonly broken: readonly {
    readonly taskId: string;
    readonly stateFile: string;
    readonly how: 'corrupt' | 'too-new' | 'unreadable';
  }[];
  /** Why the states cannot be listed; null if they can. */
  readonly statesUnreadable: string | null;
}

export interface AgentFacts {
  readonly name: AgentName;
  readonly program: { readonly file: string } | { readonly missing: string };
  /** Null if ralph did not ask for the version: not every program answers to `--version`. */
  readonly version: { readonly version: string } | { readonly failed: string } | null;
  /** What the agent's own checks found. */
  readonly findings: readonly DoctorFinding[];
  /** Other loops that interfere with the agent, each with its remedy; null if none can interfere with it. */
  readonly interferences: readonly string[] | null;
}

type FolderFacts =
  | { readonly kind: 'writable' }
  | { readonly kind: 'to-be-made'; readonly within: string }
  | { readonly kind: 'not-writable'; readonly why: string };

/** Rates the facts, in the order in which a run would depend on them. */
export function findings(facts: DoctorFacts): readonly DoctorFinding[] {
  return [
    ...settingsFindings(facts),
    ...untrustedFindings(facts),
    ...facts.agents.flatMap(agentFindings),
    ...folderFindings(facts),
    ...spaceFindings(facts),
    gitFinding(facts),
    ...(facts.lacksAuthor ? [off(NO_AUTHOR)] : []),
    ...snapshotFindings(facts.snapshots),
    ...sandboxFindings(facts),
    ...facts.agents.flatMap(hookFindings),
    ...stateFindings(facts),
  ];
}

function ok(says: string): DoctorFinding {
  return { kind: 'ok', says, remedy: null };
}

function off(says: string): DoctorFinding {
  return { kind: 'off', says, remedy: null };
}

function settingsFindings({ problems, notices }: DoctorFacts): readonly DoctorFinding[] {
  const found: DoctorFinding[] = problems.map((says) => ({ kind: 'problem', says, remedy: null }));
  if (problems.length === 0) found.push(ok('settings: flags, variables and configuration agree'));
  return [...found, ...notices.map((says) => ({ kind: 'warning' as const, says, remedy: null }))];
}

/** Names the agent program of an untrusted file instead of its version, since ralph never starts it. */
function untrustedFindings({ untrusted }: DoctorFacts): readonly DoctorFinding[] {
  if (untrusted === null) return [];
  const { file, program } = untrusted;
  const says = `settings: every run is refused: ${untrustedWords(untrusted)}`;
  const remedy = untrustedRemedy(untrusted);
  const found: DoctorFinding[] = [{ kind: 'problem', says, remedy }];
  if (program !== null) {
    const named = `agent: ${file} names ${program}; it was not started`;
    found.push({
      kind: 'warning',
      says: named,
      remedy: 'trust the file, then run ralph doctor again',
    });
  }
  return found;
}

function agentFindings({
  name,
  program,
  version,
  findings: own,
}: AgentFacts): readonly DoctorFinding[] {
  if ('missing' in program) {
    const says = `agent: ${program.missing}`;
    return [{ kind: 'problem', says, remedy: AGENTS[name].installRemedy }, ...own];
  }
  if (version === null) return [ok(`agent: ${program.file}`), ...own];
  if ('version' in version) return [ok(`agent: ${program.file}, ${version.version}`), ...own];
  const says = `agent: ${program.file} does not answer to --version: ${version.failed}`;
  const remedy = `try ${program.file} --version by hand; reinstall it if that fails too`;
  return [{ kind: 'problem', says, remedy }, ...own];
}

function folderFindings(facts: DoctorFacts): readonly DoctorFinding[] {
  const { vault, vaultProbe, stateDir, stateProbe, strayFolders } = facts;
  const states =
    stateProbe.kind === 'not-writable' && vaultProbe.kind !== 'not-writable'
      ? [folderFinding('state folder', stateDir, stateProbe, '--state-dir DIR')]
      : [];
  return [
    folderFinding('vault', vault, vaultProbe, '--vault DIR'),
    ...states,
    ...strayFolders.map((folder) => ({
      kind: 'warning' as const,
      says: `vault: ${folder} is a link that leads out of the vault; ralph writes nothing there`,
      remedy: 'replace it with a folder',
    })),
  ];
}

function folderFinding(
  what: string,
  folder: string,
  probe: FolderFacts,
  flag: string,
): DoctorFinding {
  switch (probe.kind) {
    case 'writable':
      return ok(`${what}: ${folder} is writable`);
    case 'to-be-made':
      return ok(`${what}: ${folder} does not exist yet and can be created`);
    case 'not-writable':
      return {
        kind: 'problem',
        says: `${what}: cannot write to ${folder}: ${probe.why}`,
        remedy: `correct its owner or mode, or choose another folder with ${flag}`,
      };
  }
}

const MB = 1024 * 1024;
/** By default, a single log can grow to this size. */
const AMPLE_BYTES = 1024 * MB;
const SCANT_BYTES = 50 * MB;

function spaceFindings({ freeBytes, stateDir }: DoctorFacts): readonly DoctorFinding[] {
  if (freeBytes === null) return [];
  const says = `disk: ${formatBytes(freeBytes)} free in ${stateDir}`;
  if (freeBytes >= AMPLE_BYTES) return [ok(says)];
  return [
    {
      kind: freeBytes < SCANT_BYTES ? 'problem' : 'warning',
      says,
      remedy: 'make room (ralph prune clears the history), or lower --log-limit',
    },
  ];
}

function gitFinding({ git, cwd }: DoctorFacts): DoctorFinding {
  switch (git) {
    case 'work-tree':
      return ok(`git: ${cwd} is a work tree, so commits and changed files count as progress`);
    case 'no-work-tree':
      return {
        kind: 'warning',
        says: `git: ${cwd} is not a work tree: commits and changed files do not count as progress`,
        remedy: 'git init there, or have the agent report its progress',
      };
    case 'refused':
      return {
        kind: 'warning',
        says: `git: git refuses to open the repository of ${cwd}`,
        remedy:
          'run git status there to see why (often: git config --global --add safe.directory DIR)',
      };
    case 'no-git':
      return {
        kind: 'warning',
        says: 'git: not found on PATH: commits and changed files do not count as progress',
        remedy: 'install git',
      };
  }
}

const NO_AUTHOR =
  'git: no author is known (user.name and user.email), so --commit and ralph land are refused';

/** What is missing is a problem only for who wants the sandbox. */
function sandboxFindings({
  sandbox: { isWanted, refusals },
}: DoctorFacts): readonly DoctorFinding[] {
  if (refusals.length === 0) {
    const says = 'sandbox: what --sandbox needs is there';
    return [isWanted ? ok(says) : off(says)];
  }
  return refusals.map((sentence) =>
    isWanted
      ? { kind: 'problem', says: `sandbox: ${sentence}`, remedy: null }
      : off(`sandbox: not possible here: ${sentence}`),
  );
}

function hookFindings({ name, interferences }: AgentFacts): readonly DoctorFinding[] {
  if (interferences === null) return [];
  if (interferences.length === 0) return [ok(`hooks: no other loop interferes with ${name}`)];
  return interferences.map((says) => ({ kind: 'warning', says: `hooks: ${says}`, remedy: null }));
}

const BROKEN = {
  corrupt: {
    says: 'is not a ralph state file',
    remedy: (id: string) =>
      `a run with --task-id ${id} sets it aside and starts over; or restore it from a backup`,
  },
  'too-new': {
    says: 'was written by a newer ralph',
    remedy: () => 'use that version for this task',
  },
  unreadable: {
    says: 'cannot be read',
    remedy: () => 'correct its owner or mode',
  },
} as const;

function stateFindings(facts: DoctorFacts): readonly DoctorFinding[] {
  const { staleLocks, interrupted, broken, statesUnreadable, stateDir } = facts;
  if (statesUnreadable !== null) {
    return [{ kind: 'problem', says: `states: ${statesUnreadable}`, remedy: null }];
  }
  const found: DoctorFinding[] = [
    ...broken.map(({ taskId, stateFile, how }) => ({
      kind: 'warning' as const,
      says: `states: ${stateFile} ${BROKEN[how].says}`,
      remedy: BROKEN[how].remedy(taskId),
    })),
    ...interrupted.map((taskId) => ({
      kind: 'warning' as const,
      says: `states: ${taskId} was interrupted: its driver is dead`,
      remedy: commandHere('resume', taskId),
    })),
    ...staleLocks.map((taskId) => ({
      kind: 'warning' as const,
      says: `locks: ${taskId} is locked by a dead driver`,
      remedy: `the next ralph run or resume of this task takes over; or remove ${stateDir}/locks/${taskId}`,
    })),
  ];
  return found.length > 0 ? found : [ok('states: no corrupt states, no stale locks')];
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
