import {
  type LeakyRemote,
  leakyRemotes,
  type RemoteFacts,
} from '../../../core/snapshots/shared-refs.ts';
import type { RunGit } from '../../git/git-command.ts';
import { readSettings } from '../../git/listings.ts';
import { asText } from '../../git/tree-path.ts';

const QUESTION = ['config', '-z', '--get-regexp', '^remote\\..*\\.(mirror|push)$'];

/** Finds the remotes to which `git push` would take snapshots; none if git cannot tell. */
export async function findLeakyRemotes(root: string, git: RunGit): Promise<readonly LeakyRemote[]> {
  const answer = await git(root, QUESTION);
  if (answer === null) return [];
  const remotes = new Map<string, RemoteFacts>();
  for (const { name: key, value } of readSettings(asText(answer))) {
    const found = /^remote\.([\s\S]*)\.(mirror|push)$/.exec(key);
    if (found === null) continue;
    const [, name = '', what] = found;
    const known = remotes.get(name) ?? { name, mirror: false, push: [] };
    remotes.set(
      name,
      what === 'push'
        ? { ...known, push: [...known.push, value] }
        : { ...known, mirror: /^(?:true|yes|on|[1-9]\d*)$/i.test(value) },
    );
  }
  return leakyRemotes([...remotes.values()]);
}
