import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  clearDeadLegs,
  keepLegFolder,
  makeLegFolder,
  removeLegFolder,
} from '../../../src/fleet/leg/worker-home.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const DAY_MS = 24 * 3_600_000;

function makeOlder(file: string, ms: number): void {
  const then = new Date(Date.now() - ms);
  utimesSync(file, then, then);
}

test('the tree of a task that failed stays for three days, also while its worker lives', async () => {
  const home = await tempFolder();
  const [old, young, running] = ['old', 'young', 'running'].map((id) =>
    makeLegFolder(home, id, 1, 'run'),
  );
  for (const each of [old, young]) keepLegFolder(each?.folder ?? '');
  makeOlder(join(old?.folder ?? '', 'kept'), 3 * DAY_MS + 1_000);
  expect(await clearDeadLegs(home)).toEqual(['old.1']);
  expect([old, young, running].map((each) => existsSync(each?.folder ?? ''))).toEqual([
    false,
    true,
    true,
  ]);
});

test('a folder that cannot be marked keeps no end of a task from being stored', async () => {
  const gone = join(await tempFolder(), 'gone');
  expect(() => keepLegFolder(gone)).not.toThrow();
});

test('what a dead worker left running is ended, also where its tree stays', async () => {
  const home = await tempFolder();
  const runId = randomUUID();
  const { folder } = makeLegFolder(home, 'kept', 1, runId);
  keepLegFolder(folder);
  const owner = join(folder, 'owner.json');
  const dead = { ...JSON.parse(readFileSync(owner, 'utf8')), pid_started_at: '1' };
  writeFileSync(owner, JSON.stringify(dead));
  const left = spawn('sleep', ['600'], { env: { ...process.env, RALPH_RUN_ID: runId } });
  onTestFinished(() => void left.kill('SIGKILL'));
  const ended = once(left, 'exit');
  expect(await clearDeadLegs(home)).toEqual([]);
  expect((await ended)[1]).toBe('SIGINT');
  expect(existsSync(folder)).toBe(true);
});

test('a leg that another worker is just making stays', async () => {
  const home = await tempFolder();
  const { folder } = makeLegFolder(home, 'new', 1, 'run');
  rmSync(join(folder, 'owner.json'));
  expect(await clearDeadLegs(home)).toEqual([]);
  makeOlder(folder, 61_000);
  expect(await clearDeadLegs(home)).toEqual(['new.1']);
});

test('a leg of a worker on another host lives as long as its heartbeat is renewed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const home = await tempFolder();
    const { folder, endBeats } = makeLegFolder(home, 'far', 1, 'run');
    const owner = join(folder, 'owner.json');
    const text = readFileSync(owner, 'utf8');
    const longAgo = '2026-01-01T00:00:00.000Z';
    writeFileSync(
      owner,
      JSON.stringify({
        ...JSON.parse(text),
        host: 'other',
        pid_namespace: 'other',
        beat_at: longAgo,
      }),
    );
    makeOlder(owner, 121_000);
    vi.advanceTimersByTime(15_000);
    expect(Date.now() - statSync(owner).mtimeMs).toBeLessThan(120_000);
    expect(await clearDeadLegs(home)).toEqual([]);
    endBeats();
    makeOlder(owner, 121_000);
    vi.advanceTimersByTime(15_000);
    expect(await clearDeadLegs(home)).toEqual(['far.1']);
  } finally {
    vi.useRealTimers();
  }
});

const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

/** Works in a new home as a user without rights. */
async function asUser(work: (home: string) => Promise<void>): Promise<void> {
  const home = await tempFolder();
  if (!isRoot) return work(home);
  chownSync(home, NOBODY, NOBODY);
  process.seteuid?.(NOBODY);
  try {
    await work(home);
  } finally {
    process.seteuid?.(0);
  }
}

test('a leg with folders that only may be read is removed', async () => {
  await asUser(async (home) => {
    const leg = makeLegFolder(home, 'go', 1, 'run');
    const locked = join(leg.tree, 'pkg', 'mod');
    mkdirSync(locked, { recursive: true });
    writeFileSync(join(locked, 'a.go'), '');
    chmodSync(locked, 0o555);
    expect(await removeLegFolder(leg.folder)).toBe(true);
    expect(existsSync(leg.folder)).toBe(false);
  });
});

test.skipIf(!isRoot)('a leg that cannot be removed is not said to be', async () => {
  await asUser(async (home) => {
    const { folder, tree } = makeLegFolder(home, 'stuck', 1, 'run');
    rmSync(join(folder, 'owner.json'));
    process.seteuid?.(0);
    mkdirSync(tree);
    writeFileSync(join(tree, 'of-root'), '');
    makeOlder(folder, 61_000);
    process.seteuid?.(NOBODY);
    expect(await clearDeadLegs(home)).toEqual([]);
    expect(existsSync(tree)).toBe(true);
  });
});
