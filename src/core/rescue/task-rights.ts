import { SETTINGS, type SettingName, type Settings, settingsWith } from '../settings/settings.ts';
import { oneLine } from '../text/untrusted-text.ts';

/*
 * What a task may do besides asking a model: the programs that ralph starts for it, and its agent's permissions. A
 * person sees these before somebody else's task runs. A pass (a run of all task files) never resumes a task that would
 * start programs other than those the pass itself was given.
 */

const PROGRAMS = settingsWith({ rescue: 'program' });

/** Settings that give the agent permissions. */
export const PERMISSIONS = settingsWith({ rescue: 'permission' });

const WALLS = settingsWith({ rescue: 'wall' });

/** Settings by which ralph itself changes the repository. */
const CHANGES = settingsWith({ rescue: 'shown' });

const LONGEST = 200;

/** Returns, as flags to show to a person, what a task may run and do; the agent's arguments after `--` come last. */
export function rightsOf(settings: Settings, passthrough: readonly string[]): readonly string[] {
  const flags = [...PROGRAMS, ...PERMISSIONS, ...WALLS, ...CHANGES].flatMap((name) =>
    asFlags(name, settings),
  );
  return passthrough.length === 0
    ? flags
    : [...flags, `-- ${oneLine(passthrough.join(' '), LONGEST)}`];
}

/** Returns, as flags, the programs of a task that are not among the allowed ones. */
export function programsBeyond(settings: Settings, allowed: Settings): readonly string[] {
  return PROGRAMS.flatMap((name) => {
    if (name === 'agentBin') {
      const agentBin = settings.agentBin.filter((text) => !allowed.agentBin.includes(text));
      return asFlags(name, { ...settings, agentBin });
    }
    if (name !== 'verify') return settings[name] === allowed[name] ? [] : asFlags(name, settings);
    const known = allowed.verify.map(({ command }) => command);
    const verify = settings.verify.filter(({ command }) => !known.includes(command));
    return asFlags(name, { ...settings, verify });
  });
}

function asFlags(name: SettingName, settings: Settings): readonly string[] {
  const { flag, negation, default: fallback } = SETTINGS[name];
  const value: unknown = settings[name];
  // A setting that is on by default gives no extra right, so only turning it off is shown.
  if (fallback === 'true') return value === false && negation !== undefined ? [negation] : [];
  if (value === true) return [flag];
  const texts = name === 'verify' ? settings.verify.map(({ command }) => command) : [value].flat();
  return texts
    .filter((text) => typeof text === 'string')
    .map((text) => `${flag} '${oneLine(text, LONGEST)}'`);
}
