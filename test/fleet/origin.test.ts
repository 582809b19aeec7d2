import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { auditFleet } from '../helpers/fleet-audit.ts';
import { repeatedStarts, stubRuns } from '../helpers/fleet-stub.ts';
import { untilNoted, useFleetSite } from '../helpers/fleet-test.ts';
import { taskOfTest, workerOfTest } from '../helpers/fleet-worker.ts';
import { openTestFleet } from '../helpers/postgres.ts';
import { until } from '../helpers/processes.ts';

// An origin that somebody else writes to, that refuses, or that is away.

const makeScene = useFleetSite(1);

test('a branch that somebody else has moved stays, and the result has a ref of its own', async () => {
  const scene = await makeScene();
  const { git } = scene.origin;
  const gate = join(scene.folder, 'gate');
  scene.stub.does({ before: `until [ -e '${gate}' ]; do sleep 0.1; done`, seconds: 0 });
  await scene.startWorker(scene.host(1));
  await scene.submit([{ task_id: 'a' }]);
  await untilNoted(scene, ({ kind }) => kind === 'START');
  const other = git('commit-tree', '-p', 'main', '-m', 'by hand', 'main^{tree}');
  git('update-ref', 'refs/heads/ralph/a', other);
  writeFileSync(gate, '');
  const [task] = await scene.untilEmpty();
  expect(task).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(task?.warning).toContain('refs/ralph/a/result');
  expect(git('rev-parse', 'ralph/a')).toBe(other);
  expect(git('show', 'refs/ralph/a/result:work.txt')).toMatch(/^a\/1\/\d+$/);
});

test('the result is named with its branch, its commit and what fetches it; commands of a clone point to the fleet', async () => {
  const scene = await makeScene();
  await scene.startWorker(scene.host(1));
  const repo = ['--repo', scene.origin.url, '-p', 'Do the work.', '--delay', '0s'];
  const { exitCode, stderr } = await scene.ralph(['submit', '--wait', '--task-id', 'a', ...repo]);
  const commit = scene.origin.git('rev-parse', 'ralph/a').slice(0, 12);
  const result = `the branch ralph/a at ${commit}: git fetch ${scene.origin.url} ralph/a`;
  expect([exitCode, stderr.trimEnd().split('\n').at(-1)]).toEqual([0, `ralph: result: ${result}`]);
  expect(stderr).not.toContain('no commit');
  for (const command of ['diff', 'land', 'undo']) {
    const refused = await scene.ralph([command, 'a']);
    const look = 'to look in the fleet: npx --package ralph-headless ralph status a';
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(look)]);
  }
});

function refuse(scene: Awaited<ReturnType<typeof makeScene>>, script: string): void {
  const hook = join(scene.origin.folder, 'hooks', 'pre-receive');
  writeFileSync(hook, `#!/bin/sh\n${script}\n`);
  chmodSync(hook, 0o755);
}

test('an origin that refuses from the start costs no agent', async () => {
  const scene = await makeScene();
  refuse(scene, 'exit 1');
  await scene.submit([
    { task_id: 'a' },
    { task_id: 'gone', repo: scene.origin.url.replace('origin', 'nothing') },
    { task_id: 'ref', base: 'no-such-branch' },
  ]);
  const worker = await scene.startWorker(scene.host(1), ['--until-empty']);
  expect(await worker.ended).toBe(0);
  const reasons = (await scene.tasks()).map(({ spec, exit_reason }) => [spec.task_id, exit_reason]);
  expect(Object.fromEntries(reasons)).toEqual({
    a: 'failed:origin',
    gone: 'failed:repository',
    ref: 'failed:repository',
  });
  expect(scene.stub.notes()).toEqual([]);
});

test('an origin that refuses from the second iteration on ends the task there, once patience is over', async () => {
  const scene = await makeScene();
  const full = join(scene.folder, 'full');
  const starts = join(scene.folder, 'starts');
  refuse(scene, `[ ! -e ${full} ]`);
  // No flag says how patient a worker is, so this one runs here.
  const queue = await openTestFleet(scene.url, 'worker');
  onTestFinished(() => queue.close());
  const agent = `echo "$RALPH_ITERATION" | tee -a lines >>${starts}; [ "$RALPH_ITERATION" = 1 ] || touch ${full}`;
  const settings = { maxIterations: 5 };
  await queue.submit([await taskOfTest(agent, { repo: scene.origin.folder, settings })]);
  const worker = await workerOfTest(queue, { originPatienceMs: 500 });
  await worker.run();
  const task = await scene.task('t');
  expect(task, worker.said.join('\n')).toMatchObject({
    ...{ status: 'failed', exit_reason: 'failed:origin', iterations: 1, worker: null },
  });
  expect(readFileSync(starts, 'utf8')).toBe('1\n2\n');
  const [, tree = ''] = /its work tree is (\S+)/.exec(task.warning ?? '') ?? [];
  expect(readFileSync(join(tree, 'lines'), 'utf8')).toBe('1\n2\n');
});

test('an origin that is away for a while holds a task up, and nothing is repeated', async () => {
  const scene = await makeScene();
  const [away, pushes] = [join(scene.folder, 'away'), join(scene.folder, 'pushes')];
  const waits = `[ "$RALPH_ITERATION" = 1 ] || until [ -e '${away}' ]; do sleep 0.1; done`;
  scene.stub.does({ before: waits, seconds: 0, iterations: 3 });
  refuse(scene, `[ ! -e ${away} ] || { echo push >>${pushes}; exit 1; }`);
  const worker = await scene.startWorker(scene.host(1));
  const ids = await scene.submit([{ task_id: 'a' }]);
  const start = await untilNoted(
    scene,
    ({ kind, iteration }) => kind === 'START' && iteration === 2,
  );
  writeFileSync(away, '');
  await untilNoted(scene, ({ kind, iteration }) => kind === 'END' && iteration === 2);
  // Its work is not kept, so the next one does not begin, however often it is pushed.
  await until(
    () => existsSync(pushes) && readFileSync(pushes, 'utf8').length >= 2 * 'push\n'.length,
    () => `a second push; ${worker.said()}`,
  );
  expect(Math.max(...stubRuns(scene.stub.notes()).map(({ iteration }) => iteration))).toBe(2);
  expect(await scene.task('a')).toMatchObject({ iterations: 1, worker: expect.any(String) });
  refuse(scene, 'exit 0');
  await scene.untilEmpty();
  expect((await auditFleet(scene, ids, 3)).problems).toEqual([]);
  expect([repeatedStarts(scene.stub.notes()), start.task]).toEqual([0, 'a']);
  expect(worker.isAlive()).toBe(true);
});
