import type { ChildProcess } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { LIMIT, LIMIT_MS } from '../helpers/patience.ts';
import { fixture, stateOf, until, untilDead } from '../helpers/processes.ts';
import { makeScene, type Scene } from '../helpers/scene.ts';

// ralph itself is stopped: by Ctrl-Z, or with the whole container that it runs in.

const PROMISED = 'Done.\n\nTASK_COMPLETE';
const UNTIL_GO = { shell: 'until test -e go; do sleep 0.02; done' };
/** Far beyond the limit, so that every timer is late. */
const BEYOND_MS = LIMIT_MS + 1_500;

/** Starts ralph, and stops it as soon as its agent is at work; `goOn` waits until the limit is long over. */
async function stopped(scene: Scene, args: readonly string[]) {
  const ralph = await scene.start([
    'run',
    '-p',
    'Fix it',
    '--task-id',
    't',
    '--delay',
    '0',
    ...args,
  ]);
  const [call] = await scene.fake.untilCalls(1);
  const wake = await stop(ralph.child, BEYOND_MS);
  return {
    agent: call?.pid ?? 0,
    async goOn() {
      await wake();
      return ralph.ended;
    },
  };
}

/** Stops a process; what it returns has it go on once it has stood still for so long. */
async function stop(child: ChildProcess, stoppedMs = 4_500): Promise<() => Promise<void>> {
  const stoppedAtMs = performance.now();
  child.kill('SIGSTOP');
  await until(
    () => stateOf(child.pid ?? 0)?.startsWith('T'),
    () => 'ralph to stand still',
  );
  return async () => {
    await until(
      () => performance.now() - stoppedAtMs > stoppedMs,
      () => 'the end of the stop',
    );
    child.kill('SIGCONT');
  };
}

describe('ralph is stopped for longer than the limits', () => {
  test('an answer that has come meanwhile counts, and the task has lost no time', async () => {
    const scene = await makeScene([{ ...UNTIL_GO, text: PROMISED }]);
    const { agent, goOn } = await stopped(scene, [
      ...['--iteration-timeout', LIMIT, '--idle-timeout', LIMIT, '--timeout', LIMIT],
    ]);
    await scene.write('go', '');
    await untilDead(agent);
    expect(await goOn()).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
    const { status, iterations, errors, started_at, timeout_at } = scene.state();
    expect({ status, errors }).toEqual({ status: 'completed', errors: [] });
    expect(iterations).toMatchObject([{ outcome: 'answered' }]);
    expect(Date.parse(timeout_at) - Date.parse(started_at)).toBeGreaterThan(LIMIT_MS);
  });

  test('a further answer, after a first that seemed to be the last, is not cut off', async () => {
    const first = { type: 'result', subtype: 'success', is_error: false, result: 'Not yet.' };
    const scene = await makeScene([{ raw: [JSON.stringify(first)], ...UNTIL_GO, text: PROMISED }]);
    const log = '.ralph_state/t/iteration-0001.stdout.log';
    const ralph = await scene.start(['run', '-p', 'Fix it', '--task-id', 't', '-n', '1']);
    await until(
      () => scene.has(log) && scene.read(log).includes('Not yet.'),
      () => 'the first answer',
    );
    const wake = await stop(ralph.child);
    await scene.write('go', '');
    const [call] = await scene.fake.untilCalls(1);
    await untilDead(call?.pid ?? 0);
    await wake();
    expect(await ralph.ended).toMatchObject({ exitCode: 0, stdout: `${PROMISED}\n` });
  });

  test('an agent that is over its limit all the same is cut', async () => {
    const scene = await makeScene([{ before: ['Let me see.'], hangs: true }]);
    const { agent, goOn } = await stopped(scene, ['--iteration-timeout', LIMIT, '-n', '1']);
    expect(await goOn()).toMatchObject({ exitCode: 3 });
    expect(scene.state()).toMatchObject({ iterations: [{ outcome: 'timed-out' }] });
    await untilDead(agent);
  });
});

const NOT_YET = { text: 'Not yet.' };
const MINUTE_MS = 60_000;
const RUN = ['run', '-p', 'Fix it', '--task-id', 't', '--delay', '0', '--timeout', '1m'];

test.for([
  ['--verify', { text: PROMISED }],
  ['--until', NOT_YET],
  ['--after', NOT_YET],
] as const)('a stop during %s takes no time from the task', async ([flag, first]) => {
  const scene = await makeScene([first, { text: PROMISED }]);
  const command = `test -e begun || { : > begun; ${UNTIL_GO.shell}; exit 1; }`;
  const ralph = await scene.start([...RUN, flag, command]);
  await until(
    () => scene.has('begun'),
    () => `the command; ralph says ${ralph.stderr()}`,
  );
  const wake = await stop(ralph.child);
  await wake();
  await scene.write('go', '');
  expect(await ralph.ended).toMatchObject({ exitCode: 0 });
  const { started_at, timeout_at } = scene.state();
  expect(Date.parse(timeout_at) - Date.parse(started_at)).toBeGreaterThan(MINUTE_MS);
});

describe('the driver is killed soon after', () => {
  const preloads = ['jumping-clock.cjs', 'quick-beat.cjs'].map(fixture);
  const options = {
    env: { NODE_OPTIONS: preloads.map((file) => `--require ${file}`).join(' ') },
  };

  test.for<[what: string, happen: (scene: Scene, ralph: ChildProcess) => Promise<unknown>]>([
    ['ralph was stopped', async (_scene, ralph) => (await stop(ralph))()],
    ['the machine slept for ten hours', (scene) => scene.write('../bin/jump', '36000000')],
  ])('%s: the task has the time that it had', async ([, happen]) => {
    const scene = await makeScene([{ before: ['Let me see.'], hangs: true }, { text: PROMISED }]);
    const ralph = await scene.start(RUN, options);
    await scene.fake.untilCalls(1);
    const { timeout_at } = scene.state();
    await happen(scene, ralph.child);
    await until(
      () => scene.state().timeout_at !== timeout_at,
      () => 'a beat that knows of it',
    );
    ralph.child.kill('SIGKILL');
    await ralph.ended;
    const { exitCode } = await scene.ralph(['resume', 't', '--delay', '0'], options);
    expect(exitCode).toBe(0);
    // Nor has it more time than it had.
    const end = scene.state();
    const leftMs = Date.parse(end.timeout_at) - Date.parse(end.finished_at);
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThan(MINUTE_MS);
  });
});
