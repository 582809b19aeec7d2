import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { asUser, outside, type SandboxScene } from './sandbox-scene.ts';

/** How a ralph of the installation ended. */
export interface SandboxedEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the installed ralph as the user of the tests, in the work folder of a scene or in `cwd`. */
export function ralphAsUser(
  scene: SandboxScene,
  args: readonly string[],
  { cwd = scene.work, env = {} }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<SandboxedEnd> {
  const place = process.env.RALPH_TEST_INSTALLATION ?? '';
  const program = join(place, 'node_modules', 'ralph-headless', 'bin', 'ralph.js');
  const [file = '', ...words] = asUser([process.execPath, program, ...args]);
  return new Promise((resolve) => {
    const child = execFile(
      file,
      words,
      { cwd, env: { ...scene.env, ...env }, timeout: 60_000, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        resolve({ exitCode: typeof code === 'number' ? code : null, stdout, stderr });
      },
    );
    child.stdin?.end();
  });
}

/**
 * Runs a task in the sandbox whose agent is a shell script: what it prints is the agent's answer. It ends when
 * the script says `<promise>TASK_COMPLETE</promise>` and every check has passed.
 */
export async function runInSandbox(
  scene: SandboxScene,
  script: string,
  args: readonly string[],
  options: Parameters<typeof ralphAsUser>[2] = {},
): Promise<SandboxedEnd> {
  const file = `mkdir -p "$HOME/agent" && cat > "$HOME/agent/agent.sh" <<'EOF'\n${script}\nEOF`;
  await outside(
    scene,
    `rm -f ralph.config.yaml "$HOME/.local/state/ralph/key"; git add -A; git commit -qm ready; ${file}`,
  );
  const agent = ['--agent', 'command', '--agent-command', `/bin/sh ${scene.home}/agent/agent.sh`];
  const task = ['--task-id', 't', '--prompt', 'Work', '--delay', '0', '--max-iterations', '2'];
  return ralphAsUser(scene, ['run', '--sandbox', ...task, ...agent, ...args], options);
}
