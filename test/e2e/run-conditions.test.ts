import { mkdir, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Turn } from '../helpers/fake-turn.ts';
import { LIMIT, PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const WEEK_AGO = new Date(Date.now() - 7 * 24 * 3600 * 1000);

async function oldFile(scene: Scene, path: string, content = 'old text'): Promise<void> {
  await utimes(await scene.write(path, content), WEEK_AGO, WEEK_AGO);
}

/** A turn that runs a command and says something that states nothing. */
function does(shell: string, more: Turn = {}): Turn {
  return { shell, text: 'Working.', ...more };
}

/** For a run of many iterations. */
const LONG_MS = 2 * PATIENCE_MS;

/** The flags of a run that has an iteration for each of a list, and no other limit. */
function inAll(list: readonly unknown[], flags: readonly string[]): readonly string[] {
  return [...flags, '--no-progress-limit', '0', '--max-iterations', String(list.length)];
}

describe('--watch-glob', () => {
  const OUT = ['--watch-glob', 'out/*.md'];

  test.for<[string, string]>([
    ['a new file', 'echo new > out/b.md'],
    [
      'an old file, changed in the same size and dated back',
      'printf "new text" > x && touch -r out/a.md x && mv x out/a.md',
    ],
  ])('%s completes the task, beside a week-old one that matches', async ([, shell]) => {
    const scene = await makeScene(does(shell));
    await oldFile(scene, 'out/a.md');
    const { exitCode, stdout } = await scene.run([...OUT, '-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Working.\n' });
    expect(scene.state().evidence.kind).toBe('watch-glob');
    expect(scene.state().evidence.detail).toMatch(/^out\/[ab]\.md$/);
  });

  test('a week-old file does not complete the task, whatever else is done to it or beside it', async () => {
    const deeds = [
      ':',
      'touch out/a.md',
      'cp out/a.md x && cat x > out/a.md',
      'cp out/a.md x && mv x out/a.md',
      'chmod 600 out/a.md',
      'mkdir out/folder.md',
      'echo x > x.md && ln -s ../x.md out/link.md',
      'mkfifo out/pipe.md',
      'mkdir out/deep && echo x > out/deep/b.md && echo x > b.md',
      'echo x > out/.b.md',
      'ln -sf ../x.md out/a.md',
      'rm out/a.md',
    ];
    const scene = await makeScene(deeds.map((shell) => does(shell)));
    await oldFile(scene, 'out/a.md');
    const { exitCode, stdout } = await scene.run(inAll(deeds, OUT), { timeoutMs: LONG_MS });
    expect(scene.fake.calls()).toHaveLength(deeds.length);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
  });

  test('--watch-existing counts what was there', async () => {
    const scene = await makeScene(does(':'));
    await oldFile(scene, 'out/a.md');
    expect((await scene.run([...OUT, '--watch-existing', '-n', '1'])).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(1);
  });

  test.for<[string, readonly string[], string]>([
    ['one of several', ['nowhere/*', 'out/{x,y}.md'], ': > out/y.md'],
    ['from above', ['../sibling/*.md'], 'mkdir ../sibling; : > ../sibling/x.md'],
  ])('a pattern: %s', async ([, globs, shell]) => {
    const scene = await makeScene([does(':'), does(shell)]);
    await oldFile(scene, 'out/a.md');
    const watch = globs.flatMap((glob) => ['--watch-glob', glob]);
    expect((await scene.run([...watch, '-n', '3'])).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state()).toMatchObject({ watch_glob: globs, completion_promise: null });
  });

  test('an absolute pattern', async () => {
    const scene = await makeScene(does(': > out/x.md'));
    await oldFile(scene, 'out/a.md');
    const { exitCode } = await scene.run(['--watch-glob', join(scene.folder, 'out/*'), '-n', '1']);
    expect(exitCode).toBe(0);
  });

  test('is looked up where the agent works, not in the vault', async () => {
    const scene = await makeScene([does(': > ../x.md'), does(': > x.md')]);
    await scene.write('repo/a', '');
    const where = ['--cwd', 'repo', '--vault', '.'];
    expect((await scene.run([...where, '--watch-glob', 'x.md', '-n', '2'])).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
  });

  test.for<[string, Turn]>([
    ['failed', { exitCode: 1 }],
    ['gave no result', { noResult: true }],
    ['reported an error', { isError: true, text: 'It broke.' }],
    ['was cut off by its time limit', { hangs: true }],
  ])('a match of an iteration that %s counts from the next that ends well', async ([, turn]) => {
    const scene = await makeScene([does(': > out/b.md', turn), { text: 'Now it is whole.' }]);
    await scene.write('out/a.md', '');
    const { exitCode, stdout } = await scene.run([...OUT, '--iteration-timeout', LIMIT, '-n', '3']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Now it is whole.\n' });
    expect(scene.fake.calls()).toHaveLength(2);
  });

  test('the reminder says what is awaited, and asks for no promise', async () => {
    const scene = await makeScene([does(':'), does(': > out/x.md')]);
    await scene.write('out/a.md', '');
    expect((await scene.run(OUT)).exitCode).toBe(0);
    const stdin = scene.fake.calls()[1]?.stdin;
    expect(stdin).toMatch(
      /The task is NOT yet complete\. Please continue and ensure .*'out\/\*\.md'/,
    );
    expect(stdin).not.toContain('<promise>');
  });

  test('words do not complete a task that waits for a file', async () => {
    const scene = await makeScene({ text: 'TASK_COMPLETE' });
    expect((await scene.run([...OUT, '-n', '1'])).exitCode).toBe(3);
  });

  test('a task that is completed without a word prints nothing', async () => {
    const scene = await makeScene({ shell: 'mkdir out; : > out/x.md' });
    const { exitCode, stdout } = await scene.run([...OUT, '-n', '1']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
  });
});

test('the words of an earlier iteration are not the result', async () => {
  const scene = await makeScene();
  await scene.write('agent.sh', 'test $RALPH_ITERATION = 1 && echo "It failed." || : > done.txt');
  const agent = ['--agent', 'command', '--agent-command', 'sh agent.sh'];
  const { exitCode, stdout } = await scene.run([...agent, '--watch-glob', 'done.txt']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
});

describe('--watch-file', () => {
  const WATCH = ['--watch-file', 'Needs_Action/x.md'];

  test('moved to Done', async () => {
    const scene = await makeScene([does(':'), does('mkdir Done && mv Needs_Action/x.md Done/')]);
    await scene.write('Needs_Action/x.md', 'task');
    const { exitCode } = await scene.run([...WATCH, '-n', '3']);
    expect(exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.state().evidence).toMatchObject({
      kind: 'file-moved',
      detail: join(scene.folder, 'Done/x.md'),
    });
    expect(scene.fake.calls()[1]?.stdin).toMatch(
      /NOT yet complete.*'Needs_Action\/x\.md' has been moved/,
    );
  });

  test('moved over an older file of its name in Done', async () => {
    const scene = await makeScene(does('mv Needs_Action/x.md Done/'));
    await scene.write('Needs_Action/x.md', 'task');
    await oldFile(scene, 'Done/x.md');
    expect((await scene.run([...WATCH, '-n', '1'])).exitCode).toBe(0);
  });

  test('not moved: Done holds another of its name, and the file stays or goes elsewhere', async () => {
    const deeds = [
      ':',
      'touch Done/x.md',
      'mkdir Else && mv Needs_Action/x.md Else/',
      'rm Else/x.md',
      'rm Done/x.md && mkdir Done/x.md',
      'rmdir Done/x.md && echo task > y.md && ln -s ../y.md Done/x.md',
    ];
    const scene = await makeScene(deeds.map((shell) => does(shell)));
    await scene.write('Needs_Action/x.md', 'task');
    await oldFile(scene, 'Done/x.md');
    const { exitCode } = await scene.run(inAll(deeds, WATCH), { timeoutMs: LONG_MS });
    expect(scene.fake.calls()).toHaveLength(deeds.length);
    expect(exitCode).toBe(3);
  });

  test('is looked up in the vault first, then where the agent works', async () => {
    const shell = 'mkdir -p ../vault/Done && mv ../vault/in/x.md ../vault/Done/';
    const scene = await makeScene([does('mkdir -p Done && mv in/x.md Done/'), does(shell)]);
    await scene.write('vault/in/x.md', 'of the vault');
    await scene.write('repo/in/x.md', 'of the repository');
    const where = ['--vault', 'vault', '--cwd', 'repo', '--watch-file', 'in/x.md'];
    expect((await scene.run([...where, '-n', '3'])).exitCode).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.names('vault')).toEqual(['.ralph_state', 'Done', 'in']);
    expect(scene.names('repo')).toEqual(['Done', 'in']);
  });

  test.for(['finished', './finished/', 'ABSOLUTE'])('--done-folder %s', async (folder) => {
    const scene = await makeScene(does('mv in/x.md finished/'));
    await mkdir(join(scene.folder, 'finished'));
    await scene.write('in/x.md', 'task');
    const done = folder === 'ABSOLUTE' ? join(scene.folder, 'finished') : folder;
    const watch = ['--watch-file', join(scene.folder, 'in/x.md'), '--done-folder', done];
    expect((await scene.run([...watch, '-n', '1'])).exitCode).toBe(0);
  });
});

describe('conditions together', () => {
  const BOTH = ['--promise', 'COMPLETE', '--watch-glob', 'out/*.md', '--watch-file', 'in/x.md'];

  test.for<[string, Turn, string]>([
    ['the promise', { text: 'COMPLETE' }, 'promise'],
    ['the new file', does('mkdir out; : > out/a.md'), 'watch-glob'],
    ['the moved file', does('mkdir Done; mv in/x.md Done/'), 'file-moved'],
    [
      'a file beside refused tools',
      { ...does('mkdir out; : > out/a.md'), ...refused() },
      'watch-glob',
    ],
  ])('any of them completes: %s', async ([, turn, kind]) => {
    const scene = await makeScene([does(':'), turn]);
    await scene.write('in/x.md', 'task');
    expect((await scene.run(BOTH)).exitCode).toBe(0);
    expect(scene.state().evidence.kind).toBe(kind);
    const stdin = scene.fake.calls()[1]?.stdin;
    for (const words of ["'<promise>COMPLETE</promise>'", "'out/*.md'", "'in/x.md'"]) {
      expect(stdin).toContain(words);
    }
  });

  test('a file that is reached through a link to a folder outside is no match', async () => {
    const scene = await makeScene(does(': > ../outside/x.md'));
    await mkdir(join(scene.folder, '../outside'));
    await mkdir(join(scene.folder, 'out'));
    await symlink('../../outside', join(scene.folder, 'out/link'));
    expect((await scene.run(['--watch-glob', 'out/**/*.md', '-n', '1'])).exitCode).toBe(3);
  });
});

function refused(): Turn {
  return { denials: [{ name: 'Bash', input: { command: 'npm test' } }], text: 'COMPLETE' };
}
