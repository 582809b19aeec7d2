import {
  type LeftOutCounts,
  type MetInSandbox,
  type RefusedHost,
  sumRefused,
} from '../agent/attempt.ts';
import type { SandboxRules } from '../sandbox/rules.ts';
import { SETTINGS } from '../settings/settings.ts';
import { oneLine } from '../text/untrusted-text.ts';
import type { Policy } from './policy.ts';

/** What the state file says about the sandbox of a task that has or had one. */
export interface TaskSandbox {
  /** Whether the last run had a sandbox. */
  readonly is: 'on' | 'off';
  /** The version of the sandbox component in the last run with a sandbox. */
  readonly version: string;
  /** The rules beyond the default ones, as the user wrote them. */
  readonly rules: OwnRules;
  /** What resumes have changed about the sandbox. */
  readonly changes: readonly SandboxChange[];
  readonly refused: readonly RefusedHost[];
  /** New files that other programs may run or read as their configuration, some with a remark in parentheses. */
  readonly planted: readonly string[];
  /** How many further hosts and files are not listed here; absent if none. */
  readonly more?: LeftOutCounts | undefined;
}

interface OwnRules {
  readonly allow_write: readonly string[];
  readonly allow_net: readonly string[];
  readonly deny_read: readonly string[];
  readonly allow_read: readonly string[];
  readonly keep_env: readonly string[];
  readonly allow_unix_sockets: boolean;
  readonly sandbox_checks: boolean;
}

interface SandboxChange {
  /** ISO instant. */
  readonly at: string;
  /** One line for people. */
  readonly what: string;
}

/** The most refused hosts, and the most new files, that the state file lists or that one report names. */
const MOST = 40;
/** A host name has at most 253 characters. */
const HOST_CHARS = 260;
const PATH_CHARS = 500;

/** Returns the sandbox of a new task; null if it has none. */
export function newSandbox(policy: Policy): TaskSandbox | null {
  const { inSandbox } = policy;
  if (inSandbox === null) return null;
  const nothing = { changes: [], refused: [], planted: [] };
  return { is: 'on', version: inSandbox.version, rules: ownRules(policy), ...nothing };
}

/** Returns the sandbox of a resumed task, with what the resume has changed; null if the task never had a sandbox. */
export function resumedSandbox(
  policy: Policy,
  before: TaskSandbox | null,
  at: string,
): TaskSandbox | null {
  const now = newSandbox(policy);
  const had = before ?? (now === null ? null : { ...now, is: 'off' as const });
  if (had === null) return null;
  const next: TaskSandbox =
    now === null ? { ...had, is: 'off' } : { ...had, ...now, ...metBy(had) };
  const changes = changesBetween(had, next).map((what) => ({ at, what }));
  return { ...next, changes: [...had.changes, ...changes].slice(-MOST) };
}

function metBy({ refused, planted, more }: TaskSandbox): MetInSandbox {
  return { refused, planted, ...(more === undefined ? {} : { more }) };
}

function ownRules(policy: Policy): OwnRules {
  return {
    allow_write: policy.allowWrite,
    allow_net: policy.allowNet,
    deny_read: policy.denyRead,
    allow_read: policy.allowRead,
    keep_env: policy.keepEnv,
    allow_unix_sockets: policy.allowUnixSockets,
    sandbox_checks: policy.sandboxChecks,
  };
}

const LISTS = [
  ['allow_write', 'allowWrite'],
  ['allow_net', 'allowNet'],
  ['deny_read', 'denyRead'],
  ['allow_read', 'allowRead'],
  ['keep_env', 'keepEnv'],
] as const;

/** Returns what differs from the run before, one line each. Changed rules do not count while the sandbox is off. */
function changesBetween(before: TaskSandbox, now: TaskSandbox): readonly string[] {
  if (now.is === 'off') return before.is === 'off' ? [] : ['the sandbox is off'];
  const changes = before.is === 'off' ? ['the sandbox is on'] : [];
  for (const [key, name] of LISTS) {
    const { flag } = SETTINGS[name];
    const [old, own] = [before.rules[key], now.rules[key]];
    changes.push(
      ...own.filter((each) => !old.includes(each)).map((each) => `${flag} now has ${shown(each)}`),
      ...old
        .filter((each) => !own.includes(each))
        .map((each) => `${flag} no longer has ${shown(each)}`),
    );
  }
  const { allow_unix_sockets: sockets, sandbox_checks: checks } = now.rules;
  if (sockets !== before.rules.allow_unix_sockets) {
    changes.push(`sockets in the file system are ${sockets ? 'allowed' : 'not allowed'}`);
  }
  if (checks !== before.rules.sandbox_checks) {
    changes.push(`checks run ${checks ? 'in the sandbox' : 'outside the sandbox'}`);
  }
  if (now.version !== before.version) {
    changes.push(`the component is ${now.version}, and was ${before.version}`);
  }
  return changes;
}

function shown(text: string): string {
  return oneLine(text, HOST_CHARS);
}

/**
 * Cleans and shortens the names of refused hosts and new files, since an agent can choose any name. Files that the
 * rules name come first, then files of git, so that a flood of other files cannot hide them.
 */
export function withinBounds(met: MetInSandbox, rules: Rules): MetInSandbox {
  const fixed = fixedIn(rules);
  const refused = met.refused.map((each) => ({ ...each, host: hostName(each.host) }));
  const planted = met.planted.map((each) => oneLine(each, PATH_CHARS));
  return bounded({ refused, planted }, fixed);
}

type Rules = Pick<SandboxRules, 'denyWrite'> | null;

function fixedIn(rules: Rules): ReadonlySet<string> {
  return new Set(rules?.denyWrite.map(({ value }) => oneLine(value, PATH_CHARS)));
}

function bounded(
  { refused, planted, more = { refused: 0, planted: 0 } }: MetInSandbox,
  fixed: ReadonlySet<string>,
): MetInSandbox {
  const rank = (each: string): number =>
    fixed.has(each.replace(/ \([^()]*\)$/, '')) ? 0 : isOfGit(each) ? 1 : 2;
  const inOrder = planted.toSorted((one, other) => rank(one) - rank(other));
  const all = {
    refused: more.refused + Math.max(0, refused.length - MOST),
    planted: more.planted + Math.max(0, planted.length - MOST),
  };
  return {
    refused: refused.slice(0, MOST),
    planted: inOrder.slice(0, MOST),
    ...(all.refused + all.planted === 0 ? {} : { more: all }),
  };
}

/** Whether a path lies in a `.git` folder, or is a symbolic link through which git would write. */
function isOfGit(text: string): boolean {
  return /\/\.git(?:[/ ]|$)| \(a link to /.test(text);
}

/** Puts an address with colons into brackets, so that a port can follow it. */
function hostName(host: string): string {
  const name = shown(host);
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

/** Adds what the sandbox refused or noticed. `withinBounds` must have shortened `met` already. */
export function withMet(before: TaskSandbox, met: MetInSandbox, rules: Rules): TaskSandbox {
  const more = [before.more, met.more].filter((each) => each !== undefined);
  const all = {
    refused: sumRefused([...before.refused, ...met.refused]),
    planted: [...new Set([...before.planted, ...met.planted])],
    more: {
      refused: more.reduce((sum, each) => sum + each.refused, 0),
      planted: more.reduce((sum, each) => sum + each.planted, 0),
    },
  };
  return { ...before, ...bounded(all, fixedIn(rules)) };
}
