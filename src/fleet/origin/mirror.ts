import { existsSync } from 'node:fs';
import path from 'node:path';
import { sha256Of } from '../../effects/files/file-hash.ts';
import { removeTree } from '../../effects/files/remove-tree.ts';
import type { Git } from '../../effects/git/git.ts';
import { complaintOf } from '../../effects/git/git-error.ts';
import { seeing } from '../../effects/git/private-git.ts';
import {
  type FetchTrouble,
  fetchTrouble,
  mayBeDamage,
  type PushEnd,
  saysLocked,
  saysSha256,
  shownUrl,
} from '../../effects/git/questions/origin-answer.ts';
import {
  isInHistory,
  resolveCommit,
  resolveName,
  setRef,
} from '../../effects/git/questions/refs.ts';
import { fetchFrom, isDamaged, listThere, pushTo } from '../../effects/git/questions/remote.ts';
import { waitForLock } from '../../effects/lock/wait-for-lock.ts';
import {
  type GitBase,
  type Hash,
  hashOf,
  makeMirror,
  mirrorGit,
  mirrorPlace,
  removeStaleLocks,
  replaceMirror,
} from './mirror-folder.ts';

export interface MirrorRequest {
  readonly home: string;
  /** The URL of the task's repository; the worker's policy allows it. */
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string;
  /** Kills git at once when it aborts; the call's outcome is then `away`. */
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

type Resolved = { readonly kind: 'found'; readonly commit: string } | FetchTrouble;

type Fetched =
  | { readonly kind: 'fetched'; readonly commits: ReadonlyMap<string, string> }
  | FetchTrouble;

type Listed =
  | { readonly kind: 'listed'; readonly refs: ReadonlyMap<string, string> }
  | FetchTrouble;

interface PushRequest {
  /** The commit that the ref has to hold before the push; `absent`, the default, if it must not exist. */
  readonly expect?: string | 'absent';
  /** The folder with the objects of the agent's repository; without it, only objects of the mirror can be sent. */
  readonly objects?: string;
}

/** The repository in which a worker fetches and pushes for all its runs of tasks (legs) of one URL. */
export interface Mirror {
  readonly url: string;
  readonly folder: string;
  readonly objects: string;
  /** The hash algorithm of its commit ids, which is known once something was fetched. */
  readonly hash: Hash;
  /** Git in the mirror; it does not take the mirror's lock. */
  readonly git: Git;
  /** Git for the origin, with the worker's credentials. */
  online(): Promise<Git>;
  /** Finds the commit of a branch, a tag, a whole id or (null) the origin's HEAD, and fetches it if necessary. */
  resolve(ref: string | null): Promise<Resolved>;
  /**
   * Fetches refs, and all branches and tags, so that a work tree has what a clone has. Resolves to the commits of the
   * refs.
   */
  fetch(refs: readonly string[]): Promise<Fetched>;
  /** Whether the mirror has a commit, with all objects that it needs. */
  has(commit: string): Promise<boolean>;
  /** Sets the origin's ref to a commit if it still holds what is expected, so that no other push is overwritten. */
  push(commit: string, ref: string, request?: PushRequest): Promise<PushEnd>;
  /** Lists the origin's refs below a prefix that ends with a slash, or the one ref of that name. */
  list(refs: string): Promise<Listed>;
}

/** How long one call of git may take by default: a clone of a large repository needs much time. */
const TIMEOUT_MS = 20 * 60_000;

/** Returns the mirror's own ref for something that was fetched by a whole name or id. */
function keptRef(ref: string): string {
  return `refs/kept/${sha256Of(ref).slice(0, 40)}`;
}

/**
 * Whether a name is HEAD, a full ref name or an id. Shorter names are looked up among the fetched branches and tags:
 * git would prune what it fetches by a short name, since no ref of the origin has that name.
 */
function isWhole(ref: string): boolean {
  return ref === 'HEAD' || ref.startsWith('refs/') || ID.test(ref);
}

const ALL = ['+refs/heads/*:refs/origin/heads/*', '+refs/tags/*:refs/origin/tags/*'];

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Matches what git allows in no ref name, and what would have a meaning in a refspec. */
const NO_NAME = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|^$|^-/u;

/**
 * Opens the mirror of a URL, which is made when it is first needed. Its methods reject with the system's error if
 * nothing can be written; every other failure is returned.
 */
export function openMirror(request: MirrorRequest): Mirror {
  const { home, url, env, runId, signal, timeoutMs = TIMEOUT_MS } = request;
  const place = mirrorPlace(home, url);
  const base: GitBase = { env, runId, signal, timeoutMs };
  const { git, online } = mirrorGit(place, base);

  /** Runs `work` under the mirror's lock, since two fetches of one ref would collide; null if the signal aborts. */
  const locked = async <T>(work: () => Promise<T>): Promise<T | null> => {
    const release = await waitForLock(place.parent, place.name, signal);
    if (release === null) return null;
    try {
      await makeMirror(place, 'sha1', base);
      return await work();
    } finally {
      release();
    }
  };
  const isMade = () => existsSync(path.join(place.folder, 'HEAD'));
  const ready = async (): Promise<void> => {
    if (!isMade()) await locked(async () => {});
  };

  /** Resolves a name to its commit among what was fetched: tags before branches, as in git. */
  const commitOf = async (ref: string): Promise<string | null> => {
    const places = isWhole(ref)
      ? [keptRef(ref)]
      : ['', 'tags/', 'heads/'].map((kind) => `refs/origin/${kind}${ref}`);
    for (const place of places) {
      const found = await resolveCommit(git, place);
      if (found !== null) return found;
    }
    return null;
  };

  const fetchOnce = async (refs: readonly string[]): Promise<Fetched> => {
    const specs = refs.filter(isWhole).map((ref) => `+${ref}:${keptRef(ref)}`);
    const origin = await online();
    const fetchAll = () => complaintOf(fetchFrom(origin, url, [...ALL, ...specs], { prune: true }));
    let complaint = await fetchAll();
    if (complaint !== null && saysSha256(complaint)) {
      // The mirror was made for SHA-1 ids, so it is still empty and can be made again.
      removeTree(place.folder);
      await makeMirror(place, 'sha256', base);
      complaint = await fetchAll();
    }
    if (complaint !== null && saysLocked(complaint) && removeStaleLocks(place)) {
      complaint = await fetchAll();
    }
    if (complaint !== null && mayBeDamage(complaint) && (await isDamaged(git))) {
      await replaceMirror(place, git, base);
      complaint = await fetchAll();
    }
    if (complaint !== null) return fetchTrouble(complaint, url, refs.join(', '));
    const commits = new Map<string, string>();
    for (const ref of refs) {
      const commit = await commitOf(ref);
      if (commit === null) return noRef(`commit under the name ${ref}`);
      // The origin may lose the commit, but the task needs it for as long as it runs.
      await setRef(git, `refs/kept/${commit}`, commit);
      commits.set(ref, commit);
    }
    return { kind: 'fetched', commits };
  };
  const noRef = (what: string): FetchTrouble => ({
    kind: 'no-ref',
    why: `${shownUrl(url)} has no ${what}.`,
  });
  const stopped = (): FetchTrouble => ({ kind: 'away', why: `${shownUrl(url)} was not asked.` });

  const fetch = async (refs: readonly string[]): Promise<Fetched> => {
    const unnamed = refs.find((ref) => NO_NAME.test(ref));
    if (unnamed !== undefined) return noRef(`${JSON.stringify(unnamed)}: git allows no such name`);
    return (await locked(() => fetchOnce(refs))) ?? stopped();
  };

  const has = async (commit: string): Promise<boolean> => {
    if (!ID.test(commit) || !isMade()) return false;
    return (await resolveName(git, `refs/kept/${commit}`)) !== null || isInHistory(git, commit);
  };

  const list = async (refs: string): Promise<Listed> => {
    await ready();
    const listed = await listThere(await online(), url, refs);
    return listed.kind === 'listed' ? listed : fetchTrouble(listed.complaint, url, refs);
  };

  /** Finds out why a push lost a race: another push came first, or an earlier one of ours arrived without an answer. */
  const lookInto = async (
    commit: string,
    ref: string,
    expected: string | null,
    why: string,
  ): Promise<PushEnd> => {
    const now = await list(ref);
    if (now.kind !== 'listed') return { kind: 'away', why: now.why };
    const there = now.refs.get(ref) ?? null;
    if (there === commit) return { kind: 'pushed' };
    if (there === expected) return { kind: 'away', why };
    return { kind: 'moved', why: `${ref} of ${shownUrl(url)} was moved by somebody else.` };
  };

  return {
    url,
    folder: place.folder,
    objects: path.join(place.folder, 'objects'),
    get hash() {
      return hashOf(place);
    },
    git,
    online,
    has,
    list,
    fetch,
    async resolve(ref) {
      const name = ref ?? 'HEAD';
      // A commit that was fetched before is in the mirror, even if the origin is away or has lost that commit.
      if (ID.test(name) && (await has(name))) return { kind: 'found', commit: name };
      const fetched = await fetch([name]);
      if (fetched.kind !== 'fetched') return fetched;
      return { kind: 'found', commit: fetched.commits.get(name) ?? '' };
    },
    async push(commit, ref, { expect = 'absent', objects } = {}) {
      await ready();
      const expected = expect === 'absent' ? null : expect;
      const origin = await online();
      const sender = objects === undefined ? origin : seeing(origin, [objects]);
      const end = await pushTo(sender, url, [commit, ref], expected);
      return end.kind === 'raced' ? lookInto(commit, ref, expected, end.why) : end;
    },
  };
}
