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
  // `npx` and `npm run` put folders around the current one on PATH, and git may work in a checkout elsewhere.
  const trees = [cwd, currentFolder()].map((folder) => findGitAbove(folder) ?? realPath(folder));
  const outer = outerPath(
    env,
    trees.filter((tree) => tree !== '/'),
  );
  const found = findProgram({ name: 'git', env: { PATH: outer }, cwd: '/', further: [] });
  return 'file' in found ? { file: found.file, path: outer } : { file: 'git', path: env.PATH };
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    // It is gone.
    return '/';
  }
}
