import { askGit, type Git } from '../call/git.ts';
import { outputOrNull } from '../call/git-command.ts';
import { GitError, outputOf, reasonOf } from '../git-error.ts';
import { asText } from '../tree-path.ts';

/** A ref, and where it leads. */
export interface ListedRef {
  /** In full, one character for each byte. */
  readonly name: string;
  readonly id: string;
  /** The work tree that has this branch checked out; '' for none. */
  readonly checkedOutIn: string;
}

/** Lists all refs, or those with this name or below it. Resolves to null if git fails. */
export async function listRefs(git: Git, name?: string): Promise<readonly ListedRef[] | null> {
  const format = '--format=%(objectname) %(refname) %(worktreepath)';
  const args = ['for-each-ref', format, ...(name === undefined ? [] : [name])];
  const output = outputOrNull(await askGit(git, args));
  if (output === null) return null;
  return [...output.matchAll(/^([^ \n]+) ([^ \n]+) ([^\n]*)$/gm)].map(
    ([, id = '', ref = '', place = '']) => ({ name: ref, id, checkedOutIn: asText(place) }),
  );
}

/**
 * Returns the ids of all refs below a name. What a ref that only leads to another one holds is no id. Rejects with a
 * `GitError`.
 */
export async function readRefs(git: Git, name: string): Promise<ReadonlyMap<string, string>> {
  const format = '--format=%(objectname)%(symref) %(refname)';
  const output = outputOf(await askGit(git, ['for-each-ref', format, `${name}/`]));
  return new Map(
    [...output.matchAll(/^([^ \n]+) ([^\n]+)$/gm)].map(
      ([, id = '', ref = '']) => [ref, id] as const,
    ),
  );
}

/** Returns the id that a name leads to; null for none. */
export async function resolveName(git: Git, name: string): Promise<string | null> {
  return (
    outputOrNull(await askGit(git, ['rev-parse', '--verify', '--quiet', name]))?.trim() ?? null
  );
}

/** Returns the commit that a name leads to, through a tag, too; null for none. */
export function resolveCommit(git: Git, name: string): Promise<string | null> {
  return resolveName(git, `${name}^{commit}`);
}

/** Returns the commit that a person names; null if there is no such commit, and for a name that looks like an option. */
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

/** Returns the short name of the branch that HEAD is on; null if HEAD is on no branch. */
export async function shortBranchOfHead(git: Git): Promise<string | null> {
  const named = outputOrNull(await askGit(git, ['symbolic-ref', '--quiet', '--short', 'HEAD']));
  return named === null ? null : asText(named.trim());
}

/** Returns the full names of the refs that match, those with the highest number first; none if git fails. */
export async function refsLike(git: Git, patterns: readonly string[]): Promise<readonly string[]> {
  const args = ['for-each-ref', '--sort=-version:refname', '--format=%(refname)', ...patterns];
  return linesOf(asText((await askGit(git, args)).output));
}

/** Returns all refs as a file of packed refs has them, one character for each byte. Rejects with a `GitError`. */
export async function packedRefs(git: Git): Promise<readonly string[]> {
  return linesOf(
    outputOf(await askGit(git, ['for-each-ref', '--format=%(objectname) %(refname)'])),
  );
}

/** Returns the names of the branches that are the usual ones of remotes. */
export async function branchesOfRemotes(git: Git): Promise<readonly string[]> {
  const format = '--format=%(symref:lstrip=3)';
  return linesOf(
    asText((await askGit(git, ['for-each-ref', format, 'refs/remotes/*/HEAD'])).output),
  );
}

function linesOf(output: string): readonly string[] {
  return output.split('\n').filter((line) => line !== '');
}

/** Whether a commit is part of what any ref leads to. */
export async function isInHistory(git: Git, commit: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=.', `--contains=${commit}`];
  const { exitCode, output } = await askGit(git, args);
  return exitCode === 0 && output !== '';
}

/** Has a ref lead to a commit, whatever it led to before. Resolves to whether it does. */
export async function setRef(git: Git, name: string, commit: string): Promise<boolean> {
  return (await askGit(git, ['update-ref', name, commit])).exitCode === 0;
}

/**
 * Makes a ref, which must not be there unless `mayReplace`. It waits for a lock for so many milliseconds. Resolves to
 * whether it is made: not if it, or one below it, is there already. Rejects with a `GitError` if git refuses it.
 */
export async function makeRef(
  git: Git,
  name: string,
  commit: string,
  { mayReplace = false, lockTimeoutMs }: { mayReplace?: boolean; lockTimeoutMs?: number } = {},
): Promise<boolean> {
  const patience =
    lockTimeoutMs === undefined ? [] : ['-c', `core.filesRefLockTimeout=${lockTimeoutMs}`];
  const args = ['update-ref', '--no-deref', name, commit, ...(mayReplace ? [] : [NO_COMMIT])];
  const answer = await askGit(git, [...patience, ...args]);
  if (answer.exitCode === 0) return true;
  const { complaint } = answer;
  // If somebody has made a ref below it, git takes none of this name.
  if (/already exists/.test(complaint) || complaint.includes(`'${name}/`)) return false;
  throw new GitError(reasonOf(answer), complaint);
}

/** As the old value of a ref, it means that the ref must not be there. */
const NO_COMMIT = '';

/** How a ref moves. */
export interface RefMove {
  readonly to: string;
  /** The commit that it has to lead to before; null if it must not be there. */
  readonly from: string | null;
  /** What its reflog says. */
  readonly reason?: string;
  /** Whether it gets a reflog in any case. */
  readonly isLogged?: boolean;
  /** Whether the ref itself moves, and not what it leads to: HEAD leaves its branch. */
  readonly isDetached?: boolean;
}

/** Moves a ref by compare and swap. Rejects with a `GitError`. */
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

/** Removes a ref that leads to this commit. Rejects with a `GitError`. */
export async function deleteRef(git: Git, name: string, commit: string): Promise<void> {
  outputOf(await askGit(git, ['update-ref', '-d', name, commit]));
}

/** Removes refs, whatever they lead to. Resolves to whether all of them are gone. */
export async function deleteRefs(git: Git, names: Iterable<string>): Promise<boolean> {
  return deleteListed(git, Buffer.from([...names].map((name) => `delete ${name}\n`).join('')));
}

/** Removes all refs below a name. Resolves to whether all of them are gone. */
export async function deleteRefsBelow(git: Git, name: string): Promise<boolean> {
  const format = '--format=delete %(refname) %(objectname)';
  const listed = outputOrNull(await askGit(git, ['for-each-ref', format, `${name}/`]));
  return listed === '' || (listed !== null && deleteListed(git, Buffer.from(listed, 'latin1')));
}

async function deleteListed(git: Git, input: Uint8Array): Promise<boolean> {
  return (await askGit(git, ['update-ref', '--no-deref', '--stdin'], { input })).exitCode === 0;
}
