import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { FAULT_SCENARIOS, faultScenario } from '../helpers/fault-scenarios.ts';
import {
  compareFaults,
  type Death,
  eachOf,
  type Play,
  playFaults,
  pointsOf,
  range,
  seeded,
  tracedCalls,
} from '../helpers/fault-scene.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { type CallName, nameOf } from '../helpers/traced-calls.ts';

// The driver is killed with SIGKILL, at each of its changes to the file system and at random moments, and
// resumed until the task ends: it must come to the very end it comes to undisturbed.

const KILLS = Number(process.env.RALPH_FAULT_KILLS ?? 20);
const SEED = Number(process.env.RALPH_FAULT_SEED ?? Date.now() % 1_000_000);
const IS_THOROUGH = KILLS >= 100;
const LONG_MS = 1_800_000;
/** Most of a driver's time is waiting for others. */
const AT_ONCE = 6;

const NAMES = Object.keys(FAULT_SCENARIOS);

interface Undisturbed {
  readonly folder: string;
  readonly play: Play;
}

const plays = mkdtempSync(join(tmpdir(), 'ralph-test-'));
afterAll(() => rmSync(plays, { recursive: true, force: true, maxRetries: 5 }));
const undisturbedPlays = new Map<string, Promise<Undisturbed>>();

/** A play that nothing disturbs, the same one for all tests. */
function undisturbed(name: string): Promise<Undisturbed> {
  const known = undisturbedPlays.get(name);
  if (known !== undefined) return known;
  const folder = join(plays, String(undisturbedPlays.size));
  const played = playFaults(folder, faultScenario(name), () => null).then((play) => {
    expect(play.problems).toEqual([]);
    return { folder, play };
  });
  undisturbedPlays.set(name, played);
  return played;
}

/** How a driver is killed at a change. Of one that is no save point only where there is time for it. */
function casesOf(change: string): readonly string[] {
  const isSave = /^rename .*\/t(\.json\S+tmp|\.json|)$/.test(change);
  if (!IS_THOROUGH) return isSave ? ['after'] : [];
  if (isSave) return ['before', 'after'];
  return change.startsWith('write ') ? ['before', 'torn'] : ['before'];
}

let rooms = 0;

/** What is otherwise than undisturbed, a line each. */
async function compare(
  root: string,
  name: string,
  expected: Play,
  deaths: (driver: number) => Death,
  what: string,
): Promise<readonly string[]> {
  rooms += 1;
  const room = join(root, `room-${rooms}`);
  const found = await compareFaults(room, faultScenario(name), expected, deaths);
  rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  return found.map((each) => `${what}: ${each}`);
}

/** Kills that one driver and lets the others live. */
function only(driver: number, death: Death): (driver: number) => Death {
  return (each) => (each === driver ? death : null);
}

test.for(NAMES)('killed at each save point: %s', { timeout: LONG_MS }, async (name) => {
  const root = await tempFolder();
  const { folder, play } = await undisturbed(name);
  const drivers = range(faultScenario(name).firstVictim ?? 0, play.drivers);
  const cases = drivers.flatMap((driver) =>
    pointsOf(folder, driver).flatMap((change, index) =>
      casesOf(change).map((each) => {
        return { driver, change, point: `${index + 1} ${each}` };
      }),
    ),
  );
  expect(cases.length).toBeGreaterThan(2);
  const found: string[] = [];
  await eachOf(cases, AT_ONCE, async ({ driver, change, point }) => {
    const deaths = only(driver, { kind: 'at', point });
    found.push(...(await compare(root, name, play, deaths, `${driver}: ${point} ${change}`)));
  });
  expect(found).toEqual([]);
});

test(
  'each driver killed some changes later than the one before',
  async () => {
    const root = await tempFolder();
    const found: string[] = [];
    await eachOf(NAMES, AT_ONCE, async (name) => {
      const { play } = await undisturbed(name);
      const step = IS_THOROUGH ? 1 : 7;
      const deaths = (driver: number): Death => ({
        kind: 'at',
        point: `${1 + driver * step} before`,
      });
      found.push(...(await compare(root, name, play, deaths, name)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);

const HAS_STRACE = spawnSync('strace', ['-V']).status === 0;

// From outside, so that nothing that ralph does is left out for want of a place to patch. `npm run
// campaign:kills` has all of these; here is a sample.
test.runIf(HAS_STRACE)(
  `killed at system calls, ${KILLS} of them, seed ${SEED}`,
  async () => {
    const root = await tempFolder();
    const random = seeded(SEED);
    const points: { name: string; driver: number; before: CallName; rank: number }[] = [];
    for (const [index, name] of NAMES.entries()) {
      const calls = await tracedCalls(join(root, `c${index}`), faultScenario(name));
      for (const { driver, ...call } of calls) {
        points.push({ name, driver, before: nameOf(call), rank: random() });
      }
    }
    expect(points.length).toBeGreaterThan(1_000);
    const chosen = points.sort((one, other) => one.rank - other.rank).slice(0, KILLS);
    const found: string[] = [];
    await eachOf([...chosen.entries()], AT_ONCE, async ([index, { name, driver, before }]) => {
      const { play } = await undisturbed(name);
      const deaths = only(driver, { kind: 'call', before, log: join(root, `log-${index}`) });
      const what = `${name}: driver ${driver}, ${JSON.stringify(before)}`;
      found.push(...(await compare(root, name, play, deaths, what)));
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
    // Each once by itself: how long it takes tells when to kill.
    for (const name of NAMES) await undisturbed(name);
    const found: string[] = [];
    await eachOf(plans, AT_ONCE, async ({ name, fractions, withGuard }) => {
      const { play } = await undisturbed(name);
      const { durationMs } = play;
      const deaths = (driver: number): Death => {
        const fraction = fractions[driver] ?? null;
        return fraction === null
          ? null
          : { kind: 'after', ms: fraction * durationMs * 1.1, withGuard };
      };
      const what = fractions.map((each) => each && Math.round(each * durationMs * 1.1));
      const how = `after ${what.join(', ')} ms${withGuard ? ' with its guard' : ''}`;
      found.push(...(await compare(root, name, play, deaths, `${name}: ${how}`)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);
