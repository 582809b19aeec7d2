import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHelper } from '../../../src/effects/sandbox/helper.ts';
import { untilDead } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** Returns what starts a program of node in the place of the helper. */
async function program(script: string) {
  const folder = await tempFolder();
  const file = join(folder, 'helper.cjs');
  await writeFile(file, script);
  const [tmp, outside] = [join(folder, 'tmp'), join(folder, 'outside')];
  await mkdir(outside);
  return startHelper.bind(null, {
    ...{ program: file, component: '', hosts: [], unixSockets: false, runId: 'r', env: {} },
    tools: { bwrap: '', socat: '', rg: '' },
    run: { path: folder, tmp, outside, sockets: outside, empty: folder },
    outerPath: '/usr/bin:/bin',
  });
}

const MOUNTS = { allowWrite: [], denyWrite: [], denyRead: [], allowRead: [] };
const OPENS =
  "process.on('message', ({ kind }) => kind === 'open' && process.send({ kind: 'opened' }));";

const SILENCE = 'the helper of the sandbox did not answer within 30 s';

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

test('a helper that says nothing is given up', async () => {
  const start = await program("process.on('message', () => {})");
  fakeTimers();
  const helper = start();
  vi.advanceTimersByTime(30_000);
  await expect(helper).rejects.toThrow(SILENCE);
});

test('one that makes no command is given up, and ended', async () => {
  const start = await program(OPENS);
  fakeTimers();
  const helper = await start();
  const wrapped = helper.wrap('true', MOUNTS);
  vi.advanceTimersByTime(30_000);
  await expect(wrapped).rejects.toThrow(SILENCE);
  vi.useRealTimers();
  await untilDead(helper.pid);
});

test('closing a helper that has ended kills nobody who has its pid now', async () => {
  const helper = await (await program(OPENS))();
  process.kill(helper.pid, 'SIGKILL');
  await vi.waitUntil(() => !helper.isAlive());
  const kill = vi.spyOn(process, 'kill');
  onTestFinished(() => kill.mockRestore());
  await helper.close();
  expect(kill).not.toHaveBeenCalled();
});
