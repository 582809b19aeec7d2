import { existsSync } from 'node:fs';
import path from 'node:path';
import { MB, readTextWithin } from './bounded-read.ts';
import { isObject, objectAt, parseObject } from './json-fields.ts';

/**
 * Traces of loops that work by a stop hook: they would take over any `claude` in the folder, and hold
 * it from ending its iteration. Each is one sentence with what to do.
 */
export function findOtherLoops(cwd: string, env: NodeJS.ProcessEnv): readonly string[] {
  const found: string[] = [];
  const stale = path.join(cwd, '.claude', 'ralph-loop.local.md');
  if (existsSync(stale)) {
    found.push(
      `${stale} belongs to a loop that works by a stop hook and would take over the agent here; remove it.`,
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
        `${file} has a stop hook for a ralph loop, which would hold the agent; take it out.`,
      );
    }
  }
  return found;
}

/** `ralph check` as a hook's one command: inside a loop of ours it lets go. */
const OWN_HOOK = /"(?:npx )?(?:[^\s"\\;&|]*\/)?ralph check\b(?:[^"\\;&|]|\\")*"/g;

function hasRalphStopHook(file: string, home: string | undefined): boolean {
  let text: string;
  try {
    text = readTextWithin(file, MB);
  } catch {
    return false;
  }
  const settings = parseObject(text);
  if (settings === null) return false;
  const stop = objectAt(settings, 'hooks')?.Stop;
  const plugins = objectAt(settings, 'enabledPlugins') ?? {};
  const hook = JSON.stringify(stop ?? null).replace(OWN_HOOK, '""');
  // A user may be called so.
  const isHooked = /ralph/i.test(home ? hook.replaceAll(home, '') : hook);
  const isPlugged = Object.entries(plugins).some(
    ([name, isOn]) => /ralph/i.test(name) && isOn !== false && !isObject(isOn),
  );
  return isHooked || isPlugged;
}
