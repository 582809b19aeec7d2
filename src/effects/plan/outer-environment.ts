import path from 'node:path';
import { agentsFolders } from '../../core/sandbox/default-rules.ts';
import { isWithinAny } from '../../core/sandbox/places.ts';
import type { StoredRun } from '../../core/settings/stored-run.ts';
import { homeFolder } from '../files/home-folder.ts';
import { realPath } from '../files/real-path.ts';
import { outerPath } from '../processes/outer-path.ts';

type Confined = Pick<StoredRun, 'settings' | 'startDir'>;

/**
 * Returns the environment of the programs that ralph itself starts, such as git. With `--sandbox`, its PATH has no
 * folder that the agent may write to: a program that the agent put there would otherwise run outside the sandbox.
 */
export function outerEnvironment(env: NodeJS.ProcessEnv, run: Confined): NodeJS.ProcessEnv {
  if (run.settings.sandbox !== true) return env;
  return { ...env, PATH: outerPath(env, agentsOwn(env, run)) };
}

/** Whether a program, or the target of a symbolic link in its place, lies where an agent in the sandbox may write. */
export function isOfAgent(file: string, env: NodeJS.ProcessEnv, run: Confined): boolean {
  if (run.settings.sandbox !== true) return false;
  const folders = agentsOwn(env, run);
  return [realPath(path.dirname(file)), realPath(file)].some((each) => isWithinAny(each, folders));
}

function agentsOwn(env: NodeJS.ProcessEnv, { settings, startDir }: Confined): readonly string[] {
  const home = homeFolder(env);
  const cwd = path.resolve(startDir, settings.cwd ?? '.');
  const named = settings.allowWrite.map((folder) =>
    path.resolve(cwd, home === null ? folder : folder.replace(/^~(?=\/|$)/, home)),
  );
  return [cwd, ...named, ...agentsFolders(settings.agent, { home, env })].map(realPath);
}
