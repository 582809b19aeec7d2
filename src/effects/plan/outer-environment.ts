import path from 'node:path';
import { agentsFolders } from '../../core/sandbox/default-rules.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { homeFolder } from '../files/home-folder.ts';
import { realPath } from '../files/real-path.ts';
import { outerPath } from '../processes/outer-path.ts';

/**
 * Returns the environment of the git that ralph itself starts. With `--sandbox`, its PATH has no folder that the
 * agent may write: what lies there ran inside, and would now run outside.
 */
export function outerEnvironment(
  env: NodeJS.ProcessEnv,
  { settings, startDir }: Pick<StoredRun, 'settings' | 'startDir'>,
): NodeJS.ProcessEnv {
  if (settings.sandbox !== true) return env;
  const home = homeFolder(env);
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
  const named = settings.allowWrite.map((folder) =>
    path.resolve(cwd, home === null ? folder : folder.replace(/^~(?=\/|$)/, home)),
  );
  const folders = [cwd, ...named, ...agentsFolders(settings.agent, { home, env })];
  return { ...env, PATH: outerPath(env, folders.map(realPath)) };
}
