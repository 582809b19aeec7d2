import { type AskGit, callGit, runGit } from '../../src/effects/git/call/git-command.ts';
import { findRepository } from '../../src/effects/git/repository.ts';
import { PATIENCE_MS } from './patience.ts';
import { GIT_ENV } from './repository.ts';

/** Git as ralph calls it, with more variables in its environment if wanted. */
export function askGit(env: NodeJS.ProcessEnv = {}): AskGit {
  return (cwd, args, extras) =>
    callGit({ ...extras, cwd, args, env: { ...GIT_ENV, ...env }, timeoutMs: PATIENCE_MS });
}

/** The repository around a folder, and git to make checkouts of it. */
export async function checkoutsOf(folder: string, env: NodeJS.ProcessEnv = {}) {
  const repository = await findRepository(folder, (cwd, args) =>
    runGit({ cwd, args, env: GIT_ENV, timeoutMs: PATIENCE_MS }),
  );
  if (repository === null) throw new Error(`there is no repository around ${folder}`);
  return { repository, ask: askGit(env) };
}
