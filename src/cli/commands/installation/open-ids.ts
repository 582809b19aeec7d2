import { homedir } from 'node:os';
import path from 'node:path';
import { openTaskIds } from '../../../effects/state/task-folder.ts';
import { foldersOf } from '../../tasks/named-folders.ts';

/**
 * Returns the ids of open tasks (not in the history). `words` are an unfinished command line, whose `--vault` and
 * `--state-dir` say where to look.
 */
export function openIds(words: readonly string[]): readonly string[] {
  const vault = flagIn(words, '--vault');
  const stateDir = flagIn(words, '--state-dir');
  const { stateDir: folder } = foldersOf({
    ...(vault === undefined ? {} : { vault }),
    ...(stateDir === undefined ? {} : { stateDir }),
  });
  return openTaskIds(folder);
}

/** Returns the last value of a flag: `--vault DIR`, `--vault=DIR` or, as bash splits it, `--vault = DIR`. */
function flagIn(words: readonly string[], flag: string): string | undefined {
  const index = words.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  if (index === -1) return undefined;
  const joined = words[index]?.slice(flag.length + 1) ?? '';
  const [next, afterNext] = words.slice(index + 1);
  const value = joined !== '' ? joined : next === '=' ? afterNext : next;
  return value === undefined ? undefined : asShellReads(value);
}

/** Removes quotes and expands `~`, because the shell passes words to a completion as they were typed. */
function asShellReads(word: string): string {
  const bare = word.replace(/^(["'])(.*?)\1?$/s, '$2').replace(/\\(.)/gs, '$1');
  return bare === '~' || bare.startsWith('~/') ? path.join(homedir(), bare.slice(1)) : bare;
}
