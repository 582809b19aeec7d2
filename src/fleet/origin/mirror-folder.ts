import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { sha256Of } from '../../effects/files/file-hash.ts';
import { removeTree } from '../../effects/files/remove-tree.ts';
import { makePrivateFolder } from '../../effects/files/write-file.ts';
import { callGit, type GitAnswer, type GitCommand } from '../../effects/git/call/git-command.ts';
import { quoted } from '../../effects/git/private-git.ts';
import { shownUrl } from '../core/origin-answer.ts';

/*
 * `<home>/mirrors/<sha256 of the URL>.git` is a bare repository that all legs of a URL share. Git fetches and pushes
 * there, and never in the repository of an agent: that one's configuration and hooks are the agent's. Nothing is
 * ever removed from it, since work trees borrow its objects.
 */

export interface MirrorPlace {
  /** Absolute path of the folder with all mirrors. */
  readonly parent: string;
  /** The name of this one, without its ending. */
  readonly name: string;
  readonly folder: string;
  readonly url: string;
}

/** Returns where the mirror of a URL is below a worker's home. */
export function mirrorPlace(home: string, url: string): MirrorPlace {
  const parent = path.join(home, 'mirrors');
  const name = sha256Of(url);
  return { parent, name, folder: path.join(parent, `${name}.git`), url };
}

export type Hash = 'sha1' | 'sha256';

/**
 * The settings of a mirror. No git may tidy up behind the work trees that borrow from it. Objects are flushed to the
 * disk all at once, and refs are not: a repository may have thousands.
 */
const SETTINGS =
  '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = objects\n\tfsyncMethod = batch\n';

export type GitBase = Pick<GitCommand, 'env' | 'runId' | 'signal' | 'timeoutMs'>;

/**
 * Makes the mirror unless it is there; only under its lock. Throws the system's error, or one with git's words.
 */
export async function makeMirror(place: MirrorPlace, hash: Hash, git: GitBase): Promise<void> {
  const { folder, parent, url } = place;
  if (existsSync(path.join(folder, 'HEAD'))) return;
  const unfinished = `${folder}.new`;
  makePrivateFolder(parent);
  for (const each of [unfinished, folder]) removeTree(each);
  const args = ['init', '--bare', '--quiet', '--template=', `--object-format=${hash}`, unfinished];
  const made = await callGit({ ...git, cwd: parent, args });
  if (made.exitCode !== 0) throw new Error(`git cannot make ${unfinished}: ${made.complaint}`);
  appendFileSync(path.join(unfinished, 'config'), SETTINGS);
  // For a person who wonders whose folder this is.
  writeFileSync(path.join(unfinished, 'description'), `${shownUrl(url)}\n`);
  renameSync(unfinished, folder);
}

/** Whether git cannot read all that the refs of a mirror lead to. */
export async function isDamaged(git: MirrorGit): Promise<boolean> {
  const { exitCode } = await git(['fsck', '--connectivity-only', '--no-dangling', '--no-progress']);
  return exitCode !== null && exitCode !== 0;
}

/**
 * Makes a new mirror in the place of a damaged one; only under the mirror's lock. Work trees may borrow objects that the
 * origin has under no branch, so what can still be read of them comes along. Rejects with the system's error.
 */
export async function replaceMirror(
  place: MirrorPlace,
  git: MirrorGit,
  base: GitBase,
): Promise<void> {
  const old = `${place.folder}.damaged`;
  const hash = hashOf(place);
  removeTree(old);
  renameSync(place.folder, old);
  await makeMirror(place, hash, base);
  const all = await git([...FETCH, '--', old, '+refs/kept/*:refs/kept/*']);
  if (all.exitCode !== 0) {
    // One that cannot be read must not keep the others back.
    const { output } = await git(['ls-remote', '--quiet', '--', old, 'refs/kept/*']);
    for (const [, ref] of output.matchAll(/\t(refs\/kept\/\S+)$/gm)) {
      await git([...FETCH, '--', old, `+${ref}:${ref}`]);
    }
  }
  removeTree(old);
}

/** Returns the kind of ids that a mirror has. It is chosen when the mirror is made. */
export function hashOf({ folder }: MirrorPlace): Hash {
  const config = readFileSync(path.join(folder, 'config'), 'utf8');
  return /objectformat\s*=\s*sha256/i.test(config) ? 'sha256' : 'sha1';
}

/** The words of every fetch: it takes nothing but what it is asked for, and leaves nothing else behind. */
export const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
  '--no-recurse-submodules',
];

/** Git holds the lock of a ref for a moment. A lock that is older than this, in milliseconds, is that of a killed git. */
const LOCKED_AT_MOST_MS = 60_000;

/**
 * Removes the locks that killed gits have left in the mirror, so that its refs can be written again; no ref has a name
 * that ends like one. Call it under the mirror's lock. Returns whether there were any. Throws the system's error.
 */
export function removeStaleLocks({ folder }: MirrorPlace): boolean {
  const refs = readdirSync(path.join(folder, 'refs'), { recursive: true, encoding: 'utf8' });
  const names = ['packed-refs.lock', ...refs.map((name) => path.join('refs', name))];
  const stale = names.filter((name) => {
    if (!name.endsWith('.lock')) return false;
    const lockedAt = statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    return lockedAt !== undefined && Date.now() - lockedAt > LOCKED_AT_MOST_MS;
  });
  for (const name of stale) rmSync(path.join(folder, name), { force: true });
  return stale.length > 0;
}

/** Which ways to an origin git may take: not `ext`, which is a command line, and no helper that is installed. */
const PROTOCOLS = 'file:git:http:https:ssh';

/** Variables by which the worker's user says how git reaches an origin. */
const OF_THE_USER = /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_\w+|HTTP_\w+)$/;

/** Nobody sits at a terminal. A connection that has died is noticed within a minute or so. */
const SSH = 'ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15';

/** Runs git in the mirror, with the worker's credentials. `objects` are folders whose objects git sees as well. */
export type MirrorGit = (
  args: readonly string[],
  call?: { readonly objects?: readonly string[]; readonly input?: string },
) => Promise<GitAnswer>;

/** Returns git for a mirror, which has to be there once git is called. */
export function mirrorGit({ folder, parent }: MirrorPlace, git: GitBase): MirrorGit {
  const { SSH_ASKPASS, ...env } = git.env;
  const ownWays = Object.fromEntries(
    Object.entries(env).filter(([name]) => OF_THE_USER.test(name)),
  );
  const places = { ...ownWays, GIT_DIR: folder, GIT_ALLOW_PROTOCOL: PROTOCOLS };
  const base = { ...git, env, cwd: parent, waitsFor: 'network' as const };
  let ssh: Promise<Readonly<Record<string, string>>> | null = null;
  const findSsh = async () => {
    if (ownWays.GIT_SSH_COMMAND !== undefined || ownWays.GIT_SSH !== undefined) return {};
    const args = ['config', '--get', 'core.sshCommand'];
    const { exitCode } = await callGit({ ...base, places, args });
    return exitCode === 0 ? {} : { GIT_SSH_COMMAND: SSH };
  };
  return async (args, { objects = [], input } = {}) => {
    ssh ??= findSsh();
    const alternates = objects.length === 0 ? {} : { [ALTERNATES]: objects.map(quoted).join(':') };
    return callGit({
      ...base,
      args: ['-c', 'protocol.ext.allow=never', '-c', 'credential.interactive=false', ...args],
      places: { ...places, ...(await ssh), ...alternates },
      ...(input === undefined ? {} : { input }),
    });
  };
}

/** A colon ends a path in this variable, so the paths are in quotation marks, which git reads as C does. */
const ALTERNATES = 'GIT_ALTERNATE_OBJECT_DIRECTORIES';
