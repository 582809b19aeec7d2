import { describe, expect, test } from 'vitest';
import {
  countBirths,
  isAlive,
  isYoungest,
  listMarked,
  listProcesses,
  psDetails,
  psEntries,
  psMarked,
  readBootId,
  readProcess,
  startedBefore,
} from '../../../src/effects/processes/process-table.ts';
import {
  mustRead,
  startFixture,
  startProgram,
  until,
  untilDead,
  untilReady,
} from '../../helpers/processes.ts';

const NO_SUCH_PID = 2 ** 22 + 1;

describe.skipIf(process.platform !== 'linux')('the process table', () => {
  test('reads a process', async () => {
    const { stdout } = startFixture('stubborn.sh', ['agent']);
    const { agent } = await untilReady(stdout, 'agent');
    const details = mustRead(agent);
    expect(details).toMatchObject({
      pid: agent,
      ppid: process.pid,
      pgid: agent,
      sessionId: agent,
      command: expect.stringMatching(/stubborn\.sh agent$|^sleep 600$/),
    });
    expect(details.startedAt).toMatch(/^\d+$/);
    expect(isAlive(details)).toBe(true);
  });

  test('is not misled by a program whose name looks like fields', async () => {
    const { pid, stdout } = startProgram('/bin/sh', [
      '-c',
      'printf "x) R 1 1 1 (" > /proc/$$/comm; echo "ready agent=$$"; read -r _',
    ]);
    await untilReady(stdout, 'agent');
    expect(mustRead(pid)).toMatchObject({ ppid: process.pid, pgid: pid, state: 'S' });
  });

  test('knows nothing of a pid that nobody has', () => {
    expect(readProcess(NO_SUCH_PID)).toBeNull();
    expect(isAlive({ pid: NO_SUCH_PID, startedAt: '1' })).toBe(false);
    expect(listMarked([NO_SUCH_PID], 'x')).toEqual([]);
  });

  test('counts every birth', () => {
    const before = countBirths() ?? Number.NaN;
    startFixture('stubborn.sh', ['agent']);
    expect(countBirths()).toBeGreaterThan(before);
  });

  test('finds a process to be the youngest where nothing was born after it', async () => {
    // On a busy machine others are born all the time: then it says no, and is asked again.
    await until(
      () => {
        const births = countBirths();
        const { pid } = startProgram('/bin/cat');
        return isYoungest(mustRead(pid), births);
      },
      () => 'a process with none born after it',
    );
  });

  test.for([
    ['while what it has started lives', 'agent-with-plain-tool.sh', 0],
    ['where pids may have been used up since', 'agent-with-plain-tool.sh', -(2 ** 31)],
  ] as const)('never finds one to be the youngest %s', async ([, script, offset]) => {
    const births = (countBirths() ?? Number.NaN) + offset;
    const { stdout } = startFixture(script);
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const root = mustRead(agent);
    for (let look = 0; look < 20; look += 1) expect(isYoungest(root, births)).toBe(false);
    process.kill(agent, 'SIGKILL');
    await untilDead(agent);
    expect(isAlive(mustRead(tool))).toBe(true);
    expect(isYoungest(root, births)).toBe(false);
  });

  test('does not guess where births were not counted', () => {
    const { pid } = startProgram('/bin/cat');
    expect(isYoungest(mustRead(pid), null)).toBe(false);
    // Its own birth at least must have been counted.
    expect(isYoungest(mustRead(pid), (countBirths() ?? Number.NaN) + 1_000_000)).toBe(false);
  });

  test('takes a pid that another process has by now for dead', () => {
    const { pid } = startFixture('stubborn.sh', ['agent']);
    const { startedAt } = mustRead(pid);
    expect(isAlive({ pid, startedAt: String(Number(startedAt) - 1) })).toBe(false);
  });

  test('takes a zombie for dead', async () => {
    const { stdout } = startFixture('zombie-parent.sh');
    const { parent, zombie } = await untilReady(stdout, 'parent', 'zombie');
    await untilDead(zombie);
    const details = mustRead(zombie);
    expect(details).toMatchObject({ state: 'Z', ppid: parent });
    expect(isAlive(details)).toBe(false);
    const pids = listProcesses().map(({ pid }) => pid);
    expect(pids).toContain(parent);
    expect(pids).not.toContain(zombie);
  });

  test('knows what started before a moment', () => {
    const { pid, startedAt } = mustRead(startFixture('stubborn.sh', ['agent']).pid);
    expect(startedBefore(mustRead(process.pid), startedAt)).toBe(true);
    expect(startedBefore({ pid, startedAt }, startedAt)).toBe(false);
    expect(startedBefore({ pid, startedAt }, String(Number(startedAt) + 1))).toBe(true);
  });

  test('finds a marker only as a whole entry of the environment', async () => {
    const marked = startFixture('stubborn.sh', ['a'], { env: { A: '1', RALPH_RUN_ID: 'run-1' } });
    const last = startFixture('stubborn.sh', ['a'], { env: { RALPH_RUN_ID: 'run-10', Z: '1' } });
    const other = startFixture('stubborn.sh', ['a'], { env: { NOT_RALPH_RUN_ID: 'run-1' } });
    const wiped = startFixture('stubborn.sh', ['RALPH_RUN_ID=run-1'], { env: {} });
    const pids = [marked.pid, last.pid, other.pid, wiped.pid];
    expect(listMarked(pids, 'run-1')).toEqual([marked.pid]);
    expect(listMarked(pids, 'run-10')).toEqual([last.pid]);
  });

  test('names the boot', () => {
    expect(readBootId()).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('reads the same from `ps` where there is no /proc', async () => {
    const env = { ...process.env, RALPH_RUN_ID: 'run-1' };
    const { stdout } = startFixture('agent-with-tool.sh', [], { env });
    const { agent, tool } = await untilReady(stdout, 'agent', 'tool');
    const { ppid, pgid } = mustRead(tool);
    expect(psEntries()).toContainEqual(expect.objectContaining({ pid: tool, ppid, pgid }));
    expect(psEntries().map(({ pid }) => pid)).toContain(process.pid);
    const [details] = psDetails([tool]);
    expect(details?.command).toMatch(/stubborn\.sh tool$|^sleep 600$/);
    expect(details?.startedAt).toMatch(/^\d+$/);
    expect(psDetails([NO_SUCH_PID])).toEqual([]);
    expect(psMarked([agent, tool, process.pid], 'RALPH_RUN_ID=run-1')).toEqual([agent, tool]);
    expect(psMarked([agent, tool], 'RALPH_RUN_ID=run')).toEqual([]);
  });
});
