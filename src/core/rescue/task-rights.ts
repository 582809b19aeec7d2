import { SETTINGS, type SettingName, type Settings } from '../settings/settings.ts';
import { oneLine } from '../text/untrusted-text.ts';

/*
 * What a task may do beyond asking a model: which programs ralph starts for it, and what its agent is
 * allowed. A person sees these before somebody else's task is run, and a pass over the vault goes on
 * with no task that has more of them than the pass itself was given.
 */

/** Programs that ralph starts. */
const PROGRAMS = [
  'agentCommand',
  'claudeBin',
  'verify',
  'until',
  'after',
  'onEnd',
] as const satisfies readonly SettingName[];

/** What the agent is allowed. */
const PERMISSIONS = [
  'dangerouslySkipPermissions',
  'permissionMode',
  'allowedTools',
  'acceptRefused',
  'keepBackground',
] as const satisfies readonly SettingName[];

const LONGEST = 200;

/** All of it that a task has, as flags; the words for the agent behind `--` too. */
export function rightsOf(settings: Settings, passthrough: readonly string[]): readonly string[] {
  const flags = [...PROGRAMS, ...PERMISSIONS].flatMap((name) => asFlags(name, settings));
  return passthrough.length === 0
    ? flags
    : [...flags, `-- ${oneLine(passthrough.join(' '), LONGEST)}`];
}

/** The programs of a task that it has not in common with what is allowed, as flags. */
export function programsBeyond(settings: Settings, allowed: Settings): readonly string[] {
  return PROGRAMS.filter((name) => settings[name] !== allowed[name]).flatMap((name) =>
    asFlags(name, settings),
  );
}

/** The settings that say what the agent is allowed. */
export function permissionsOf(settings: Settings): Pick<Settings, (typeof PERMISSIONS)[number]> {
  const { dangerouslySkipPermissions, permissionMode, allowedTools } = settings;
  const { acceptRefused, keepBackground } = settings;
  return {
    dangerouslySkipPermissions,
    permissionMode,
    allowedTools,
    acceptRefused,
    keepBackground,
  };
}

function asFlags(name: SettingName, settings: Settings): readonly string[] {
  const { flag } = SETTINGS[name];
  const value: unknown = settings[name];
  if (value === true) return [flag];
  const texts = Array.isArray(value) ? value : [value];
  return texts
    .filter((text) => typeof text === 'string')
    .map((text) => `${flag} '${oneLine(text, LONGEST)}'`);
}
