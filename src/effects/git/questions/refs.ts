import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { GitError, orNull, outputOf, reasonOf } from '../git-error.ts';
import { asText } from '../tree-path.ts';

/** A ref, and where it leads. */
export interface ListedRef {
  /** The full name, one character for each byte. */
  readonly name: string;
  readonly id: string;
  /** The other ref that this one stands for, if it is a symbolic ref; otherwise ''. */
  readonly symbolic: string;
  /** The work tree in which this branch is checked out; '' for none. */
  readonly checkedOutIn: string;
}

/** Lists all refs, or those that match a pattern, have it as their name, or are below it. Rejects with a `GitError`. */
export async function listRefs(
  git: Git,
  patterns: readonly string[] = [],
): Promise<readonly ListedRef[]> {
  const format = '--format=%(objectname) %(refname) %(symref) %(worktreepath)';
  const output = outputOf(await askGit(git, ['for-each-ref', format, ...patterns]));
  return [...output.matchAll(/^([^ \n]+) ([^ \n]+) ([^ \n]*) ([^\n]*)$/gm)].map(
    ([, id = '', name = '', symbolic = '', place = '']) => {
      return { name, id, symbolic, checkedOutIn: asText(place) };
    },
  );
}

/** Lists the names of the refs that `listRefs` finds, in reverse order, `10` before `9`; none if git fails. */
export async function refNames(git: Git, patterns: readonly string[]): Promise<readonly string[]> {
  const names = ((await orNull(listRefs(git, patterns))) ?? []).map(({ name }) => asText(name));
  return names.sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
}

/** Returns the id that a name leads to; null for none. */
export async function resolveName(git: Git, name: string): Promise<string | null> {
  return (
    outputOrNull(await askGit(git, ['rev-parse', '--verify', '--quiet', name]))?.trim() ?? null
  );
}

/** Returns the commit that a name leads to, even through a tag; null for none. */
export function resolveCommit(git: Git, name: string): Promise<string | null> {
  return resolveName(git, `${name}^{commit}`);
}

/** Returns the commit that a person names; null if there is none. A name like an option is not read as an option. */
export async function resolveNamed(git: Git, name: string): Promise<string | null> {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
  return outputOrNull(await askGit(git, args))?.trim() ?? null;
}

/** Returns the full name of the ref that a person names, for people; '' for none. */
export async function refNamed(git: Git, name: string): Promise<string> {
  const args = ['rev-parse', '--symbolic-full-name', '--verify', '--end-of-options', name];
  return asText(outputOrNull(await askGit(git, args)) ?? '').trim();
}

/** Whether there is a ref of this full name. */
export async function isRef(git: Git, name: string): Promise<boolean> {
  return (await askGit(git, ['show-ref', '-q', '--verify', name])).exitCode === 0;
}

/** Whether git allows a ref of this full name. */
export async function isRefName(git: Git, name: string): Promise<boolean> {
  return (await askGit(git, ['check-ref-format', name])).exitCode === 0;
}

/** Returns the full name of the branch that HEAD is on, whether or not it has a commit; null for none. */
export async function branchOfHead(git: Git): Promise<string | null> {
  return outputOrNull(await askGit(git, ['symbolic-ref', '-q', 'HEAD']))?.trim() ?? null;
}

/** Whether any ref leads to this commit, or to a descendant of it; false if git fails. */
export async function isInHistory(git: Git, commit: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=.', `--contains=${commit}`];
  const { exitCode, output } = await askGit(git, args);
  return exitCode === 0 && output !== '';
}

/** Sets a ref to a commit, whatever it led to before. Resolves to whether git did. */
export async function setRef(git: Git, name: string, commit: string): Promise<boolean> {
  return (await askGit(git, ['update-ref', name, commit])).exitCode === 0;
}

/** The longest wait for the lock of a ref, in ms. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Makes a ref, which must not exist unless `mayReplace`. Resolves to whether it was made: not if the ref, or one below
 * it, exists already. Rejects with a `GitError` if git fails otherwise.
 */
export async function makeRef(
  git: Git,
  name: string,
  commit: string,
  { mayReplace = false } = {},
): Promise<boolean> {
  const patience = ['-c', `core.filesRefLockTimeout=${LOCK_TIMEOUT_MS}`];
  const args = ['update-ref', '--no-deref', name, commit, ...(mayReplace ? [] : [NO_COMMIT])];
  const answer = await askGit(git, [...patience, ...args]);
  if (answer.exitCode === 0) return true;
  const { complaint } = answer;
  // If there is a ref below this name, git refuses the name.
  if (/already exists/.test(complaint) || complaint.includes(`'${name}/`)) return false;
  throw new GitError(reasonOf(answer), complaint);
}

/** As the old value of a ref, this means that the ref must not exist. */
const NO_COMMIT = '';

/** How a ref moves. */
export interface RefMove {
  readonly to: string;
  /** The commit that the ref has to lead to before; null if the ref must not exist. */
  readonly from: string | null;
  /** What its reflog says. */
  readonly reason?: string;
  /** Whether the ref gets a reflog even if the configuration wants none. */
  readonly isLogged?: boolean;
  /** Whether a symbolic ref itself moves, and not the ref that it stands for: HEAD then leaves its branch. */
  readonly isDetached?: boolean;
}

/** Moves a ref if it still leads to `from`. Rejects with a `GitError`. */
export async function moveRef(git: Git, name: string, move: RefMove): Promise<void> {
  const how = [
    ...(move.isLogged === true ? ['--create-reflog'] : []),
    ...(move.reason === undefined ? [] : ['-m', move.reason]),
    ...(move.isDetached === true ? ['--no-deref'] : []),
  ];
  const args = ['update-ref', ...how, name, move.to, move.from ?? NO_COMMIT];
  outputOf(await askGit(git, args));
}

/** Puts HEAD on a branch, which need not have a commit. Rejects with a `GitError`. */
export async function putHeadOn(git: Git, branch: string, reason: string): Promise<void> {
  outputOf(await askGit(git, ['symbolic-ref', '-m', reason, 'HEAD', branch]));
}

/** Removes a ref if it leads to this commit. Rejects with a `GitError`. */
export async function deleteRef(git: Git, name: string, commit: string): Promise<void> {
  outputOf(await askGit(git, ['update-ref', '-d', name, commit]));
}

/** Removes all refs below a name, whatever they lead to. Resolves to whether all of them are gone. */
export async function deleteRefsBelow(git: Git, name: string): Promise<boolean> {
  const listed = await orNull(listRefs(git, [`${name}/`]));
  if (listed === null) return false;
  const input = Buffer.from(listed.map((ref) => `delete ${ref.name}\n`).join(''), 'latin1');
  return (await askGit(git, ['update-ref', '--no-deref', '--stdin'], { input })).exitCode === 0;
}
