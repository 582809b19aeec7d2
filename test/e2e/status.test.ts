import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { untilDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const WORKING = { text: 'Fixing test failures' };
const DONE = { text: 'TASK_COMPLETE' };
/** An agent that goes on until it is ended. */
const BUSY = { hangs: true };

/** All that lies in the folder, with its content. */
function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

/** A scene with a loop in its second iteration. */
async function running(): Promise<{ scene: Scene; loop: Awaited<ReturnType<Scene['start']>> }> {
  const scene = await makeScene([WORKING, BUSY]);
  const loop = await scene.start([
    'run',
    '--prompt',
    'Fix it',
    '--delay',
    '0',
    '--task-id',
    't',
    '-n',
    '4',
  ]);
  await loop.untilStderr(/iteration 2\/4 started/);
  return { scene, loop };
}

describe('ralph status', () => {
  test('shows what runs, by whom, and its last words', async () => {
    const { scene, loop } = await running();
    const { stdout, stderr, exitCode } = await scene.ralph(['status']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`^t +running +iteration 2/4 .* pid ${loop.pid}$`, 'm'));
    expect(stdout).toContain('\n  Fix it\n');
    expect(stdout).not.toContain('\u001b');

    const [task] = JSON.parse((await scene.ralph(['status', '--json'])).stdout);
    expect(task).toMatchObject({
      task_id: 't',
      state: 'running',
      status: 'running',
      iteration: 2,
      max_iterations: 4,
      finished_at: null,
      last: 'Fixing test failures',
      driver: { pid: loop.pid },
      state_file: join(scene.folder, '.ralph_state/t.json'),
      log_dir: join(scene.folder, '.ralph_state/t'),
      exit_reason: null,
    });

    // A killed driver leaves a state that says it runs.
    process.kill(loop.pid, 'SIGKILL');
    await untilDead(loop.pid);
    const after = await scene.ralph(['status']);
    expect(after.stdout).toMatch(/^t +interrupted +iteration 2\/4 .* –$/m);
  });

  test('shows open ones before ended ones, and what cannot be read as such', async () => {
    const scene = await makeScene([DONE, WORKING]);
    await scene.run();
    await scene.run(['--task-id', 'u', '-n', '1']);
    await scene.write('.ralph_state/bad.json', '{"torn');
    await scene.write('.ralph_state/new.json', '{"schema_version":99}');
    const before = contents(join(scene.folder, '.ralph_state'));
    const { stdout, exitCode } = await scene.ralph(['status']);
    expect(exitCode).toBe(0);
    expect([...stdout.matchAll(/^(\w+) {2,}/gm)].map(([, id]) => id)).toEqual([
      'TASK',
      'u',
      ...['bad', 'new'],
      't',
    ]);
    expect(stdout).toMatch(/^u +max_iterations_reached +iteration 1\/1 /m);
    expect(stdout).toMatch(/^bad +corrupt /m);
    expect(stdout).toMatch(/^new +newer ralph /m);
    expect(stdout).toMatch(/^t +completed /m);
    for (const args of [['--json'], ['t'], ['t', '--json'], ['bad'], ['new']]) {
      await scene.ralph(['status', ...args]);
    }
    expect(contents(join(scene.folder, '.ralph_state'))).toEqual(before);
  });

  test('says that there is nothing, and makes nothing', async () => {
    const scene = await makeScene();
    const { stdout, stderr, exitCode } = await scene.ralph(['status']);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
    expect(stderr).toMatch(/^ralph: no tasks in .*\.ralph_state.*\n$/);
    const json = await scene.ralph(['status', '--json']);
    expect(json).toMatchObject({ stdout: '[]\n', stderr: '', exitCode: 0 });
    expect(scene.names()).toEqual([]);
  });

  test('tells one task in detail, from the history too', async () => {
    const scene = await makeScene([WORKING, DONE]);
    await scene.run(['--max-cost', '5', '--verify', 'true']);
    const { stdout } = await scene.ralph(['status', 't']);
    expect(stdout).toMatch(/^state +completed$/m);
    expect(stdout).toMatch(/^asked +Fix it$/m);
    expect(stdout).toMatch(/^done when +the agent states TASK_COMPLETE and true passes$/m);
    expect(stdout).toMatch(/^cost .* of \$5\.00 used/m);
    expect(stdout).toMatch(/^1 .*answered.*Fixing test failures/m);
    const json = JSON.parse((await scene.ralph(['status', 't', '--json'])).stdout);
    const stateFile = join(scene.folder, '.ralph_state/history/t.json');
    const { sum, ...state } = JSON.parse(readFileSync(stateFile, 'utf8'));
    expect(sum).toMatch(/^[\da-f]{64}$/);
    expect(json).toEqual({
      ...state,
      own: true,
      state: 'completed',
      state_file: stateFile,
      log_dir: join(scene.folder, '.ralph_state/history/t'),
    });
  });

  test.for(['nobody', '../t', 'history'])('of %s is exit 1 in words', async (id) => {
    const scene = await makeScene();
    const { stdout, stderr, exitCode } = await scene.ralph(['status', id]);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr).toMatch(/^ralph: there is no task .*\n$/);
  });
});

describe('ralph status --watch', () => {
  test('prints what has changed, and ends with exit 0 on a signal', async () => {
    const { scene, loop } = await running();
    const watch = await scene.start(['status', '--watch']);
    await expect.poll(() => watch.stdout()).toMatch(/^t +running /m);
    process.kill(loop.pid, 'SIGTERM');
    await expect.poll(() => watch.stdout()).toMatch(/^t +stopped /m);
    expect(watch.stdout().match(/^TASK/gm)?.length).toBeLessThanOrEqual(4);
    watch.child.kill('SIGINT');
    expect(await watch.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('of one task ends with it', async () => {
    const { scene, loop } = await running();
    const watch = await scene.start(['status', 't', '--watch']);
    await expect.poll(() => watch.stdout()).toMatch(/^state +running$/m);
    process.kill(loop.pid, 'SIGTERM');
    const { stdout, exitCode } = await watch.ended;
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^state +stopped$/m);
  });
});
