import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  dropStaleRequests,
  leaveRequest,
  pendingProgress,
  watchRequests,
} from '../../../src/effects/state/requests.ts';
import { HOSTILE, hostileSign } from '../../helpers/hostile-signs.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { testSeal } from '../../helpers/test-seal.ts';

/** So rarely that it does not happen within a test. */
const HARDLY_EVER_MS = 600_000;
const UUID = '5d2f7c1e-0b1a-4c1d-9e1f-1234567890ab';
const STAMP = '20260102000000000';

async function stage() {
  const task = join(await tempFolder(), 'T1');
  const folder = join(task, 'requests');
  const names = () => readdirSync(folder).sort();
  const open = (pollMs = 20) => {
    const box = watchRequests(task, testSeal(dirname(task)), { pollMs });
    onTestFinished(() => box.close());
    const hints = async () => (await box.hints()).map(({ text }) => text);
    return { ...box, hints };
  };
  const leave = (kind: 'stop' | 'pause') => leaveRequest(task, { kind }, at(0));
  const hint = (text: string, ms = 0) =>
    leaveRequest(task, { kind: 'tell', text }, at(ms), testSeal(dirname(task)));
  return { task, folder, names, open, leave, hint };
}

const at = (ms: number) => new Date(Date.UTC(2026, 0, 2) + ms).toISOString();

/** Resolves at once where it is aborted already. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

test('what is left holds nothing raw that acts on a terminal', async () => {
  const { task, folder, names } = await stage();
  const report = { done: 1, total: 2, step: HOSTILE };
  await leaveRequest(task, { kind: 'progress', report }, at(0));
  const [name = ''] = names();
  const text = readFileSync(join(folder, name), 'utf8');
  expect(hostileSign(text)).toBeNull();
  expect(JSON.parse(text)).toMatchObject({ step: HOSTILE });
});

describe('stop and pause', () => {
  test.for(['stop', 'pause'] as const)(
    '%s is noticed, is only itself, and is gone',
    async (kind) => {
      const { open, leave, names } = await stage();
      const box = open();
      expect([box.stop.aborted, box.pause.aborted]).toEqual([false, false]);
      await leave(kind);
      await aborted(box[kind]);
      expect([box.stop.aborted, box.pause.aborted]).toEqual([kind === 'stop', kind === 'pause']);
      expect(names()).toEqual([]);
    },
  );

  test('count at once where they lie there already', async () => {
    const { open, leave } = await stage();
    await leave('pause');
    expect(open(HARDLY_EVER_MS).pause.aborted).toBe(true);
  });

  test('come together', async () => {
    const { open, leave, names } = await stage();
    await Promise.all([leave('stop'), leave('pause'), leave('stop')]);
    const box = open();
    expect([box.stop.aborted, box.pause.aborted]).toEqual([true, true]);
    expect(names()).toEqual([]);
  });

  test('are noticed where the folder was deleted and has come again', async () => {
    const { task, folder, open, leave } = await stage();
    await mkdir(folder, { recursive: true });
    const box = open();
    await rm(task, { recursive: true });
    await leave('stop');
    await aborted(box.stop);
    await rm(task, { recursive: true });
    await leave('pause');
    await aborted(box.pause);
  });

  test('are noticed where they cannot be removed', async () => {
    const { task, folder, open, leave } = await stage();
    await leave('stop');
    await asNobody(task, folder, async () => expect(open().stop.aborted).toBe(true));
  });

  test('are not noticed after the end', async () => {
    const { folder, open, leave, names } = await stage();
    await mkdir(folder, { recursive: true });
    const closed = open(1);
    closed.close();
    await leave('stop');
    // The next driver's box is later than any look of the closed one would have been.
    expect(names()).toHaveLength(1);
    await aborted(open().stop);
    expect(closed.stop.aborted).toBe(false);
  });

  test('a file where the folder should be is no reason to fail', async () => {
    const { task, open } = await stage();
    await writeFile(task, 'a file');
    const box = open();
    expect([box.stop.aborted, await box.hints()]).toEqual([false, []]);
    await box.settled();
  });

  test('keep no process alive that waits for them', async () => {
    const { folder, open } = await stage();
    await mkdir(folder, { recursive: true });
    const before = process.getActiveResourcesInfo().sort();
    open();
    expect(process.getActiveResourcesInfo().sort()).toEqual(before);
  });

  test('are dropped where an earlier driver has not read them; hints stay', async () => {
    const { task, open, leave, hint, names } = await stage();
    await Promise.all([leave('stop'), leave('pause'), hint('stays')]);
    await dropStaleRequests(task);
    expect(names()).toEqual([expect.stringMatching(/^tell-/)]);
    const box = open();
    expect([box.stop.aborted, box.pause.aborted]).toEqual([false, false]);
    expect(await box.hints()).toEqual(['stays']);
  });

  test('nothing to drop is no error', async () => {
    const { task } = await stage();
    await dropStaleRequests(task);
  });
});

describe('hints', () => {
  test('are none where nobody ever left one', async () => {
    const { open } = await stage();
    expect(await open().hints()).toEqual([]);
  });

  test('come out as they went in, oldest first, whatever order they were written in', async () => {
    const { open, hint } = await stage();
    const texts = ['  two\n\nlines\t ', 'ü 🙂', '---\nkey: x\n---\n', 'last'];
    for (const n of [2, 0, 3, 1]) await hint(texts[n] ?? '', n * 7 * 3_600_000 + n);
    expect(await open().hints()).toEqual(texts);
  });

  test('of the same instant are both kept', async () => {
    const { open, hint } = await stage();
    await Promise.all(['a', 'b', 'c'].map((text) => hint(text)));
    expect([...(await open().hints())].sort()).toEqual(['a', 'b', 'c']);
  });

  test('are told once, by a later driver too', async () => {
    const { open, hint, names } = await stage();
    const box = open();
    await hint('one');
    expect(await box.hints()).toEqual(['one']);
    expect(await box.hints()).toEqual([]);
    await box.settled();
    expect(names()).toEqual([]);
    await hint('two', 1);
    expect(await box.hints()).toEqual(['two']);
    await box.settled();
    expect(await open().hints()).toEqual([]);
  });

  test('stay until what holds them is saved: whoever dies before that loses none', async () => {
    const { open, hint } = await stage();
    const killed = open();
    await hint('one');
    expect(await killed.hints()).toEqual(['one']);
    const next = open();
    expect(await next.hints()).toEqual(['one']);
    // What has come since is in no saved state yet.
    await hint('two', 1);
    await next.settled();
    expect(await open().hints()).toEqual(['two']);
  });

  test('are told once also where they cannot be put away', async () => {
    const { task, folder, open, hint, names } = await stage();
    await hint('one');
    const box = open();
    await chmod(join(folder, names()[0] ?? ''), 0o644);
    await asNobody(task, folder, async () => {
      expect(await box.hints()).toEqual(['one']);
      await box.settled();
      expect(await box.hints()).toEqual([]);
    });
    expect(names()).toHaveLength(1);
  });

  test('that cannot be read yet are told later', async () => {
    const { task, folder, open, hint, names } = await stage();
    await hint('one');
    const file = join(folder, names()[0] ?? '');
    await chmod(file, 0o000);
    const box = open();
    await asNobody(task, folder, async () => {
      expect(await box.hints()).toEqual([]);
      await box.settled();
    });
    await chmod(file, 0o600);
    expect(await box.hints()).toEqual(['one']);
  });

  test('are read as far as 64 KB each, in whole characters', async () => {
    const { folder, open } = await stage();
    await mkdir(folder, { recursive: true });
    const file = join(folder, `tell-${STAMP}-${UUID}.md`);
    await writeFile(file, `x${'é'.repeat(40_000)}`);
    // As large as it can be without holding anything.
    truncateSync(file, 4 * 1024 ** 3);
    expect(await open().hints()).toEqual([`x${'é'.repeat(32_767)}`]);
  });

  test('are taken in a thousand at a time, the oldest first', async () => {
    const { folder, open, names } = await stage();
    await mkdir(folder, { recursive: true });
    const name = (kind: string, n: number, ending: string): string =>
      join(folder, `${kind}-${STAMP}-${UUID.slice(0, -4)}${String(n).padStart(4, '0')}.${ending}`);
    for (let n = 0; n < 2_100; n += 1) writeFileSync(name('tell', n, 'md'), `Hint ${n}.`);
    const box = open();
    const looks: (readonly string[])[] = [];
    for (let look = 0; look < 4; look += 1) {
      looks.push(await box.hints());
      await box.settled();
    }
    expect(looks.map(({ length }) => length)).toEqual([1_000, 1_000, 100, 0]);
    expect(looks.flat()).toEqual(Array.from({ length: 2_100 }, (_, n) => `Hint ${n}.`));
    expect(names()).toEqual([]);
  });

  test('are taken in a megabyte at a time', async () => {
    const { open, hint } = await stage();
    for (let n = 0; n < 40; n += 1) await hint(`${n} `.repeat(20_000), n);
    const box = open();
    const looks = [await box.hints(), await box.hints(), await box.hints()];
    expect(looks.flat()).toHaveLength(40);
    for (const texts of looks) expect(texts.join('').length).toBeLessThan(1.1 * 1024 * 1024);
  });

  test('without words are put away and not told', async () => {
    const { open, hint, names } = await stage();
    await hint(' \n\t');
    await hint('words', 1);
    await hint('', 2);
    const box = open();
    expect(await box.hints()).toEqual(['words']);
    await box.settled();
    expect(names()).toEqual([]);
  });
});

describe('a request is left', () => {
  test('nowhere beyond a link that leads out', async () => {
    const { task, folder, hint } = await stage();
    const outside = await tempFolder();
    await mkdir(task);
    await symlink(outside, folder);
    await expect(hint('Mind the tests.')).rejects.toThrow('nothing was asked');
    expect(readdirSync(outside)).toEqual([]);
  });

  test('whole, for the owner alone, and nothing else with it', async () => {
    const { folder, names, hint } = await stage();
    await hint('text');
    const [name = ''] = names();
    expect(names()).toEqual([expect.stringMatching(/^tell-20260102000000000-[\da-f-]{36}\.md$/)]);
    expect(readFileSync(join(folder, name), 'utf8')).toMatch(
      /^text\n<!-- ralph: [\da-f]{64} -->\n$/,
    );
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test('with its kind and its instant, where it has no words', async () => {
    const { folder, names, leave } = await stage();
    await leave('pause');
    const [name = ''] = names();
    expect(name).toMatch(/^pause-20260102000000000-[\da-f-]{36}\.json$/);
    const content: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    expect(content).toEqual({ kind: 'pause', at: at(0) });
  });

  test('or the error is told', async () => {
    const { task, leave } = await stage();
    await writeFile(task, 'a file');
    await expect(leave('stop')).rejects.toThrow(/could not be written to .*(ENOTDIR|EEXIST)/);
  });
});

describe('what else lies there', () => {
  test('is left alone and hides no request, a pipe that nobody writes to included', async () => {
    const { folder, open, hint, names } = await stage();
    await hint('real', 1);
    const request = (kind: string, ending: string, stamp = STAMP) =>
      join(folder, `${kind}-${stamp}-${UUID}.${ending}`);
    const junk = [
      // As the writer has it until it renames.
      request('tell', 'md.17-beef.tmp'),
      request('stop', 'md'),
      request('tell', 'json'),
      request('stop', 'json', '2026'),
      request('.stop', 'json'),
      join(folder, 'stop.json'),
      join(folder, 'stop-1.json'),
      join(folder, 'tell-1.md'),
      join(folder, 'tell.md'),
    ];
    for (const file of junk) await writeFile(file, 'junk');
    await mkdir(request('stop', 'json'));
    await mkdir(request('tell', 'md'));
    await symlink('/etc/hostname', request('tell', 'md', '20260103000000000'));
    await symlink('/etc/hostname', request('pause', 'json'));
    execFileSync('mkfifo', [
      request('tell', 'md', '20260104000000000'),
      request('stop', 'json', '20260104000000000'),
    ]);
    const before = names();
    const box = open();
    expect(await box.hints()).toEqual(['real']);
    await box.settled();
    expect([box.stop.aborted, box.pause.aborted]).toEqual([false, false]);
    expect(before.filter((name) => !names().includes(name))).toHaveLength(1);
    expect(names()).toHaveLength(junk.length + 6);
  });
});

/** In a folder that nobody may write to. Root may do all: for so long nobody is root. */
async function asNobody(task: string, folder: string, action: () => Promise<void>): Promise<void> {
  await chmod(dirname(task), 0o755);
  await chmod(task, 0o755);
  await chmod(folder, 0o555);
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    await action();
  } finally {
    if (isRoot) process.seteuid?.(0);
    await chmod(folder, 0o755);
  }
}

describe('progress', () => {
  const report = (done: number, step = '') => ({ done, total: 5, step });

  test('is read in its order, once, and gone once it is settled', async () => {
    const { task, open, names } = await stage();
    for (const [ms, done] of [
      [2, 2],
      [1, 1],
    ] as const) {
      await leaveRequest(task, { kind: 'progress', report: report(done, 'Lint') }, at(ms));
    }
    const box = open();
    expect(pendingProgress(task)).toEqual(report(2, 'Lint'));
    expect(await box.progress()).toEqual([report(1, 'Lint'), report(2, 'Lint')]);
    expect(await box.progress()).toEqual([]);
    expect(names()).toHaveLength(2);
    await box.settled();
    expect(names()).toEqual([]);
    expect(pendingProgress(task)).toBeNull();
  });

  test.for([
    '',
    '{}',
    '[]',
    '{"done":"1","total":5}',
    '{"done":6,"total":5}',
    '{"done":0.5,"total":5}',
  ])('that makes no sense is none: %s', async (text) => {
    const { task, folder, open } = await stage();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `progress-${STAMP}-${UUID}.json`), text);
    expect(pendingProgress(task)).toBeNull();
    expect(await open().progress()).toEqual([]);
  });

  test('outlives the driver it was left for', async () => {
    const { task, open } = await stage();
    await leaveRequest(task, { kind: 'progress', report: report(3) }, at(0));
    await dropStaleRequests(task);
    expect(await open().progress()).toEqual([report(3)]);
  });
});
