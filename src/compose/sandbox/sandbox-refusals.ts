import { examineSandbox } from '../../effects/sandbox/examine.ts';

/** Returns why `--sandbox` would be refused in a folder, one sentence each. Opens no sandbox. */
export function sandboxRefusals(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return examineSandbox(cwd, env, signal);
}
