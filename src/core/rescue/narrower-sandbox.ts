import { SANDBOX_RULES } from '../settings/sandbox-problems.ts';
import { type SourcedSettings, withSettings } from '../settings/setting-source.ts';
import type { Settings } from '../settings/settings.ts';

/*
 * A pass over the vault and the task that it resumes may each have a sandbox. It is on where one of them has
 * it on, and allows only what both allow.
 */

const ALLOWING = ['allowWrite', 'allowNet', 'allowRead', 'keepEnv'] as const;

/** Returns the settings of a task with the narrower sandbox of its own and the one of a pass. */
export function withNarrowerSandbox(task: SourcedSettings, pass: SourcedSettings): SourcedSettings {
  if (pass.settings.sandbox !== true) return task;
  if (task.settings.sandbox !== true)
    return withSettings(task, pass, ['sandbox', ...SANDBOX_RULES]);
  const { settings: own } = task;
  const { settings: bound } = pass;
  const allowed = Object.fromEntries(
    ALLOWING.map((name) => [name, allowedByBoth(own[name], bound[name])]),
  );
  const narrowed: Settings = {
    ...own,
    ...allowed,
    denyRead: [...new Set([...own.denyRead, ...bound.denyRead])],
    allowUnixSockets: own.allowUnixSockets && bound.allowUnixSockets,
    sandboxChecks: own.sandboxChecks || bound.sandboxChecks,
  };
  return { ...task, settings: narrowed };
}

/** Returns what lies within both lists. */
function allowedByBoth(one: readonly string[], other: readonly string[]): readonly string[] {
  return [
    ...one.filter((each) => other.some((wider) => takesIn(wider, each))),
    ...other.filter((each) => !one.includes(each) && one.some((wider) => takesIn(wider, each))),
  ];
}

/** Whether `wider` is the same as `narrower`, a folder above it, or a pattern or a host without port for it. */
function takesIn(wider: string, narrower: string): boolean {
  if (wider === narrower) return true;
  if (narrower.startsWith(`${wider}/`)) return !narrower.split('/').includes('..');
  const [name = '', port] = narrower.split(/:(?=\d+$)/);
  const [widerName = '', widerPort] = wider.split(/:(?=\d+$)/);
  const isSamePort = widerPort === undefined || widerPort === port;
  const isWithin = widerName.startsWith('*.')
    ? name.endsWith(widerName.slice(1)) && name !== widerName.slice(1)
    : name === widerName;
  return isSamePort && isWithin;
}
