import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Here } from '../../../src/core/task/driver.ts';
import { type Driver, laterBy } from '../../../src/core/task/task-state.ts';
import { thisDriver, thisPlace } from '../../../src/effects/lock/driver-identity.ts';
import { claimTask, liveClaim, type TaskClaim } from '../../../src/effects/lock/task-lock.ts';
import { startProgram, stateOf, until, untilDead, untilLine } from '../../helpers/processes.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let programs: string;
let program: string;

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'ralph-claims-'));
  program = join(programs, 'task-claimer.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['test/fixtures/task-claimer.ts'],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
  // Another user runs it, too.
  await chmod(programs, 0o755);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

const AT = '2026-01-02T03:04:05.678Z';
const MINUTE_MS = 60_000;

/** A driver elsewhere, of which nothing is known but its beat. */
function driverOn(host: string, beatAt = AT): Driver {
  return {
    pid: 4242,
    pid_started_at: '77',
    boot_id: `boot of ${host}`,
    host,
    pid_namespace: 'pid:[1]',
    run_id: `run on ${host}`,
    beat_at: beatAt,
  };
}

/** A look from a host where no process is alive. */
function seenFrom(host: string, at = AT): Here {
  return {
    host,
    bootId: `boot of ${host}`,
    pidNamespace: 'pid:[1]',
    at,
    isAlive: () => false,
  };
}

async function stage() {
  const stateDir = await tempFolder();
  const folder = join(stateDir, 'locks', 'T1');
  return {
    stateDir,
    folder,
    /** Everything below the state folder. */
    litter: () => readdirSync(stateDir, { recursive: true }),
    claim: (driver: Driver, here: () => Here) => claimTask(stateDir, 'T1', driver, here),
    claimOn: (host: string, at = AT) =>
      claimTask(stateDir, 'T1', driverOn(host, at), () => seenFrom(host, at)),
    liveFrom: (host: string, at = AT) => liveClaim(stateDir, 'T1', seenFrom(host, at)),
    async put(name: string, claim: object | string) {
      await mkdir(folder, { recursive: true });
      const text = typeof claim === 'string' ? claim : JSON.stringify(claim);
      await writeFile(join(folder, name), text);
      return join(folder, name);
    },
    start: (wrapper: readonly string[] = []) => startClaimer(stateDir, wrapper),
  };
}

function mustHold(result: Awaited<ReturnType<typeof claimTask>>): TaskClaim {
  if (result.kind !== 'held') throw new Error(`not held: ${JSON.stringify(result)}`);
  return result.claim;
}

/** Another process that does as it is told, and answers each order with a word. */
async function startClaimer(
  stateDir: string,
  wrapper: readonly string[],
  options?: { uid: number; gid: number },
) {
  const [command = '', ...args] = [...wrapper, process.execPath, program, stateDir, 'T1'];
  const child = startProgram(command, args, { cwd: '/', ...options });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  let heard = 0;
  const answer = () =>
    until(
      () => {
        const words = text.split(';\n').slice(0, -1);
        if (words.length <= heard) return null;
        heard += 1;
        return words[heard - 1];
      },
      () => `an answer; so far: ${text}`,
    );
  expect(await answer()).toBe('waiting');
  const tell = (order: string): Promise<string> => {
    child.stdin?.write(`${order}\n`);
    return answer();
  };
  return { pid: child.pid, tell };
}

type Claimer = Awaited<ReturnType<typeof startClaimer>>;

/** All at the same instant; gives the one that got it. */
async function race(claimers: readonly Claimer[]): Promise<Claimer> {
  const words = await Promise.all(claimers.map(({ tell }) => tell('claim')));
  const holders = claimers.filter((_, index) => words[index] === 'held');
  expect(words.filter((word) => word === 'taken')).toHaveLength(claimers.length - 1);
  expect(holders).toHaveLength(1);
  const [holder] = holders;
  if (holder === undefined) throw new Error('nobody holds it');
  return holder;
}

const many = (count: number, start: () => Promise<Claimer>) =>
  Promise.all(Array.from({ length: count }, start));

describe('of many processes at the same instant', () => {
  test('one gets the task, every time, and nothing is left behind', async () => {
    const { start, litter, folder } = await stage();
    const claimers = await many(12, start);
    for (let round = 1; round <= 6; round += 1) {
      const holder = await race(claimers);
      expect(readdirSync(folder)).toHaveLength(1);
      await holder.tell('release');
      expect(litter()).toEqual([]);
    }
  });

  test('one takes over from an owner that was killed, every time', async () => {
    const { start, folder } = await stage();
    let claimers = await many(10, start);
    for (let round = 1; round <= 6; round += 1) {
      const holder = await race(claimers);
      expect(readdirSync(folder)).toHaveLength(1);
      process.kill(holder.pid, 'SIGKILL');
      await untilDead(holder.pid);
      claimers = claimers.filter((claimer) => claimer !== holder);
    }
  });
});

describe('on one host', () => {
  test('a suspended owner stays the owner, however old its beat', async () => {
    const { start, claim, stateDir } = await stage();
    const owner = await start();
    expect(await owner.tell('claim')).toBe('held');
    process.kill(owner.pid, 'SIGSTOP');
    await until(
      () => stateOf(owner.pid)?.startsWith('T'),
      () => 'the owner to stop',
    );
    const later = laterBy(new Date().toISOString(), 60 * MINUTE_MS);
    const result = await claim(thisDriver(later, 'mine'), () => thisPlace(later));
    expect(result).toMatchObject({ kind: 'taken', by: { pid: owner.pid } });
    expect(liveClaim(stateDir, 'T1', thisPlace(later))?.pid).toBe(owner.pid);
  });

  test('a pid that another process has now is nobody', async () => {
    const { put, claim, folder } = await stage();
    const now = new Date().toISOString();
    const mine = thisDriver(now, 'mine');
    const driver = { ...mine, pid_started_at: `${Number(mine.pid_started_at) - 1}` };
    await put('old.json', { phase: 'owner', ticket: now, driver });
    mustHold(await claim(mine, () => thisPlace(now)));
    expect(readdirSync(folder)).not.toContain('old.json');
  });

  test('a second loop in the same process is refused', async () => {
    const { claim } = await stage();
    const here = () => thisPlace(new Date().toISOString());
    const first = mustHold(await claim(thisDriver(here().at, 'one'), here));
    const second = await claim(thisDriver(here().at, 'two'), here);
    expect(second).toMatchObject({ kind: 'taken', by: { run_id: 'one' } });
    first.release();
    mustHold(await claim(thisDriver(here().at, 'two'), here));
  });
});

describe('on different hosts', () => {
  test('a claim lives by its beat', async () => {
    const { claimOn, liveFrom, stateDir } = await stage();
    let at = AT;
    const here = () => seenFrom('red', at);
    const red = mustHold(await claimTask(stateDir, 'T1', driverOn('red'), here));
    at = laterBy(AT, MINUTE_MS);
    red.renew();
    const soon = laterBy(AT, 2.5 * MINUTE_MS);
    expect(await claimOn('blue', soon)).toMatchObject({ kind: 'taken', by: { host: 'red' } });
    expect(liveFrom('blue', soon)).toMatchObject({ host: 'red', beat_at: at });
    expect(liveFrom('blue', laterBy(AT, 3.5 * MINUTE_MS))).toBeNull();
    expect(red.isHeld()).toBe(true);
  });

  test('one whose clock is ahead counts as alive', async () => {
    const { claimOn } = await stage();
    mustHold(await claimOn('red', laterBy(AT, 60 * MINUTE_MS)));
    expect(await claimOn('blue')).toMatchObject({ kind: 'taken', by: { host: 'red' } });
  });

  test('one that was suspended for long has lost it, and does not take it back', async () => {
    const { claim, claimOn, liveFrom, folder, litter } = await stage();
    let most = 0;
    const here = () => {
      if (existsSync(folder)) most = Math.max(most, readdirSync(folder).length);
      return seenFrom('red');
    };
    const red = mustHold(await claim(driverOn('red'), here));
    const later = laterBy(AT, 3 * MINUTE_MS);
    const blue = mustHold(await claimOn('blue', later));
    red.renew();
    // Not for a moment: the other would give way to it.
    expect(most).toBe(1);
    expect([red.isHeld(), blue.isHeld()]).toEqual([false, true]);
    red.release();
    expect(readdirSync(folder)).toHaveLength(1);
    expect(liveFrom('green', later)?.host).toBe('blue');
    blue.release();
    expect([red.isHeld(), blue.isHeld(), litter()]).toEqual([false, false, []]);
  });

  test('one that wakes while it is being taken over gives way', async () => {
    const { claimOn, put, liveFrom } = await stage();
    const red = mustHold(await claimOn('red'));
    await put('blue.json', { phase: 'owner', ticket: AT, driver: driverOn('blue') });
    red.renew();
    expect(red.isHeld()).toBe(false);
    expect(liveFrom('green')?.host).toBe('blue');
  });

  test('who takes over gives way to an owner that beats again just then', async () => {
    const { claim, put, folder } = await stage();
    const red = { phase: 'owner', ticket: AT, driver: driverOn('red') };
    const file = await put('red.json', red);
    const later = laterBy(AT, 3 * MINUTE_MS);
    // At the moment when it looks around as the owner.
    const here = () => {
      const isOwner = readdirSync(folder).some(
        (name) =>
          name !== 'red.json' && readFileSync(join(folder, name), 'utf8').includes('"owner"'),
      );
      return isOwner ? seenFrom('blue', AT) : seenFrom('blue', later);
    };
    expect(await claim(driverOn('blue', later), here)).toMatchObject({
      kind: 'taken',
      by: { host: 'red' },
    });
    expect(readdirSync(folder)).toEqual(['red.json']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(red);
  });
});

describe('of two candidates', () => {
  const EARLIER = { phase: 'candidate', ticket: '2026-01-01', driver: driverOn('red') };
  const LATER = { ...EARLIER, ticket: '2027-01-01' };

  /** Does something when the other claim has been looked at some times. */
  function afterSomeLooks(change: () => void) {
    let count = 0;
    const here = () => {
      count += 1;
      if (count === 5) change();
      return seenFrom('blue');
    };
    return { here, count: () => count };
  }

  test('the later one goes, and at once', async () => {
    const { claim, put, folder } = await stage();
    await put('red.json', EARLIER);
    const looks = afterSomeLooks(() => {});
    const result = await claim(driverOn('blue'), looks.here);
    expect(result).toMatchObject({ kind: 'taken', by: { host: 'red' } });
    expect(looks.count()).toBeLessThan(5);
    expect(readdirSync(folder)).toEqual(['red.json']);
  });

  test('the earlier one waits until the other has gone', async () => {
    const { claim, put } = await stage();
    const file = await put('red.json', LATER);
    const looks = afterSomeLooks(() => rmSync(file));
    mustHold(await claim(driverOn('blue'), looks.here));
    expect(looks.count()).toBeGreaterThan(5);
  });

  test('the earlier one goes, and at once, if the other became the owner', async () => {
    const { claim, put } = await stage();
    const file = await put('red.json', LATER);
    const owner = JSON.stringify({ ...LATER, phase: 'owner' });
    const looks = afterSomeLooks(() => writeFileSync(file, owner));
    const result = await claim(driverOn('blue'), looks.here);
    expect(result).toMatchObject({ kind: 'taken', by: { host: 'red' } });
    expect(looks.count()).toBe(5);
  });
});

describe('a claim that says nothing', () => {
  test.for(['', '{"phase":"own', '[]', '{"phase":"owner"}'])(
    '(%j) is dead when old',
    async (text) => {
      const { claimOn, put, folder, liveFrom } = await stage();
      const file = await put('half.json', text);
      const old = new Date(Date.parse(AT) - 11_000);
      await utimes(file, old, old);
      mustHold(await claimOn('blue'));
      expect(readdirSync(folder)).toHaveLength(1);
      expect(liveFrom('green')?.host).toBe('blue');
    },
  );

  test('a young empty claim may still be in the making, but nobody waits for it for ever', async () => {
    const { claimOn, put, liveFrom, folder } = await stage();
    const file = await put('half.json', '');
    await utimes(file, new Date(AT), new Date(AT));
    expect(liveFrom('green')).toBeNull();
    expect(await claimOn('blue')).toEqual({ kind: 'taken', by: null });
    expect(readdirSync(folder)).toEqual(['half.json']);
  });

  test('a claim without content and without its name blocks nobody and is removed', async () => {
    const { claimOn, put, folder, liveFrom } = await stage();
    await put('half.json.new', '{"phase":"cand');
    expect(liveFrom('green')).toBeNull();
    mustHold(await claimOn('blue'));
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('a time in the future does not let an empty claim hold the task for ever', async () => {
    const { claimOn, put } = await stage();
    const file = await put('half.json', '');
    const wrong = new Date('2099-01-01');
    await utimes(file, wrong, wrong);
    mustHold(await claimOn('blue'));
  });
});

describe('a claim', () => {
  test('a deleted claim is made again and stays held', async () => {
    const { claimOn, stateDir, folder, liveFrom } = await stage();
    const red = mustHold(await claimOn('red'));
    rmSync(join(stateDir, 'locks'), { recursive: true });
    expect(red.isHeld()).toBe(true);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await claimOn('blue')).toMatchObject({ kind: 'taken', by: { host: 'red' } });
    rmSync(join(stateDir, 'locks'), { recursive: true });
    red.renew();
    expect(liveFrom('blue')?.host).toBe('red');
  });

  test('a deleted claim does not go to a process that is only about to claim', async () => {
    const { claimOn, stateDir, put } = await stage();
    const red = mustHold(await claimOn('red'));
    rmSync(join(stateDir, 'locks'), { recursive: true });
    await put('blue.json', { phase: 'candidate', ticket: '2025', driver: driverOn('blue') });
    expect(red.isHeld()).toBe(true);
    expect(await claimOn('green')).toMatchObject({ kind: 'taken', by: { host: 'red' } });
  });

  test('a deleted claim is lost to the process that became the owner meanwhile', async () => {
    const { stateDir, folder, claim } = await stage();
    const owner = { phase: 'owner', ticket: AT, driver: driverOn('blue') };
    let looks = Number.NEGATIVE_INFINITY;
    const here = () => {
      looks += 1;
      // Once it has seen that nobody is there.
      if (looks === 2) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, 'blue.json'), JSON.stringify(owner));
      }
      return seenFrom('red');
    };
    const red = mustHold(await claim(driverOn('red'), here));
    rmSync(join(stateDir, 'locks'), { recursive: true });
    looks = 0;
    expect(red.isHeld()).toBe(false);
    expect(readdirSync(folder)).toEqual(['blue.json']);
  });

  test('a claim is made although a leaving owner removes the folder at that moment', async () => {
    const { claimOn, folder } = await stage();
    const script = `const pause = new Int32Array(new SharedArrayBuffer(4));
      console.log('removing');
      for (;;) {
        for (const one of process.argv.slice(1)) try { fs.rmdirSync(one); } catch {}
        Atomics.wait(pause, 0, 0, 0.02);
      }`;
    const child = startProgram(process.execPath, ['-e', script, folder, dirname(folder)]);
    await untilLine(child.stdout, /removing/);
    for (let round = 1; round <= 300; round += 1) mustHold(await claimOn('red')).release();
  });

  test('a claim leaves nothing behind, whether it is refused or released, not even files of dead owners', async () => {
    const { claimOn, litter, put } = await stage();
    const red = mustHold(await claimOn('red'));
    expect(await claimOn('blue')).toMatchObject({ kind: 'taken' });
    expect(litter()).toHaveLength(3);
    const dead = driverOn('green', laterBy(AT, -3 * MINUTE_MS));
    await put('dead.json', { phase: 'candidate', ticket: AT, driver: dead });
    red.release();
    red.release();
    expect(litter()).toEqual([]);
    red.renew();
    expect([red.isHeld(), litter()]).toEqual([false, []]);
  });

  test('a claim leaves claims on other tasks alone', async () => {
    const { stateDir, claimOn, liveFrom } = await stage();
    const here = () => seenFrom('red');
    const other = mustHold(await claimTask(stateDir, 'T2', driverOn('red'), here));
    mustHold(await claimOn('blue')).release();
    expect([other.isHeld(), liveFrom('green')]).toEqual([true, null]);
    expect(readdirSync(join(stateDir, 'locks'))).toEqual(['T2']);
  });

  test('only its owner may read a claim', async () => {
    const { claimOn, stateDir, litter } = await stage();
    mustHold(await claimOn('red'));
    const modes = litter().map((name) => statSync(join(stateDir, `${name}`)).mode & 0o777);
    expect(modes.sort()).toEqual([0o600, 0o700, 0o700]);
  });
});

describe('where no claim can be written', () => {
  test.for(['locks', 'locks/T1'])('since %s is a link, it is not followed', async (place) => {
    const { stateDir, claimOn, liveFrom } = await stage();
    const elsewhere = await tempFolder();
    await mkdir(dirname(join(stateDir, place)), { recursive: true });
    await symlink(elsewhere, join(stateDir, place));
    const result = await claimOn('red');
    expect(result).toMatchObject({ kind: 'unwritable', error: { code: 'ELOOP' } });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(liveFrom('blue')).toBeNull();
  });

  test.for([
    ['a file', '/etc/hostname', /ENOTDIR|EEXIST/],
    ['nowhere', '/proc/nowhere', /ENOENT/],
  ] as const)('since the state folder is %s, that is told', async ([, stateDir, code]) => {
    const result = await claimTask(stateDir, 'T1', driverOn('red'), () => seenFrom('red'));
    expect(result).toMatchObject({
      kind: 'unwritable',
      error: { code: expect.stringMatching(code) },
    });
    expect(liveClaim(stateDir, 'T1', seenFrom('red'))).toBeNull();
  });

  /** Permissions do not hold root back: somebody else has to try. */
  const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

  test('a live owner that can be read still has the task', async () => {
    const { stateDir, folder, put } = await stage();
    const driver = thisDriver(new Date().toISOString(), 'mine');
    await put('mine.json', { phase: 'owner', ticket: AT, driver });
    for (const place of [stateDir, dirname(folder), folder]) await chmod(place, 0o555);
    await chmod(join(folder, 'mine.json'), 0o444);
    const claimer = await startClaimer(stateDir, [], NOBODY);
    expect(await claimer.tell('claim')).toBe('taken');
    for (const place of [stateDir, dirname(folder), folder]) await chmod(place, 0o755);
    rmSync(join(folder, 'mine.json'));
    await chmod(folder, 0o555);
    expect(await claimer.tell('claim')).toBe('unwritable');
  });
});

const IN_A_NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const [unshare = '', ...unshareArgs] = [...IN_A_NAMESPACE, 'true'];
const canUnshare = spawnSync(unshare, unshareArgs).status === 0;

describe.skipIf(!canUnshare)('in two pid namespaces of one host name (needs unshare)', () => {
  test('one of many gets the task, wherever it runs', async () => {
    const { start, litter } = await stage();
    const inside = await many(4, () => start(IN_A_NAMESPACE));
    const outside = await many(4, () => start());
    for (let round = 1; round <= 4; round += 1) {
      const holder = await race(
        round % 2 === 0 ? [...inside, ...outside] : [...outside, ...inside],
      );
      await holder.tell('release');
      expect(litter()).toEqual([]);
    }
  });

  test('the one inside is judged by its beat from outside', async () => {
    const { start, claim, stateDir } = await stage();
    const inside = await start(IN_A_NAMESPACE);
    expect(await inside.tell('claim')).toBe('held');
    const now = new Date().toISOString();
    // There is a pid 1 outside, too; and the beat is all that tells of the one inside.
    expect(liveClaim(stateDir, 'T1', thisPlace(now))).toMatchObject({ pid: 1 });
    const mine = thisDriver(now, 'mine');
    expect(await claim(mine, () => thisPlace(now))).toMatchObject({
      kind: 'taken',
      by: { pid: 1 },
    });
    const later = laterBy(now, 3 * MINUTE_MS);
    mustHold(await claim(mine, () => thisPlace(later)));
  });
});
