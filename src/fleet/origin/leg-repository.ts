import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { alternate } from '../../effects/branches/fresh-checkout.ts';
import { makePrivateFolder } from '../../effects/files/write-file.ts';
import { gitIn, withPlaces } from '../../effects/git/git.ts';
import { must } from '../../effects/git/git-error.ts';
import { quoted } from '../../effects/git/private-git.ts';
import { listRefs } from '../../effects/git/questions/refs.ts';
import { fetchFrom } from '../../effects/git/questions/remote.ts';
import type { Mirror } from './mirror.ts';
import type { GitBase } from './mirror-folder.ts';

export interface LegRepository {
  readonly mirror: Mirror;
  /** Absolute path of the new work tree. */
  readonly folder: string;
  /** The commit of HEAD; null for a branch without a commit. */
  readonly head: string | null;
  /** The name of the task's branch, without `refs/heads/`. */
  readonly branch: string;
  /** The URL of `origin` that the agent sees. */
  readonly url: string;
  /** Commits that the repository needs in addition to those of branches and tags. */
  readonly needs: readonly string[];
  /** Whether the repository gets its own copy of the objects, needed where a sandbox hides the worker's mirror. */
  readonly isSelfContained: boolean;
  readonly git: GitBase;
}

/**
 * Writes the repository of a work tree as a clone would have it. `git clone` is not used, so that no template, hook or
 * setting gets in. The mirror must have the commits. Rejects with a `GitError`, or the system's error.
 */
export async function makeLegRepository(request: LegRepository): Promise<void> {
  const { folder, mirror, head, branch, url, isSelfContained } = request;
  const gitDir = path.join(folder, '.git');
  const put = (name: string, content: string | Uint8Array): void => {
    mkdirSync(path.dirname(path.join(gitDir, name)), { recursive: true });
    writeFileSync(path.join(gitDir, name), content);
  };
  makePrivateFolder(folder);
  mkdirSync(path.join(gitDir, 'refs', 'heads'), { recursive: true });
  mkdirSync(path.join(gitDir, 'objects', 'info'), { recursive: true });
  put('config', configOf(mirror, branch, url));
  put('HEAD', `ref: refs/heads/${branch}\n`);
  if (!isSelfContained) put('objects/info/alternates', `${alternate(mirror.objects)}\n`);
  else await copyObjects(request);
  const listed = await must(
    listRefs(mirror.git, ['refs/origin/']),
    'git cannot list the branches of the mirror',
  );
  const refs = listed.map(({ name, id }) => `${id} ${nameInClone(name)}`);
  const own = head === null ? [] : [`${head} refs/heads/${branch}`];
  put('packed-refs', Buffer.from([...refs, ...own, ''].join('\n'), 'latin1'));
}

function nameInClone(name: string): string {
  return name
    .replace(/^refs\/origin\/tags\//, 'refs/tags/')
    .replace(/^refs\/origin\/heads\//, 'refs/remotes/origin/');
}

function configOf({ hash }: Mirror, branch: string, url: string): string {
  const isSha256 = hash === 'sha256';
  const sections = [
    `[core]\n\trepositoryformatversion = ${isSha256 ? 1 : 0}\n\tbare = false\n`,
    isSha256 ? '[extensions]\n\tobjectFormat = sha256\n' : '',
    `[remote "origin"]\n\turl = ${quoted(url)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
    `[branch ${quoted(branch)}]\n\tremote = origin\n\tmerge = ${quoted(`refs/heads/${branch}`)}\n`,
  ];
  return sections.join('');
}

/** Copies the mirror's objects. Running git in the new repository is safe, since no agent has changed it yet. */
async function copyObjects({ folder, mirror, needs, git }: LegRepository): Promise<void> {
  const places = { GIT_DIR: path.join(folder, '.git'), GIT_ALLOW_PROTOCOL: 'file' };
  const here = withPlaces(gitIn(folder, git), places);
  const fetched = fetchFrom(here, mirror.folder, [...COPIED, ...needs]);
  await must(fetched, 'git cannot copy the objects of the mirror');
}

const COPIED = ['refs/origin/heads/*:refs/remotes/origin/*', 'refs/origin/tags/*:refs/tags/*'];
