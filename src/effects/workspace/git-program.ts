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
  const outer = outerPath(env, own === '/' ? [] : [own]);
  const found = findProgram({ name: 'git', env: { PATH: outer }, cwd: '/', further: [] });
  return 'file' in found ? { file: found.file, path: outer } : { file: 'git', path: env.PATH };
}
