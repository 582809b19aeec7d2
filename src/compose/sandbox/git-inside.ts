import { copyFileSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realPath } from '../../effects/files/real-path.ts';
import { callGit, type GitAnswer, type GitCommand } from '../../effects/git/call/git-command.ts';
import type { Sandbox } from '../../effects/sandbox/sandbox.ts';

/**
 * Runs git as the user would, but in the sandbox: what a hook calls, the agent may have written. `index` lies
 * where nothing in the sandbox may write, so git works with a copy, which takes its place afterwards.
 */
export async function callGitInside(
  sandbox: Sandbox,
  command: GitCommand,
  index: string | undefined,
): Promise<GitAnswer> {
  const temporary = mkdtempSync(path.join(realPath(tmpdir()), 'ralph-commit-'));
  const copy = path.join(temporary, 'index');
  try {
    if (index !== undefined) copyFileSync(index, copy);
    const answer = await callGit({
      ...command,
      args: [...ALONE, ...command.args],
      ...(index === undefined ? {} : { places: { GIT_INDEX_FILE: copy } }),
      confine: (each) => sandbox.wrap(each, 'check', { writable: [], fixed: [], temporary }),
    });
    const isThere = lstatSync(copy, { throwIfNoEntry: false })?.isFile() ?? false;
    if (index !== undefined && isThere) copyFileSync(copy, index);
    return answer;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Everything in the sandbox ends with git, so nothing is left to a daemon. */
const ALONE = [
  'core.fsmonitor=false',
  'gc.autoDetach=false',
  'maintenance.autoDetach=false',
].flatMap((setting) => ['-c', setting]);
