import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { askGit, type Git, makeGit } from './call/git.ts';
import { showGit } from './call/git-command.ts';
import { gitIn, hearing, withIndex, withPlaces, withTree } from './git.ts';
import { type Repository, textOrNone } from './repository.ts';

/*
 * A git folder of ralph's own. Git works in the user's work tree and writes to the user's object
 * store, but with this folder's configuration, attributes and index:
 *
 *   GIT_DIR, GIT_INDEX_FILE ──► <state folder>/<task>/git      ralph's
 *   GIT_WORK_TREE           ──► the work tree                  the user's
 *   GIT_OBJECT_DIRECTORY    ──► <repository>/.git/objects      the user's
 *
 * So git does not read the repository's configuration: it runs none of the repository's hooks, filters, file watchers
 * or signing programs, converts no byte, and never touches the user's index.
 */

export interface PrivateGit {
  readonly folder: string;
  readonly repository: Repository;
  /**
   * Set only if other machines go on with this work: a commit whose large files (in Git LFS, outside of git's objects)
   * all of them can fetch. Large files that have changed since this commit are only on this machine, so snapshots hold
   * their content.
   */
  shared?: string;
  /** The last git command that did not answer, such as `add`; null if there is none since this was last set to null. */
  unanswered: string | null;
  /** Git with ralph's own folder, whose files are restored before each call. */
  readonly own: Git;
  /** Git on the user's repository itself, for its refs and its index. */
  readonly users: Git;
  /** Git without ralph's folder, for use in any folder. */
  readonly anywhere: Git;
  /** Prints how two trees differ, as `git diff` or `git diff --stat` does. Resolves to git's exit code. */
  showDiff(from: string, to: string, asStat: boolean): Promise<number>;
}

export interface PrivateGitRequest {
  /** The folder to use; it is created. */
  readonly folder: string;
  readonly repository: Repository;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string | undefined;
  /** Lines of `info/attributes`, which no `.gitattributes` overrules. Default: they switch off all conversions. */
  readonly attributes?: string;
  /** The limit for one call of git. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The attributes with the highest precedence, so no `.gitattributes` can bring a conversion back. */
const ATTRIBUTES = '* -text -eol -crlf -ident -filter -working-tree-encoding\n';

/**
 * A ref is useless if its objects are lost, so git flushes objects to the disk before the ref that leads to them. It
 * flushes each file by itself, since flushing them in a batch leaves the order to the file system.
 */
const DURABLE = [
  ...['-c', 'core.fsync=objects,derived-metadata,reference'],
  ...['-c', 'core.fsyncMethod=fsync'],
  // A reflog of these refs would keep the objects of removed snapshots.
  ...['-c', 'core.logAllRefUpdates=false'],
];

/** Opens ralph's own git folder. Throws the system's error if the folder cannot be written. */
export function openPrivateGit(request: PrivateGitRequest): PrivateGit {
  const { folder, repository, env, runId, timeoutMs, signal, attributes = ATTRIBUTES } = request;
  const files = { ...ownFiles(repository), 'info/attributes': attributes };
  const putRight = (): void => {
    for (const name of ['info', 'objects', 'refs']) {
      mkdirSync(path.join(folder, name), { recursive: true, mode: 0o700 });
    }
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(folder, name);
      if (textOrNone(file) === content) continue;
      rmSync(file, { recursive: true, force: true });
      writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
    }
  };
  putRight();
  const anywhere = gitIn(repository.root, { env, runId, timeoutMs, signal });
  const base = hearing(anywhere, (command) => {
    git.unanswered = command;
  });
  const durable = withTree(
    makeGit((args, extras) => askGit(base, [...DURABLE, ...args], extras)),
    repository.root,
  );
  const objects = { GIT_DIR: folder, GIT_OBJECT_DIRECTORY: repository.objects };
  const own = withIndex(withPlaces(durable, objects), path.join(folder, 'index'));
  const git: PrivateGit = {
    folder,
    repository,
    unanswered: null,
    // The agent can write to this folder, and a configuration in it could name programs.
    own: makeGit((args, extras) => {
      putRight();
      return askGit(own, args, extras);
    }),
    users: withPlaces(durable, { GIT_DIR: repository.gitDir }),
    anywhere,
    showDiff(from, to, asStat) {
      putRight();
      // A submodule's own configuration could name programs: only its commits are shown.
      const safely = ['--no-ext-diff', '--no-textconv', '--submodule=short'];
      const args = [
        'diff',
        ...safely,
        '--ignore-submodules=none',
        ...(asStat ? ['--stat'] : []),
        from,
        to,
      ];
      return showGit({ cwd: repository.root, env, args, places: objects });
    },
  };
  return git;
}

function ownFiles({
  hash,
  exclude,
  excludesFile,
  objects,
}: Repository): Readonly<Record<string, string>> {
  const format = hash === 'sha256' ? 1 : 0;
  const config = [
    '[core]',
    `repositoryformatversion = ${format}`,
    'bare = false',
    'autocrlf = false',
    'protectNTFS = false',
    'splitIndex = false',
    'untrackedCache = false',
    // The user's own settings could make git miss a change in a file whose time was set back afterwards.
    'trustctime = true',
    'checkStat = default',
    'ignoreStat = false',
    // They could also hide executable bits, write a link as a file, or take two files for one.
    'fileMode = true',
    'symlinks = true',
    'ignoreCase = false',
    `sharedRepository = ${isOfGroup(objects) ? 'group' : 'umask'}`,
    ...(excludesFile === null ? [] : [`excludesFile = ${quoted(excludesFile)}`]),
    ...(hash === 'sha256' ? ['[extensions]', 'objectFormat = sha256'] : []),
    '',
  ].join('\n');
  return {
    HEAD: 'ref: refs/heads/none\n',
    config,
    'info/exclude': textOrNone(exclude),
  };
}

/**
 * Whether a group shares the repository (`git init --shared`): its folders have these two bits. The others of the group
 * could add no object to a folder of objects that only ralph may write.
 */
function isOfGroup(objects: string): boolean {
  const mode = statSync(objects, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & SHARED) === SHARED;
}

/** What git adds to the mode of a shared folder: its group may write, and new files get its group. */
const SHARED = 0o2020;

/** Calls `work` with the path of a new index, which is removed afterwards. */
export async function inNewIndex<T>(
  { folder }: PrivateGit,
  work: (index: string) => Promise<T>,
): Promise<T> {
  const index = path.join(folder, `index-${randomUUID()}`);
  try {
    return await work(index);
  } finally {
    rmSync(index, { force: true });
  }
}

/** Returns a value as it stands in a git configuration file. */
export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Returns the same git, which also reads objects from these folders. */
export function seeing(git: Git, objects: readonly string[]): Git {
  // A colon ends a path in this variable, so the paths are in quotation marks, which git reads as C does.
  return withPlaces(git, { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.map(quoted).join(':') });
}
