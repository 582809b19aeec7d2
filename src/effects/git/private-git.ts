import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ask, type CallExtras, type Git, makeGit } from './call/git.ts';
import { type GitAnswer, outputOrNull, type RunGit, showGit } from './call/git-command.ts';
import type { GitSetting } from './call/git-program.ts';
import { subcommandOf } from './call/watched-calls.ts';
import { gitIn } from './git.ts';
import { type Repository, textOrNone } from './repository.ts';

/*
 * A git folder of ralph's own. Git works in the user's work tree and writes to the user's object
 * store, but with this folder's configuration, attributes and index:
 *
 *   GIT_DIR, GIT_INDEX_FILE ──► <state folder>/<task>/git      ralph's
 *   GIT_WORK_TREE           ──► the work tree                  the user's
 *   GIT_OBJECT_DIRECTORY    ──► <repository>/.git/objects      the user's
 *
 * So the repository's configuration is not read at all: no hook, filter, file watcher or signing
 * program of its runs, no conversion changes a byte, and the user's index is never touched.
 */

export interface GitCall {
  readonly input?: Uint8Array | undefined;
  /** The index to use instead of ralph's own. */
  readonly index?: string;
  readonly env?: Readonly<Record<`GIT_${string}`, string>>;
  /** Settings that override all others. */
  readonly settings?: readonly GitSetting[];
  /** Takes standard output piece by piece, however long it is; the answer then has none. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface PrivateGit {
  readonly folder: string;
  readonly repository: Repository;
  /**
   * Only for a tree that other machines go on with: a commit whose files of LFS are in the store that all of them reach.
   * Of a later one the snapshots have the content, since the store in this work tree stays here.
   */
  shared?: string;
  /** The newest command of git's that did not answer, such as `add`; null if none, or if somebody has seen it. */
  unanswered: string | null;
  /** Git with ralph's own folder, after its files were put right. */
  readonly own: Git;
  /** Git on the user's repository itself, for its refs and its index. */
  readonly users: Git;
  /** Runs git with ralph's own folder, after its files were put right. */
  run(args: readonly string[], call?: GitCall): Promise<GitAnswer>;
  /** Runs git on the user's repository itself, for its refs and its index. */
  onRepository(args: readonly string[], call?: GitCall): Promise<GitAnswer>;
  /** Has git print to the standard output of this process, as `run` otherwise; resolves to its exit code. */
  show(args: readonly string[]): Promise<number>;
}

export interface PrivateGitRequest {
  /** The folder to use; it is created. */
  readonly folder: string;
  readonly repository: Repository;
  readonly env: NodeJS.ProcessEnv;
  readonly runId?: string | undefined;
  /** Lines of `info/attributes`, which no `.gitattributes` overrules. Default: nothing converts a byte. */
  readonly attributes?: string;
  /** For one call of git. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Highest precedence, so no `.gitattributes` can bring a conversion back. */
const ATTRIBUTES = '* -text -eol -crlf -ident -filter -working-tree-encoding\n';

/**
 * Lost objects would make a ref useless: what a ref names is on the disk before the ref is. Each file
 * is flushed by itself, since flushing them in a batch leaves the order to the file system.
 */
const DURABLE = [
  ...['-c', 'core.fsync=objects,derived-metadata,reference'],
  ...['-c', 'core.fsyncMethod=fsync'],
  // A reflog of these refs would keep alive what is thinned.
  ...['-c', 'core.logAllRefUpdates=false'],
];

/** Opens the folder. Throws the system's error if it cannot be written. */
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
  const base = gitIn(repository.root, { env, runId, timeoutMs, signal });
  const heard = (places: Places, before = (): void => {}): Git =>
    makeGit(async (args, extras) => {
      before();
      const all = { ...extras, places: { ...places, ...extras.places } };
      const answer = await ask(base, [...DURABLE, ...args], all);
      if (answer.isUnanswered === true) git.unanswered = subcommandOf(args);
      return answer;
    });
  const tree = { GIT_WORK_TREE: repository.root };
  const objects = { GIT_DIR: folder, GIT_OBJECT_DIRECTORY: repository.objects };
  const index = { GIT_INDEX_FILE: path.join(folder, 'index') };
  const git: PrivateGit = {
    folder,
    repository,
    unanswered: null,
    // The agent can write here, and a configuration may name programs.
    own: heard({ ...objects, ...tree, ...index }, putRight),
    users: heard({ GIT_DIR: repository.gitDir, ...tree }),
    run: (args, call) => ask(git.own, args, extrasOf(call)),
    onRepository: (args, call) => ask(git.users, args, extrasOf(call)),
    show(args) {
      putRight();
      return showGit({ cwd: repository.root, env, args, places: objects });
    },
  };
  return git;
}

type Places = Readonly<Record<`GIT_${string}`, string>>;

function extrasOf({ input, index, env, settings, onOutput }: GitCall = {}): CallExtras {
  return {
    ...(input === undefined ? {} : { input }),
    ...(settings === undefined ? {} : { settings }),
    ...(onOutput === undefined ? {} : { onOutput }),
    places: { ...(index === undefined ? {} : { GIT_INDEX_FILE: index }), ...env },
  };
}

/** Git on the user's repository as a function that resolves to the output, or to null. */
export function runOnRepository(git: PrivateGit): RunGit {
  return async (_cwd, args, { settings = [] } = {}) =>
    outputOrNull(await git.onRepository(args, { settings }));
}

function ownFiles({ hash, exclude, excludesFile }: Repository): Readonly<Record<string, string>> {
  const format = hash === 'sha256' ? 1 : 0;
  const config = [
    '[core]',
    `repositoryformatversion = ${format}`,
    'bare = false',
    'autocrlf = false',
    'protectNTFS = false',
    'splitIndex = false',
    'untrackedCache = false',
    // The user's own settings would let a file that was put back in time pass for unchanged.
    'trustctime = true',
    'checkStat = default',
    'ignoreStat = false',
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

/** Returns a value as it stands in a git configuration file. */
export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
