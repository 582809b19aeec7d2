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
import {
  type Git,
  type GitRequest,
  type GitSetting,
  gitIn,
  withGitSettings,
  withPlaces,
} from '../../effects/git/git.ts';
import { complaintOf } from '../../effects/git/git-error.ts';
import { shownUrl } from '../../effects/git/questions/origin-answer.ts';
import { fetchFrom, listThere, makeBare } from '../../effects/git/questions/remote.ts';
import { settingNow } from '../../effects/git/questions/settings.ts';

/*
 * `<home>/mirrors/<sha256 of the URL>.git` is a bare repository for all of a worker's runs of tasks (legs) with this
 * URL. Git fetches and pushes in it, and never in an agent's repository, where the agent controls configuration and
 * hooks. Nothing is ever removed from the mirror, since work trees borrow its objects.
 */

export interface MirrorPlace {
  readonly parent: string;
  /** The name of this mirror's folder, without `.git`. */
  readonly name: string;
  readonly folder: string;
  readonly url: string;
}

/** Returns the place of a URL's mirror in a worker's home folder. */
export function mirrorPlace(home: string, url: string): MirrorPlace {
  const parent = path.join(home, 'mirrors');
  const name = sha256Of(url);
  return { parent, name, folder: path.join(parent, `${name}.git`), url };
}

export type Hash = 'sha1' | 'sha256';

/**
 * The settings of a mirror. Git must not clean up: work trees borrow its objects. Only objects are flushed to the disk,
 * in batches; refs are not, since there may be thousands.
 */
const SETTINGS =
  '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = objects\n\tfsyncMethod = batch\n';

export type GitBase = Pick<GitRequest, 'env' | 'runId' | 'signal' | 'timeoutMs'>;

/**
 * Makes the mirror unless it exists; call it only under the mirror's lock. Rejects with a `GitError`, or the system's
 * error.
 */
export async function makeMirror(place: MirrorPlace, hash: Hash, git: GitBase): Promise<void> {
  const { folder, parent, url } = place;
  if (existsSync(path.join(folder, 'HEAD'))) return;
  const unfinished = `${folder}.new`;
  makePrivateFolder(parent);
  for (const each of [unfinished, folder]) removeTree(each);
  await makeBare(gitIn(parent, git), unfinished, hash);
  appendFileSync(path.join(unfinished, 'config'), SETTINGS);
  // This tells a person what the folder is for.
  writeFileSync(path.join(unfinished, 'description'), `${shownUrl(url)}\n`);
  renameSync(unfinished, folder);
}

/**
 * Makes a new mirror in place of a damaged one; call it only under the mirror's lock. Objects that work trees borrow
 * may be on no branch at the URL (the origin) now, so readable ones are copied. Rejects with the system's error.
 */
export async function replaceMirror(place: MirrorPlace, git: Git, base: GitBase): Promise<void> {
  const old = `${place.folder}.damaged`;
  const hash = hashOf(place);
  removeTree(old);
  renameSync(place.folder, old);
  await makeMirror(place, hash, base);
  const all = fetchFrom(git, old, ['+refs/kept/*:refs/kept/*']);
  if ((await complaintOf(all)) !== null) {
    // Each ref is fetched by itself, so that a damaged one does not prevent the others.
    const listed = await listThere(git, old, 'refs/kept/');
    const kept = listed.kind === 'listed' ? listed.refs.keys() : [];
    for (const ref of kept) await complaintOf(fetchFrom(git, old, [`+${ref}:${ref}`]));
  }
  removeTree(old);
}

/** Returns the hash algorithm of the ids in a mirror, which was chosen when the mirror was made. */
export function hashOf({ folder }: MirrorPlace): Hash {
  const config = readFileSync(path.join(folder, 'config'), 'utf8');
  return /objectformat\s*=\s*sha256/i.test(config) ? 'sha256' : 'sha1';
}

/** Git locks a ref only for a moment. A lock older than this, in milliseconds, was left by a killed process. */
const LOCKED_AT_MOST_MS = 60_000;

/**
 * Removes the locks that killed git processes have left in the mirror, so that its refs can be written again. No ref is
 * removed, since no ref's name ends with `.lock`. Call it under the mirror's lock. Returns whether any were there.
 * Throws the system's error.
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

/** The protocols by which git may reach an origin: not `ext`, which runs a command line, and no installed helper. */
const PROTOCOLS = 'file:git:http:https:ssh';

/** Variables by which the worker's user says how git reaches an origin. */
const OF_THE_USER = /^GIT_(?:SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|PROXY_COMMAND|SSL_\w+|HTTP_\w+)$/;

/** SSH must not ask, since nobody sits at a terminal, and has to notice a dead connection within a minute or so. */
const SSH = 'ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15';

/** Git in a mirror, which has to exist when git is run. */
export interface MirrorGit {
  readonly git: Git;
  /** Git that reaches the origin, with the worker's credentials. */
  online(): Promise<Git>;
}

/** Returns the two ways of running git in a mirror. */
export function mirrorGit({ folder, parent }: MirrorPlace, git: GitBase): MirrorGit {
  const { SSH_ASKPASS, ...env } = git.env;
  const ownWays = Object.fromEntries(
    Object.entries(env).filter(([name]) => OF_THE_USER.test(name)),
  );
  const base = withGitSettings(gitIn(parent, { ...git, env, waitsFor: 'network' }), QUIETLY);
  const places = { ...ownWays, GIT_DIR: folder, GIT_ALLOW_PROTOCOL: PROTOCOLS };
  const here = withPlaces(base, places);
  const open = async (): Promise<Git> => {
    const isChosen = ownWays.GIT_SSH_COMMAND !== undefined || ownWays.GIT_SSH !== undefined;
    if (isChosen || (await settingNow(here, 'core.sshCommand')) !== null) return here;
    return withPlaces(here, { GIT_SSH_COMMAND: SSH });
  };
  let online: Promise<Git> | null = null;
  return {
    git: here,
    online() {
      online ??= open();
      return online;
    },
  };
}

/** Git must not run a command line in place of a URL, and must not ask for a password. */
const QUIETLY: readonly GitSetting[] = [
  { name: 'protocol.ext.allow', value: 'never' },
  { name: 'credential.interactive', value: 'false' },
];
