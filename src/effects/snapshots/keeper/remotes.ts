import {
  type LeakyRemote,
  leakyRemotes,
  type RemoteFacts,
} from '../../../core/snapshots/shared-refs.ts';
import type { RunGit } from '../../git/call/git-command.ts';
import type { ListedSettings } from '../../git/listed-settings.ts';
import { type ListedSetting, readSettings } from '../../git/listings.ts';
import { asText } from '../../git/tree-path.ts';

const QUESTION = ['config', '-z', '--get-regexp', '^remote\\..*\\.(mirror|push)$'];

/** Finds the remotes to which `git push` would take snapshots; none if git cannot tell. */
export async function findLeakyRemotes(root: string, git: RunGit): Promise<readonly LeakyRemote[]> {
  return leakyAmong(readSettings(asText((await git(root, QUESTION)) ?? '')));
}

/** Does the same with settings that git has listed. */
export function leakyRemotesIn(settings: ListedSettings): readonly LeakyRemote[] {
  return leakyAmong(readSettings(asText(settings), 1));
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
