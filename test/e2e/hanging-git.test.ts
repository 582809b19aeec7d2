import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { endAllInLater, livingIn, untilNobodyIn } from '../helpers/living-in.ts';
import { LIMIT } from '../helpers/patience.ts';
import { until, untilDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// A git that hangs, as a pipe of a certain name or a dead disk of a network makes it: a stop and a limit are heard.

const RUN = ['run', '--prompt', 'Fix it', '--task-id', 't', '--delay', '0'] as const;
const UNANSWERED = /^ralph: git did not answer \(git [a-z-]+\), so there is no snapshot (.*)$/gm;
/** Whose turn makes the `git` of `makeSlowGit` hang. */
const HANG = 'touch ../hang';

/** A scene in a repository, with one file in a folder. */
async function repository(turns: readonly Turn[]): Promise<Scene> {
  const scene = await makeScene(turns);
  await scene.write('sub/file', 'as it was\n');
  scene.makeRepository();
  endAllInLater(scene.home);
  return scene;
}

/**
 * Puts a git on PATH that hangs once an agent says so. It works now and then, so that no limit for a git that does
 * nothing for a minute ends it.
 */
async function makeSlowGit(scene: Scene): Promise<void> {
  const file = join(dirname(scene.folder), 'bin', 'git');
  const work = 'i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done';
  const hang = `test -e '${scene.folder}/../hang' && while :; do sleep 3; ${work}; done`;
  await writeFile(file, `#!/bin/sh\n${hang}\nexec /usr/bin/git "$@"\n`);
  await chmod(file, 0o755);
}

/** Waits until the first agent has gone, and git looks at what it has left. */
async function untilAsked(scene: Scene): Promise<void> {
  const [agent] = await scene.fake.untilCalls(1);
  await untilDead(agent?.pid ?? 0);
  await until(
    () =>
      livingIn(scene.home).some(({ command }) => /\bgit .*(ls-files|update-index)/.test(command)),
    () => `git among ${JSON.stringify(livingIn(scene.home))}`,
  );
}

describe('a stop', () => {
  test.for([
    ['a pipe called .gitignore', 'mkfifo .gitignore'],
    ['a pipe called .gitattributes', 'mkfifo .gitattributes; echo new > file'],
    ['a pipe called .gitignore in a folder', 'mkfifo sub/.gitignore'],
    ['a git that hangs', HANG],
  ])('is heard in spite of %s', async ([what, shell = '']) => {
    const scene = await repository([{ shell, text: 'Not yet.' }]);
    if (shell === HANG) await makeSlowGit(scene);
    const ralph = await scene.start([...RUN]);
    await untilAsked(scene);
    ralph.child.kill('SIGINT');
    const { exitCode, stderr } = await ralph.ended;
    expect({ what, exitCode }).toEqual({ what, exitCode: 130 });
    expect([...stderr.matchAll(UNANSWERED)].map(([, of]) => of)).toEqual(['of iteration 1']);
    expect(scene.state()).toMatchObject({ status: 'stopped', metrics: { iterations: 1 } });
    await untilNobodyIn(scene.home);
  });

  test('by ralph stop is heard, too', async () => {
    const scene = await repository([{ shell: HANG, text: 'Not yet.' }]);
    await makeSlowGit(scene);
    const ralph = await scene.start([...RUN, '--commit']);
    await untilAsked(scene);
    expect(await scene.ralph(['stop', 't'])).toMatchObject({ exitCode: 0 });
    expect(await ralph.ended).toMatchObject({ exitCode: 143 });
  });

  test('leaves a git that works the time to keep what the agent has left', async () => {
    const scene = await repository([
      { before: ['Let me see.'], shell: 'echo half > file', hangs: true },
    ]);
    const ralph = await scene.start([...RUN]);
    await scene.fake.untilCalls(1);
    await expect.poll(() => scene.has('file')).toBe(true);
    ralph.child.kill('SIGINT');
    const { exitCode, stderr } = await ralph.ended;
    expect(exitCode).toBe(130);
    expect(stderr).not.toMatch(UNANSWERED);
    const { stdout } = await scene.ralph(['snapshots', 't']);
    expect(stdout).toMatch(/^1\S*\s.*iteration 1: stopped$/m);
  });
});

test('--timeout ends a task whose git hangs', async () => {
  const scene = await repository([{ shell: HANG, text: 'Not yet.' }]);
  await makeSlowGit(scene);
  const { exitCode, stderr } = await scene.ralph([...RUN, '--timeout', LIMIT]);
  expect(exitCode).toBe(4);
  expect([...stderr.matchAll(UNANSWERED)].map(([, of]) => of)).toEqual(['of iteration 1']);
  expect(scene.state()).toMatchObject({ metrics: { iterations: 1 } });
});

test('a pipe where ralph itself reads from .git holds nothing up', async () => {
  const scene = await repository([{ text: 'Done.\n\nTASK_COMPLETE' }]);
  const { exclude, todo } = { exclude: '.git/info/exclude', todo: '.git/sequencer/todo' };
  await scene.write(todo, '');
  for (const name of [exclude, todo]) {
    const file = join(scene.folder, name);
    rmSync(file, { force: true });
    execFileSync('mkfifo', [file]);
  }
  expect(await scene.ralph([...RUN])).toMatchObject({ exitCode: 0 });
});
