import { type Git, gitIn } from '../../src/effects/git/git.ts';
import { findRepository } from '../../src/effects/git/repository.ts';
import { PATIENCE_MS } from './patience.ts';
import { GIT_ENV } from './repository.ts';

/** Git as ralph calls it, with more variables in its environment if wanted. */
export function testGit(env: NodeJS.ProcessEnv = {}): Git {
  return gitIn('/', { env: { ...GIT_ENV, ...env }, timeoutMs: PATIENCE_MS });
}

/** The repository around a folder, and git to make checkouts of it. */
export async function checkoutsOf(folder: string, env: NodeJS.ProcessEnv = {}) {
  const repository = await findRepository(folder, testGit());
  if (repository === null) throw new Error(`there is no repository around ${folder}`);
  return { repository, git: testGit(env) };
}
