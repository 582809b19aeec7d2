import { statSync } from 'node:fs';
import path from 'node:path';
import { KB, tryReadText } from '../files/bounded-read.ts';
import { realPath } from '../files/real-path.ts';
import { findProgram } from '../processes/find-program.ts';
import { outerPath } from '../processes/outer-path.ts';
import { findGitAbove } from './find-git-above.ts';

/**
 * Returns git, and the PATH for the programs that it starts. An agent can put a git of its own into the work
 * tree, so one in there is taken only where no other can be found.
 */
export function gitProgram(
  cwd: string,
  env: NodeJS.ProcessEnv,
): { readonly file: string; readonly path: string | undefined } {
  const own = findGitAbove(cwd) ?? realPath(cwd);
  const trees = [own, mainTreeOf(own)].filter((each) => each !== null && each !== '/');
  const outer = outerPath(env, trees);
  const found = findProgram({ name: 'git', env: { PATH: outer }, cwd: '/', further: [] });
  return 'file' in found ? { file: found.file, path: outer } : { file: 'git', path: env.PATH };
}

/** Returns the work tree in whose folder of git an additional one is noted; null for any other. */
function mainTreeOf(root: string): string | null {
  const link = path.join(root, '.git');
  if (statSync(link, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const [, main] =
    /^gitdir: (\/.*)\/\.git\/worktrees\//.exec(tryReadText(link, 64 * KB) ?? '') ?? [];
  return main === undefined ? null : realPath(main);
}
