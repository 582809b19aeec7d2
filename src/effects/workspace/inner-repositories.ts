import { existsSync } from 'node:fs';
import path from 'node:path';
import { gitIn, withPlaces } from '../git/git.ts';
import { allBut } from '../git/pathspecs.ts';
import { monotonicMs } from '../time/monotonic.ts';
import { changedFiles } from './dirty-files.ts';
import { repositoryFinder } from './find-repositories.ts';
import { readFiles, type TreeFiles } from './git-view.ts';

/*
 * Detects changes in the repositories inside a work tree: submodules, and others, even those that git ignores. `git
 * status` of the work tree says nothing about uncommitted files in them, and no snapshot has those. A look takes one
 * git process for each repository, and one more if it may have filters.
 */

export interface InnerRequest {
  /** Absolute paths of folders whose files do not count, such as the one in which ralph keeps its state. */
  readonly excluded: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Id of the run; it marks the processes that git starts. */
  readonly runId?: string;
  /** Limit for one git process, in ms. */
  readonly timeoutMs?: number;
  /** Aborting this signal kills git at once. */
  readonly signal?: AbortSignal;
}

/** A repository inside the tree. Paths are relative to the root of the tree, with one character for each byte. */
export interface InnerRepository {
  readonly path: string;
  /** Whether the repository has uncommitted or untracked files; false if ralph could not look. */
  readonly isDirty: boolean;
  /** What has changed since the last look: files in the repository, or its own path if it is new or its HEAD has moved. */
  readonly changed: readonly string[];
}

interface InnerLook {
  readonly repositories: readonly InnerRepository[];
  /** All changed paths, including the repositories that are gone. */
  readonly changed: readonly string[];
}

/** No method rejects. */
export interface InnerRepositories {
  /** All paths that `since` has found changed so far. */
  readonly changedInAll: ReadonlySet<string>;
  /** Looks at the repositories below `root`, and reports nothing as changed. */
  mark(root: string): Promise<InnerLook>;
  /** Compares the repositories with the last look at them. If that had another `root`, does what `mark` does. */
  since(root: string): Promise<InnerLook>;
}

/** If there are more repositories, the others are only noticed when they appear or disappear. */
const LOOKED_AT_MOST = 50;
const TIMEOUT_MS = 10_000;

export function createInnerRepositories(request: InnerRequest): InnerRepositories {
  const { excluded, env, runId, signal, timeoutMs = TIMEOUT_MS } = request;
  const find = repositoryFinder(excluded);
  /** The repositories in which a look took too long, as the next one would. */
  const slow = new Set<string>();
  /** The last look at each repository; null if that failed. */
  let seen: ReadonlyMap<string, TreeFiles | null> = new Map();
  let seenIn: string | null = null;
  const changedInAll = new Set<string>();

  const lookInto = async (folder: string): Promise<TreeFiles | null> => {
    if (slow.has(folder)) return null;
    const startedAtMs = monotonicMs();
    // A broken repository must not lead git to the one around it, and no setting to files elsewhere.
    const places = { GIT_CEILING_DIRECTORIES: path.dirname(folder), GIT_WORK_TREE: folder };
    const git = withPlaces(gitIn(folder, { env, runId, timeoutMs, signal }), places);
    const tree = { root: folder, pathspecs: allBut(excluded, folder) };
    const files = await readFiles(tree, seen.get(folder)?.dirty ?? null, git);
    if (files === null && monotonicMs() - startedAtMs >= timeoutMs) slow.add(folder);
    return files;
  };

  const lookAround = async (root: string): Promise<ReadonlyMap<string, TreeFiles | null>> => {
    const found = await find(root);
    const wasSeen = (folder: string): boolean => (seen.get(folder) ?? null) !== null;
    const chosen = [...found.filter(wasSeen), ...found.filter((folder) => !wasSeen(folder))];
    const looked = new Set(chosen.slice(0, LOOKED_AT_MOST));
    const all = found.map(
      async (folder) => [folder, looked.has(folder) ? await lookInto(folder) : null] as const,
    );
    return new Map(await Promise.all(all));
  };

  const mark = async (root: string): Promise<InnerLook> => {
    seen = await lookAround(root);
    seenIn = root;
    const repositories = [...seen].map(([folder, now]) => stateOf(root, folder, now, []));
    return { repositories, changed: [] };
  };

  return {
    changedInAll,
    mark,
    async since(root) {
      if (seenIn !== root) return mark(root);
      const before = seen;
      const found = await lookAround(root);
      const repositories: InnerRepository[] = [];
      for (const [folder, now] of found) {
        const changed = await changedIn(root, folder, before.get(folder), now);
        repositories.push(stateOf(root, folder, now, changed));
      }
      const missing = [...before].filter(([folder]) => !found.has(folder));
      const broken = missing.filter(([folder]) => existsSync(path.join(folder, '.git')));
      const gone = missing.filter((each) => !broken.includes(each));
      // If a look has failed, the earlier one stays, so that no change is lost.
      const kept = [...found].map(
        ([folder, now]) => [folder, now ?? before.get(folder) ?? null] as const,
      );
      seen = new Map([...broken, ...kept]);
      const changed = [
        ...repositories.flatMap((each) => each.changed),
        ...gone.map(([folder]) => nameIn(root, folder)),
      ];
      for (const name of changed) changedInAll.add(name);
      return { repositories, changed };
    },
  };
}

/** Returns what changed in a repository. `then` is undefined for a new one. */
async function changedIn(
  root: string,
  folder: string,
  then: TreeFiles | null | undefined,
  now: TreeFiles | null,
): Promise<readonly string[]> {
  const name = nameIn(root, folder);
  if (then === undefined) return [name];
  if (then === null || now === null) return [];
  const files = await changedFiles(folder, then.dirty, now.dirty);
  return [...(then.head === now.head ? [] : [name]), ...files.map((file) => `${name}/${file}`)];
}

function stateOf(
  root: string,
  folder: string,
  files: TreeFiles | null,
  changed: readonly string[],
): InnerRepository {
  return { path: nameIn(root, folder), isDirty: (files?.dirty.size ?? 0) > 0, changed };
}

function nameIn(root: string, folder: string): string {
  return Buffer.from(path.relative(root, folder)).toString('latin1');
}
