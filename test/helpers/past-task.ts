import { expect } from 'vitest';
import type { Turn } from './fake-turn.ts';
import { gitIn } from './repository.ts';
import { makeScene, type Scene } from './scene.ts';

export const DONE = 'Done.\n\nTASK_COMPLETE';

interface Past {
  readonly files?: Readonly<Record<string, string>>;
  /** What the agent did in each iteration. */
  readonly shells: readonly string[];
  /** Whether the last iteration completes the task. */
  readonly isDone?: boolean;
  readonly more?: readonly Turn[];
  readonly setUp?: (scene: Scene, git: ReturnType<typeof gitIn>) => void | Promise<void>;
  readonly args?: readonly string[];
}

/** A repository in which a task has run. */
export async function ran({
  files = {},
  shells,
  isDone = true,
  more = [],
  setUp,
  args = [],
}: Past) {
  const turns = shells.map((shell, at): Turn => {
    const isLast = at === shells.length - 1;
    return { text: isDone && isLast ? DONE : 'Not yet.', shell };
  });
  const scene = await makeScene([...turns, ...more]);
  for (const [name, text] of Object.entries(files)) await scene.write(name, text);
  await scene.write('.gitignore', '*.log\n');
  scene.makeRepository();
  const git = gitIn(scene.folder);
  git('branch', '-M', 'main');
  await setUp?.(scene, git);
  const limit = isDone ? [] : ['--max-iterations', String(shells.length)];
  const { exitCode, stderr } = await scene.run([...limit, ...args]);
  expect(stderr).not.toMatch(/bug|No snapshot/);
  expect(exitCode).toBe(isDone ? 0 : 3);
  return { scene, git };
}
