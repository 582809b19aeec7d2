import { copyFileSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realPath } from '../files/real-path.ts';
import type { Confine, PlacedCommand } from '../processes/find-program.ts';
import { askGit, type Git, makeGit } from './call/git.ts';
import { type GitRequest, gitIn } from './git.ts';

/** Puts a command into the sandbox, with a folder for its temporary files. */
export type ConfineWith = (command: PlacedCommand, temporary: string) => ReturnType<Confine>;

/**
 * Returns git that runs in the sandbox, since a hook may start programs that the agent has written. In the sandbox, git
 * may not write to the index. So it works on a copy of the index, which then replaces the index.
 */
export function gitInside(folder: string, request: GitRequest, confine: ConfineWith): Git {
  return makeGit(async (args, { places, ...extras }) => {
    const index = places?.GIT_INDEX_FILE;
    const temporary = mkdtempSync(path.join(realPath(tmpdir()), 'ralph-commit-'));
    const copy = path.join(temporary, 'index');
    try {
      if (index !== undefined) copyFileSync(index, copy);
      const git = gitIn(folder, { ...request, confine: (each) => confine(each, temporary) });
      const answer = await askGit(git, [...ALONE, ...args], {
        ...extras,
        places: { ...places, ...(index === undefined ? {} : { GIT_INDEX_FILE: copy }) },
      });
      const isThere = lstatSync(copy, { throwIfNoEntry: false })?.isFile() ?? false;
      if (index !== undefined && isThere) copyFileSync(copy, index);
      return answer;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  });
}

/** When git ends, all processes in its sandbox are killed, so git must leave no work to a daemon. */
const ALONE = [
  'core.fsmonitor=false',
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
].flatMap((setting) => ['-c', setting]);
