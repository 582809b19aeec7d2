import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { endAllInLater, untilNobodyIn } from '../helpers/living-in.ts';
import { PATIENCE_MS } from '../helpers/patience.ts';
import { startProgram } from '../helpers/processes.ts';
import { makeScene } from '../helpers/scene.ts';

// One live driver a task, and a dead one is no hindrance.

const DONE = { text: 'Done.\n\nTASK_COMPLETE' };
const RUN = ['run', '--prompt', 'Fix it', '--task-id', 'nightly', '--delay', '0'] as const;

/** A file system of its own for /proc, and with it pids of its own: two containers on one vault. */
const OWN_PIDS = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync('unshare', [...OWN_PIDS, 'true']).status === 0;

/** Loaded into ralph: it lives three minutes later. */
const LATER = `
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) { super(...(args.length === 0 ? [RealDate.now() + 180_000] : args)); }
  static now() { return RealDate.now() + 180_000; }
};
`;

describe('two runs of one task', () => {
  test('at once: one runs, the other ends 7 and names pid and iteration', async () => {
    const scene = await makeScene({ hangs: true });
    endAllInLater(scene.home);
    const runs = await Promise.all([scene.start(RUN), scene.start(RUN)]);
    const second = await Promise.race(runs.map(({ ended }) => ended));
    expect(second.exitCode).toBe(7);
    expect(second.stdout).toBe('');
    await scene.fake.untilCalls(1);
    const [first] = runs.filter(({ child }) => child.exitCode === null);
    expect(second.stderr).toContain(`ralph: a live loop already has task 'nightly'`);
    expect(second.stderr).toContain(`(pid ${first?.pid} on `);

    const third = await scene.ralph(RUN);
    expect(third.exitCode).toBe(7);
    expect(third.stderr).toMatch(new RegExp(`\\(pid ${first?.pid} on .+, iteration 1/5\\)`));
    // The task of the first is as it was, and its agent the only one.
    expect(scene.state('nightly')).toMatchObject({
      status: 'running',
      driver: { pid: first?.pid },
    });
    expect(scene.fake.calls()).toHaveLength(1);
    first?.child.kill('SIGTERM');
    expect(await first?.ended).toMatchObject({ exitCode: 143 });
    expect(scene.names('.ralph_state')).not.toContain('locks');
  });

  test('after kill -9 of the first the next starts at once', async () => {
    const scene = await makeScene([{ hangs: true }, DONE]);
    endAllInLater(scene.home);
    const first = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    process.kill(first.pid, 'SIGKILL');
    await first.ended;
    expect(await scene.ralph(RUN)).toMatchObject({ exitCode: 0 });
    expect(scene.names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 'history']);
    await untilNobodyIn(scene.home);
  });

  test('six at once after a death: one of them goes on', async () => {
    const scene = await makeScene([{ hangs: true }, { hangs: true }]);
    endAllInLater(scene.home);
    const first = await scene.start(RUN);
    await scene.fake.untilCalls(1);
    process.kill(first.pid, 'SIGKILL');
    await first.ended;
    const resumes = await Promise.all(
      Array.from({ length: 6 }, () => scene.start(['resume', 'nightly'])),
    );
    await scene.fake.untilCalls(2);
    const ends: (number | null)[] = [];
    for (const resume of resumes) resume.ended.then((end) => ends.push(end.exitCode));
    await expect.poll(() => ends).toEqual([7, 7, 7, 7, 7]);
    expect(scene.fake.calls()).toHaveLength(2);
    const [last] = resumes.filter(({ child }) => child.exitCode === null);
    last?.child.kill('SIGTERM');
    expect(await last?.ended).toMatchObject({ exitCode: 143 });
  });
});

describe.runIf(canUnshare)('two pid namespaces with one host name on one vault', () => {
  test('one driver at a time; a dead one is known by its beat', async () => {
    const scene = await makeScene([{ hangs: true }, DONE]);
    endAllInLater(scene.home);
    const elsewhere = (env: Record<string, string> = {}) =>
      spawnSync('unshare', [...OWN_PIDS, 'ralph', ...RUN], {
        cwd: scene.folder,
        env: { ...scene.env, ...env },
        encoding: 'utf8',
        timeout: PATIENCE_MS,
      });
    const first = startProgram('unshare', [...OWN_PIDS, 'ralph', ...RUN], {
      cwd: scene.folder,
      env: { ...scene.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    first.stdout.resume();
    await scene.fake.untilCalls(1);

    // From outside and from a third one: alive, though no process of that pid is seen there.
    expect(await scene.ralph(RUN)).toMatchObject({ exitCode: 7 });
    const second = elsewhere();
    expect(second.status).toBe(7);
    expect(second.stderr).toContain('iteration 1/5');
    expect(await scene.ralph(['resume', 'nightly'])).toMatchObject({ exitCode: 7 });

    process.kill(first.pid, 'SIGKILL');
    await untilNobodyIn(scene.home);
    // Nobody can see that it is dead, until its beat is old.
    expect(elsewhere().status).toBe(7);
    const clock = await scene.write('../later.cjs', LATER);
    const later = elsewhere({ NODE_OPTIONS: `--require ${clock}` });
    expect(later.stderr).toContain('completed');
    expect(later.status).toBe(0);
    expect(scene.fake.calls()).toHaveLength(2);
    expect(scene.names('.ralph_state')).toEqual(['.gitignore', 'events.jsonl', 'history']);
  });
});
