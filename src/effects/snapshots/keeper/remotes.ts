import {
  type LeakyRemote,
  leakyRemotes,
  type RemoteFacts,
} from '../../../core/snapshots/shared-refs.ts';
import { eachSetting, type ListedSettings } from '../../git/listed-settings.ts';

/** Finds the remotes to which `git push` would take snapshots; none if git could not list its settings. */
export function leakyRemotesIn(settings: ListedSettings | null): readonly LeakyRemote[] {
  const remotes = new Map<string, RemoteFacts>();
  for (const { name: key, value } of settings === null ? [] : eachSetting(settings)) {
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
