import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  countCalls,
  type Death,
  eachOf,
  type FaultEnd,
  type FaultScenario,
  playFaults,
  pointsOf,
  seeded,
} from '../helpers/fault-scene.ts';
import { answers, overloaded } from '../helpers/replayed-claude.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// The driver is killed with SIGKILL, at each of its changes to the file system and at random moments, and
// resumed until the task ends: it must come to the very end it comes to undisturbed.

const KILLS = Number(process.env.RALPH_FAULT_KILLS ?? 20);
const SEED = Number(process.env.RALPH_FAULT_SEED ?? Date.now() % 1_000_000);
const IS_THOROUGH = KILLS >= 100;
const LONG_MS = 900_000;
/** Most of a driver's time is waiting for others. */
const AT_ONCE = 6;

const HINT = 'tell-20260101000000000-0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a.md';
/** What `ralph tell` leaves, at most once in however many tries. */
const TELL = `[ -e told ] || { mkdir -p .ralph_state/t/requests; echo 'Mind the tests.' > hint; mv hint .ralph_state/t/requests/${HINT}; : > told; }`;

const PAUSE = 'sleep 0.02';
const COMMON = ['--prompt', 'Fix it', '--no-progress-limit', '0', '--delay', '0'];

const SCENARIOS: Readonly<Record<string, FaultScenario>> = {
  'near misses, a fault, a hint, a gate, --after': {
    turns: [
      answers("I will say TASK_COMPLETE when it's done.", TELL),
      [overloaded(), answers('Half of it is done.', `${PAUSE}; complain 'a warning'`)],
      answers('All done.\n\nTASK_COMPLETE', PAUSE),
      answers('Now it is done.\n\nTASK_COMPLETE', 'echo x > proof'),
    ],
    args: [
      ...COMMON,
      ...[
        '--verify',
        'cat proof',
        '--after',
        'read -r event; echo "$RALPH_ITERATION" >> after.log',
      ],
    ],
  },
  'a watched file, with a delay': {
    turns: [answers('Nothing yet.', PAUSE), answers('Written.', `echo x > out.txt; ${PAUSE}`)],
    args: [...COMMON, '--delay', '300ms', '--watch-glob', '*.txt'],
  },
  'a task file, and a person who is asked': {
    files: { 'Needs_Action/letter.md': 'Write the letter.\n' },
    turns: [
      answers('May I?\n\n<approval id="send">send the letter</approval>', PAUSE),
      answers('Sent.\n\nTASK_COMPLETE', PAUSE),
    ],
    args: [...COMMON.slice(2), '--task-file', 'Needs_Action/letter.md', '--no-wait'],
  },
  'the line for cron': {
    turns: [answers('Not yet.', PAUSE), answers('Done.\n\nTASK_COMPLETE', PAUSE)],
    args: [...COMMON, '--on-end', 'cat > end.json'],
    isCron: true,
  },
  'iterations that run out': {
    turns: [answers('Not yet.', PAUSE), answers('Still not.')],
    args: [...COMMON, '-n', '2'],
  },
};

const NAMES = Object.keys(SCENARIOS);

function scenario(name: string): FaultScenario {
  const found = SCENARIOS[name];
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
}

/** What an undisturbed run of each comes to, and where it can be killed. */
async function undisturbed(root: string, name: string) {
  const folder = join(root, 'undisturbed');
  const { end, durationMs, problems } = await playFaults(folder, scenario(name), () => null);
  expect(problems).toEqual([]);
  return { end, durationMs, points: pointsOf(folder) };
}

/** How a driver is killed at a change. Of one that is no save point only where there is time for it. */
function casesOf(point: string, isWhole: boolean): readonly string[] {
  const isSave = /^rename .*\/t(\.json\S+tmp|\.json|)$/.test(point);
  if (isSave) return isWhole ? ['before', 'after'] : ['after'];
  if (!IS_THOROUGH) return [];
  return point.startsWith('write ') ? ['before', 'torn'] : ['before'];
}

let rooms = 0;

/** What is otherwise than undisturbed, a line each. */
async function compare(
  root: string,
  name: string,
  expected: FaultEnd,
  deaths: (driver: number) => Death,
  what: string,
): Promise<readonly string[]> {
  rooms += 1;
  const room = join(root, `room-${rooms}`);
  try {
    const { end, problems } = await playFaults(room, scenario(name), deaths);
    const found = [...differences(end, expected), ...problems];
    return found.map((each) => `${what}: ${each}`);
  } catch (error) {
    return [`${what}: ${error}`];
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}

function differences(end: FaultEnd, expected: FaultEnd): readonly string[] {
  const others = new Map(Object.entries(expected));
  return Object.entries(end).flatMap(([key, value]) => {
    const [one, other] = [value, others.get(key)].map((each) => JSON.stringify(each, null, 1));
    if (one === other) return [];
    const [lines, otherLines] = [one, other].map((each) => (each ?? '').split('\n'));
    const added = lines?.filter((line) => !otherLines?.includes(line)) ?? [];
    const missing = otherLines?.filter((line) => !lines?.includes(line)) ?? [];
    return [`${key}: has ${added.join('|')} in place of ${missing.join('|')}`];
  });
}

test.each(NAMES)(
  'killed at each save point: %s',
  async (name) => {
    const root = await tempFolder();
    const { end, points } = await undisturbed(root, name);
    const cases = points.flatMap((point, index) =>
      casesOf(point, IS_THOROUGH || name === NAMES[0]).map((each) => `${index + 1} ${each}`),
    );
    const found: string[] = [];
    await eachOf(cases, AT_ONCE, async (point) => {
      const deaths = (driver: number): Death => (driver === 0 ? { kind: 'at', point } : null);
      const what = `${point} ${points[Number.parseInt(point, 10) - 1]}`;
      found.push(...(await compare(root, name, end, deaths, what)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);

test(
  'each driver killed some changes later than the one before',
  async () => {
    const root = await tempFolder();
    const found: string[] = [];
    await eachOf(NAMES, AT_ONCE, async (name) => {
      const { end } = await undisturbed(join(root, name), name);
      const step = IS_THOROUGH ? 1 : 7;
      const deaths = (driver: number): Death => ({
        kind: 'at',
        point: `${1 + driver * step} before`,
      });
      found.push(...(await compare(root, name, end, deaths, name)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);

const HAS_STRACE = spawnSync('strace', ['-V']).status === 0;
/** The calls that change what others see. */
const CALLS = ['openat', 'write', 'rename', 'unlink', 'rmdir', 'mkdir', 'link', 'clone3', 'vfork'];

// From outside, so that nothing that ralph does is left out for want of a place to patch.
test.runIf(HAS_STRACE)(
  `killed at system calls, ${KILLS} of them, seed ${SEED}`,
  async () => {
    const root = await tempFolder();
    const random = seeded(SEED);
    const points: { name: string; call: string; at: number }[] = [];
    const ends = new Map<string, FaultEnd>();
    for (const [index, name] of NAMES.entries()) {
      ends.set(name, (await undisturbed(join(root, `u${index}`), name)).end);
      const counts = await countCalls(join(root, `c${index}`), scenario(name), CALLS);
      for (const [call, count] of counts) {
        for (let at = 1; at <= count; at += 1) points.push({ name, call, at });
      }
    }
    expect(points.length).toBeGreaterThan(500);
    const chosen = points
      .map((point) => ({ point, rank: random() }))
      .sort((one, other) => one.rank - other.rank)
      .slice(0, KILLS)
      .map(({ point }) => point);
    const found: string[] = [];
    await eachOf(chosen, AT_ONCE, async ({ name, call, at }) => {
      const expected = ends.get(name);
      if (expected === undefined) throw new Error(`no scenario ${name}`);
      const deaths = (driver: number): Death => (driver === 0 ? { kind: 'call', call, at } : null);
      found.push(...(await compare(root, name, expected, deaths, `${name}: ${call} ${at}`)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);

test(
  `killed ${KILLS} times at random, seed ${SEED}`,
  async () => {
    console.log(`RALPH_FAULT_SEED=${SEED} RALPH_FAULT_KILLS=${KILLS}`);
    const root = await tempFolder();
    const random = seeded(SEED);
    const plans = Array.from({ length: KILLS }, (_, index) => ({
      name: NAMES[index % NAMES.length] ?? '',
      fractions: [random(), random() < 0.4 ? random() : null],
      withGuard: random() < 0.3,
    }));
    const known = new Map<string, Awaited<ReturnType<typeof undisturbed>>>();
    for (const name of NAMES) known.set(name, await undisturbed(join(root, `${known.size}`), name));
    const found: string[] = [];
    await eachOf(plans, AT_ONCE, async ({ name, fractions, withGuard }) => {
      const undisturbedEnd = known.get(name);
      if (undisturbedEnd === undefined) throw new Error(`no scenario ${name}`);
      const { end, durationMs } = undisturbedEnd;
      const deaths = (driver: number): Death => {
        const fraction = fractions[driver] ?? null;
        return fraction === null
          ? null
          : { kind: 'after', ms: fraction * durationMs * 1.1, withGuard };
      };
      const what = fractions.map((each) => each && Math.round(each * durationMs * 1.1));
      const how = `after ${what.join(', ')} ms${withGuard ? ' with its guard' : ''}`;
      found.push(...(await compare(root, name, end, deaths, `${name}: ${how}`)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);
