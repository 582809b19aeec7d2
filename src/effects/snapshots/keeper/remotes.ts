import {
  type LeakyRemote,
  leakyRemotes,
  type RemoteFacts,
} from '../../../core/snapshots/shared-refs.ts';
import type { Git } from '../../git/git.ts';
import { eachSetting, type ListedSettings } from '../../git/listed-settings.ts';
import type { ListedSetting } from '../../git/listings.ts';
import { settingsLike } from '../../git/questions/settings.ts';

/** Finds the remotes to which `git push` would take snapshots; none if git cannot tell. */
export async function findLeakyRemotes(git: Git): Promise<readonly LeakyRemote[]> {
  return leakyAmong(await settingsLike(git, '^remote\\..*\\.(mirror|push)$'));
}

/** Does the same with settings that git has listed. */
export function leakyRemotesIn(settings: ListedSettings): readonly LeakyRemote[] {
  return leakyAmong(eachSetting(settings));
}

function leakyAmong(settings: readonly ListedSetting[]): readonly LeakyRemote[] {
  const remotes = new Map<string, RemoteFacts>();
  for (const { name: key, value } of settings) {
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
