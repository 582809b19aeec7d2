import { asUser, outside, type SandboxScene } from './sandbox-scene.ts';
import { installedRalph, type RalphRan, ranIn } from './sandboxed-ralph.ts';

/** Runs the installed ralph as the user of the tests, in the work folder of a scene or in `cwd`. */
export function ralphAsUser(
  scene: SandboxScene,
  args: readonly string[],
  options: Parameters<typeof ranIn>[2] = {},
): Promise<RalphRan> {
  return ranIn(scene, asUser(installedRalph(args)), options);
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
): Promise<RalphRan> {
  const file = `mkdir -p "$HOME/agent" && cat > "$HOME/agent/agent.sh" <<'EOF'\n${script}\nEOF`;
  await outside(
    scene,
    `rm -f ralph.config.yaml "$HOME/.local/state/ralph/key"; git add -A; git commit -qm ready; ${file}`,
  );
  const agent = ['--agent', 'command', '--agent-command', `/bin/sh ${scene.home}/agent/agent.sh`];
  const task = ['--task-id', 't', '--prompt', 'Work', '--delay', '0', '--max-iterations', '2'];
  return ralphAsUser(scene, ['run', '--sandbox', ...task, ...agent, ...args], options);
}
