import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Paths of a tree of 100,000 files with long names, all of them called `.git`. */
const OUTPUT_AT_MOST = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * Returns the repositories below a folder, by their `.git` or, if they have no work tree, by their own
 * folder. Those in ignored folders count: git runs there what their settings name. Rejects if the folder
 * cannot be searched.
 */
export async function findNestedGit(folder: string, rg: string): Promise<ReadonlySet<string>> {
  const names = await new Promise<readonly string[]>((resolve, reject) => {
    const args = ['--no-config', '--files', '--hidden', '--no-ignore', '--null'];
    const globs = ['**/.git', '**/HEAD', '!/.git/objects', '!/.git/logs', '!/.git/refs'];
    execFile(
      rg,
      [...args, ...globs.flatMap((glob) => ['--glob', glob])],
      { cwd: folder, env: {}, encoding: 'buffer', maxBuffer: OUTPUT_AT_MOST, timeout: TIMEOUT_MS },
      (error, output) => {
        // 1: nothing was found. 2: some folders could not be read, so the agent cannot read them either.
        if (error !== null && error.code !== 1 && error.code !== 2) reject(error);
        else
          resolve(
            output
              .toString()
              .split('\0')
              .filter((name) => name !== ''),
          );
      },
    );
  });
  const found = new Set<string>();
  for (const name of names) {
    const place = path.join(folder, name);
    if (path.basename(place) === '.git') found.add(place);
    else if (isRepository(path.dirname(place))) found.add(path.dirname(place));
  }
  return found;
}

/** What git itself asks of a folder before it takes it for a repository. */
function isRepository(folder: string): boolean {
  return ['objects', 'refs'].every((name) => existsSync(path.join(folder, name)));
}
