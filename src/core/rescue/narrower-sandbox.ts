import { isAtOrBelow } from '../sandbox/places.ts';
import { type SourcedSettings, withSettings } from '../settings/setting-source.ts';
import { type Settings, type SettingWith, settingsWith } from '../settings/settings.ts';

/*
 * A pass over the vault (a run of all task files) and the task that it resumes may each have a sandbox. The task then
 * runs in a sandbox if either of them has one, and may do only what both allow.
 */

/**
 * Returns the settings of a task, with the stricter combination of its own sandbox and the sandbox of the pass.
 * `placeOf` turns a path in a setting into an absolute path without `..`, as seen from the task's work folder.
 */
export function withNarrowerSandbox(
  task: SourcedSettings,
  pass: SourcedSettings,
  placeOf: (value: string) => string,
): SourcedSettings {
  if (pass.settings.sandbox !== true) return task;
  if (task.settings.sandbox !== true)
    return withSettings(task, pass, settingsWith({ rescue: 'wall' }));
  const { settings: own } = task;
  const { settings: bound } = pass;
  const isPlaceWithin = (narrower: string, wider: string): boolean =>
    isAtOrBelow(placeOf(narrower), placeOf(wider));
  const places = (name: 'allowWrite' | 'allowRead') =>
    allowedByBoth(own[name], bound[name], isPlaceWithin);
  const names = (name: 'allowNet' | 'keepEnv') =>
    allowedByBoth(own[name], bound[name], isNameWithin);
  const narrower: Pick<Settings, SettingWith<{ rescue: 'wall' }>> = {
    sandbox: true,
    allowWrite: places('allowWrite'),
    allowRead: places('allowRead'),
    allowNet: names('allowNet'),
    keepEnv: names('keepEnv'),
    denyRead: [...new Set([...own.denyRead, ...bound.denyRead])],
    allowUnixSockets: own.allowUnixSockets && bound.allowUnixSockets,
    sandboxChecks: own.sandboxChecks || bound.sandboxChecks,
  };
  return { ...task, settings: { ...own, ...narrower } };
}

/** Returns the entries of each list that the other list allows, too. Of two equal entries only one is returned. */
function allowedByBoth(
  one: readonly string[],
  other: readonly string[],
  isWithin: (narrower: string, wider: string) => boolean,
): readonly string[] {
  const ofOne = one.filter((each) => other.some((wider) => isWithin(each, wider)));
  const ofOther = other.filter((each) => one.some((wider) => isWithin(each, wider)));
  const isSame = (each: string): boolean =>
    ofOne.some((known) => isWithin(known, each) && isWithin(each, known));
  return [...ofOne, ...ofOther.filter((each) => !isSame(each))];
}

/**
 * Whether `wider` allows all that `narrower` does: it is the same name, a matching pattern or the host without a
 * port.
 */
function isNameWithin(narrower: string, wider: string): boolean {
  if (wider === narrower) return true;
  const [name = '', port] = narrower.split(/:(?=\d+$)/);
  const [widerName = '', widerPort] = wider.split(/:(?=\d+$)/);
  const isSamePort = widerPort === undefined || widerPort === port;
  const isWithin = widerName.startsWith('*.')
    ? name.endsWith(widerName.slice(1)) && name !== widerName.slice(1)
    : name === widerName;
  return isSamePort && isWithin;
}
