import { existsSync } from 'node:fs';
import path from 'node:path';
import { isObject } from '../../core/text/is-object.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { objectAt, parseObject } from '../files/json-fields.ts';

/**
 * Finds other tools that keep `claude` in a loop by its stop hook. Such a hook would keep every `claude` in the folder
 * from ending, even ralph's. Each result is one sentence that says what to do.
 */
export function findOtherLoops(cwd: string, env: NodeJS.ProcessEnv): readonly string[] {
  const found: string[] = [];
  const stale = path.join(cwd, '.claude', 'ralph-loop.local.md');
  if (existsSync(stale)) {
    found.push(
      `${stale} belongs to a loop driven by a stop hook, which would take over the agent; remove it.`,
    );
  }
  const settings = [
    path.join(cwd, '.claude', 'settings.json'),
    path.join(cwd, '.claude', 'settings.local.json'),
    ...(env.HOME ? [path.join(env.HOME, '.claude', 'settings.json')] : []),
  ];
  for (const file of new Set(settings)) {
    if (hasRalphStopHook(file, env.HOME)) {
      found.push(
        `${file} has a stop hook for a ralph loop, which would keep the agent from ending; remove it.`,
      );
    }
  }
  return found;
}

/** Matches a hook that only runs `ralph check`, which does not keep an agent that ralph has started from ending. */
const OWN_HOOK = /"(?:npx )?(?:[^\s"\\;&|]*\/)?ralph check\b(?:[^"\\;&|]|\\")*"/g;

function hasRalphStopHook(file: string, home: string | undefined): boolean {
  const settings = parseObject(tryReadText(file, MB) ?? '');
  if (settings === null) return false;
  const stop = objectAt(settings, 'hooks')?.Stop;
  const plugins = objectAt(settings, 'enabledPlugins') ?? {};
  const hook = JSON.stringify(stop ?? null).replace(OWN_HOOK, '""');
  // The path of the user's home folder can contain "ralph".
  const isHooked = /ralph/i.test(home ? hook.replaceAll(home, '') : hook);
  const isPlugged = Object.entries(plugins).some(
    ([name, isOn]) => /ralph/i.test(name) && isOn !== false && !isObject(isOn),
  );
  return isHooked || isPlugged;
}
