import { oneLine } from '../text/untrusted-text.ts';

/** Why a path is not in a snapshot, or only in part. The exception is `secret`: such a file is kept, with a warning. */
export type LeftOutKind =
  | 'too-large'
  | 'unreadable'
  | 'unnameable'
  | 'empty-repository'
  /** A repository inside the tree with work that is not committed there. */
  | 'uncommitted'
  /** A repository inside the tree that git ignores, or that lies in another such repository. */
  | 'inner-repository'
  /** An untracked file that looks like a secret, and is kept all the same. */
  | 'secret';

export interface LeftOut {
  readonly path: string;
  readonly kind: LeftOutKind;
}

/** How many paths of each kind are named one by one; further paths are only counted. */
const NAMED_AT_MOST = 5;

/** The sentence for one path of a kind, and the words after the number of further paths. */
const WORDS: Readonly<Record<LeftOutKind, { one: (path: string) => string; more: string }>> = {
  'too-large': {
    one: (path) => `${path} is in no snapshot: it is larger than --snapshot-limit.`,
    more: 'more files are larger than --snapshot-limit',
  },
  unreadable: {
    one: (path) => `${path} is in no snapshot: it cannot be read.`,
    more: 'more files cannot be read',
  },
  unnameable: {
    one: (path) => `${path} is in no snapshot: git keeps nothing called .git.`,
    more: 'more files have .git in their paths',
  },
  'empty-repository': {
    one: (path) =>
      `${path} is in no snapshot: it is a repository without a commit; commit something there, or remove its .git.`,
    more: 'more repositories have no commit',
  },
  uncommitted: {
    one: (path) =>
      `Of the repository ${path} snapshots keep only the commit, not what is uncommitted in it.`,
    more: 'more repositories have uncommitted work',
  },
  'inner-repository': {
    one: (path) =>
      `The repository ${path} is in no snapshot, and no undo takes back what is done in it.`,
    more: 'more repositories are in no snapshot',
  },
  secret: {
    one: (path) =>
      `${path} looks like a secret and is kept in snapshots on this machine; to leave it out, add this line to .gitignore: ${ignoreLine(path)}`,
    more: 'more files look like secrets',
  },
};

/**
 * Returns sentences about the paths that are not in `said` yet, and adds those paths to `said`. Of each kind, the
 * first few are named and the rest counted, so that a folder of large files does not fill the screen.
 */
export function leftOutSentences(all: readonly LeftOut[], said: Set<string>): readonly string[] {
  const fresh = all.filter(({ path, kind }) => !said.has(`${kind} ${path}`));
  for (const { path, kind } of fresh) said.add(`${kind} ${path}`);
  const kinds = [...new Set(fresh.map(({ kind }) => kind))];
  return kinds.flatMap((kind) => {
    const { one, more } = WORDS[kind];
    const paths = fresh.filter((each) => each.kind === kind).map(({ path }) => path);
    const named = paths.slice(0, NAMED_AT_MOST).map((path) => one(oneLine(path, 200)));
    const rest = paths.length - named.length;
    return rest === 0 ? named : [...named, `${rest} ${more}.`];
  });
}

/** Returns the line for the `.gitignore` in the root of the work tree that ignores only this file. */
function ignoreLine(path: string): string {
  return `/${path.replace(/[\\*?[\]!#]|\s$/g, '\\$&')}`;
}
