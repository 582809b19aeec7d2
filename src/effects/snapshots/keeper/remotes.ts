import {
  type LeakyRemote,
  leakyRemotes,
  type RemoteFacts,
} from '../../../core/snapshots/shared-refs.ts';
import type { RunGit } from '../../git/git-command.ts';
import { LIST_SETTINGS, type ListedSettings } from '../../git/listed-settings.ts';
import { readSettings } from '../../git/listings.ts';
import { asText } from '../../git/tree-path.ts';

/** Finds the remotes to which `git push` would take snapshots; none if git cannot tell. */
export async function findLeakyRemotes(root: string, git: RunGit): Promise<readonly LeakyRemote[]> {
  return leakyRemotesIn((await git(root, LIST_SETTINGS)) ?? '');
}

/** Does the same with the settings of the repository. */
export function leakyRemotesIn(settings: ListedSettings): readonly LeakyRemote[] {
  const remotes = new Map<string, RemoteFacts>();
  for (const { name: key, value } of readSettings(asText(settings), 1)) {
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
