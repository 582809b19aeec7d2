import { examineSandbox } from '../../effects/sandbox/examine.ts';

/** Returns why `--sandbox` would be refused in a folder, one sentence each. Opens no sandbox. */
export async function sandboxRefusals(
  cwd: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return (await examineSandbox(cwd, env, signal)).map((error) => error.message);
}
