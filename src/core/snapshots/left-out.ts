import { oneLine } from '../text/untrusted-text.ts';

/** Why something is in no snapshot, or only in part. */
export type LeftOutKind =
  | 'too-large'
  | 'unreadable'
  | 'unnameable'
  | 'empty-repository'
  /** A repository inside the tree with work that is not committed there. */
  | 'uncommitted'
  /** A repository inside the tree that git ignores, or that lies in another one. */
  | 'inner-repository'
  /** An untracked file that is kept, but looks like a secret. */
  | 'secret';

export interface LeftOut {
  readonly path: string;
  readonly kind: LeftOutKind;
}

/** So many paths are named one by one for each kind; the rest is counted. */
const NAMED_AT_MOST = 5;

/** How a kind is told: of one path, and of so many more. */
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
 * Returns sentences about what has not been said yet, and adds it to `said`. Paths of many are counted,
 * so that a folder of large files does not fill the screen.
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

/** The line of a `.gitignore` in the root of the work tree that means this file alone. */
function ignoreLine(path: string): string {
  return `/${path.replace(/[\\*?[\]!#]|\s$/g, '\\$&')}`;
}
