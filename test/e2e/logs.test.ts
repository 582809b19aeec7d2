import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

const WORKING = {
  tools: [{ name: 'Bash', input: { command: 'npm test' } }],
  text: 'Still \u001b[31mworking.',
  stderr: 'a warning\n',
};
const DONE = { text: 'TASK_COMPLETE' };

const rawLog = (scene: Scene, number: number, folder = 'history/t') =>
  readFileSync(join(scene.folder, `.ralph_state/${folder}/iteration-000${number}.stdout.log`));

describe('ralph logs', () => {
  test('shows the output as text, iteration by iteration', async () => {
    const scene = await makeScene([WORKING, DONE]);
    await scene.run();
    const { stdout, stderr, exitCode } = await scene.ralph(['logs', 't']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(
      /^── iteration 1 ──\n> Bash: npm test\nStill working\.\n= success, .*\$.*\nstderr:\na warning\n── iteration 2 ──\nTASK_COMPLETE\n= success, .*\n$/,
    );
    const second = await scene.ralph(['logs', 't', '--iteration', '2']);
    expect(second.stdout).toMatch(/^── iteration 2 ──\nTASK_COMPLETE\n= success, .*\n$/);
  });

  test('--raw is every byte of it', async () => {
    const scene = await makeScene([WORKING, DONE]);
    await scene.run();
    const bytes = Buffer.concat([rawLog(scene, 1), rawLog(scene, 2)]);
    expect((await scene.ralph(['logs', 't', '--raw'])).stdout).toBe(bytes.toString());
    const one = await scene.ralph(['logs', 't', '--raw', '--iteration', '1']);
    expect(one.stdout).toBe(rawLog(scene, 1).toString());
  });

  test("a command's output is as it is", async () => {
    const scene = await makeScene();
    const agent = `sh -c 'echo "Found {}."; echo TASK_COMPLETE'`;
    await scene.run(['--agent', 'command', '--agent-command', agent]);
    const { stdout } = await scene.ralph(['logs', 't']);
    expect(stdout).toBe('── iteration 1 ──\nFound {}.\nTASK_COMPLETE\n');
  });

  test('all files of a log beyond half of --log-limit are part of it', async () => {
    const scene = await makeScene([WORKING, DONE]);
    await scene.run();
    const folder = join(scene.folder, '.ralph_state/history/t');
    for (const stream of ['stdout', 'stderr']) {
      const log = join(folder, `iteration-0002.${stream}.log`);
      writeFileSync(log, 'head\n');
      writeFileSync(`${log}.000000000000005`, 'older\n');
      writeFileSync(`${log}.000000000000021`, 'newer\n');
    }
    const { stdout } = await scene.ralph(['logs', 't', '--iteration', '2']);
    const all = 'head\nolder\n\n[ralph: 10 bytes left out]\nnewer\n';
    expect(stdout).toBe(`── iteration 2 ──\n${all}stderr:\n${all}`);
    expect((await scene.ralph(['logs', 't', '--iteration', '2', '--raw'])).stdout).toBe(all);
  });

  test('what is not there is one sentence and exit 1, or 2 where it is no number', async () => {
    const scene = await makeScene(DONE);
    await scene.run();
    const say = async (...args: readonly string[]) => {
      const { stdout, stderr, exitCode } = await scene.ralph(['logs', ...args]);
      expect(stdout).toBe('');
      return `${exitCode} ${stderr}`;
    };
    expect(await say('nobody')).toMatch(/^1 ralph: there is no task .*\n$/);
    expect(await say('t', '--iteration', '7')).toMatch(/^1 ralph: .*iteration 7.*\n$/);
    expect(await say('t', '--iteration', 'x')).toMatch(/^2 ralph: --iteration expects .*'x'.*\n$/);
  });

  test('a reader that goes away ends it quietly', async () => {
    const scene = await makeScene();
    const agent = `sh -c 'seq 1 300000; echo TASK_COMPLETE'`;
    await scene.run(['--agent', 'command', '--agent-command', agent]);
    const script = '{ ralph logs t; echo "exit $?" >&2; } | head -2';
    const { stdout, stderr } = spawnSync('sh', ['-c', script], {
      cwd: scene.folder,
      env: scene.env,
      encoding: 'utf8',
      timeout: PATIENCE_MS,
    });
    expect({ stdout, stderr }).toEqual({ stdout: '── iteration 1 ──\n1\n', stderr: 'exit 0\n' });
  });
});

describe('ralph logs --follow', () => {
  const STEPS = `echo "step $RALPH_ITERATION"; while [ ! -e "go-$RALPH_ITERATION" ]; do sleep 0.05; done; printf end.; echo "$RALPH_ITERATION" >&2; [ "$RALPH_ITERATION" != 2 ] || printf '\\nTASK_COMPLETE\\n'`;

  test('goes on across iterations until the loop has ended', async () => {
    const scene = await makeScene();
    await scene.write('agent.sh', STEPS);
    const loop = await scene.start([
      ...['run', '--prompt', 'x', '--task-id', 't', '--delay', '1s', '--quiet'],
      ...['--agent', 'command', '--agent-command', 'sh agent.sh'],
    ]);
    await expect.poll(() => scene.has('.ralph_state/t/iteration-0001.stdout.log')).toBe(true);
    const follow = await scene.start(['logs', 't', '--follow']);
    const raw = await scene.start(['logs', 't', '--follow', '--raw']);
    await expect.poll(() => follow.stdout()).toContain('step 1\n');
    await scene.write('go-1', '');
    await expect.poll(() => follow.stdout()).toContain('step 2\n');
    await scene.write('go-2', '');
    expect((await loop.ended).exitCode).toBe(0);
    const { stdout, stderr, exitCode } = await follow.ended;
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toBe(
      [
        '── iteration 1 ──',
        'step 1',
        'end.',
        ...['stderr:', '1'],
        '── iteration 2 ──',
        'step 2',
        ...['end.', 'TASK_COMPLETE'],
        ...['stderr:', '2', ''],
      ].join('\n'),
    );
    expect((await raw.ended).stdout).toBe(
      Buffer.concat([rawLog(scene, 1), rawLog(scene, 2)]).toString(),
    );
  });

  test('of a loop whose driver is dead ends at once', async () => {
    const scene = await makeScene([WORKING, { hangs: true }]);
    const loop = await scene.start(['run', '--prompt', 'x', '--task-id', 't', '--delay', '0'], {});
    await loop.untilStderr(/iteration 2\/\d+ started/);
    const follow = await scene.start(['logs', 't', '--follow']);
    await expect.poll(() => follow.stdout()).toContain('── iteration 2 ──');
    process.kill(loop.pid, 'SIGKILL');
    expect((await follow.ended).exitCode).toBe(0);
  });
});
