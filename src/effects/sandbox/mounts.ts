import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { BY_DEFAULT, type SandboxRule, type SandboxRules } from '../../core/sandbox/rules.ts';
import { realPath } from '../files/real-path.ts';
import type { RunFolder } from './run-folder.ts';

/** What the component is told of the file system: existing paths without links. */
export interface Mounts {
  readonly allowWrite: readonly string[];
  readonly denyWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly allowRead: readonly string[];
}

/** What the component lets every command write, whatever it is told. */
const OF_COMPONENT = ['/tmp/claude', path.join(homedir(), '.npm', '_logs')];

/**
 * Returns the mounts of a command as the paths are now. For a path that does not exist, the component would
 * leave a stub in the tree, or drop the rule without a word.
 */
export function mountsOf(rules: SandboxRules, run: RunFolder): Mounts {
  const allowRead = existing(rules.allowRead);
  const own: readonly SandboxRule[] = [run.outside, ...OF_COMPONENT].map((value) => ({
    value,
    from: BY_DEFAULT,
  }));
  return {
    allowWrite: [...existing(rules.allowWrite), run.tmp],
    denyWrite: existing([...rules.denyWrite, ...own]),
    denyRead: existing(rules.denyRead).filter((place) => !allowRead.includes(place)),
    allowRead,
  };
}

function existing(rules: readonly SandboxRule[]): readonly string[] {
  const places = rules.map(({ value }) => value).filter((place) => existsSync(place));
  return [...new Set(places.map(realPath))];
}
