// Kills a driver before each of its system calls that writes, renames, syncs, opens or spawns, in each scene
// of the fault suite, resumes the task to its end, and compares: npm run campaign:kills. Takes about an hour.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  FAULT_SCENARIOS,
  type FaultScenario,
  faultScenario,
} from '../test/helpers/fault-scenarios.ts';
import {
  compareFaults,
  type Death,
  eachOf,
  type Play,
  playFaults,
  range,
  seeded,
  tracedCalls,
} from '../test/helpers/fault-scene.ts';
import {
  type CallName,
  isByChance,
  nameOf,
  readHit,
  type TracedCall,
} from '../test/helpers/traced-calls.ts';

const FOLDER = fileURLToPath(new URL('../kill-campaign', import.meta.url));
const [PLAN, RESULTS] = [join(FOLDER, 'plan.json'), join(FOLDER, 'results.jsonl')];
const NAMES = Object.keys(FAULT_SCENARIOS);
const HELP = `npm run campaign:kills -- [--scene N]… [--jobs N] [--from K] [--sample N [--seed S]] [--point POINT]

  --scene N      only this one; may be given again:
${NAMES.map((name, index) => `                   ${index + 1}  ${name}`).join('\n')}
  --jobs N       so many at once; 2 if not given
  --from K       goes on with the plan of the last campaign, at its point K
  --sample N     so many of the points, drawn by --seed
  --point POINT  only this one, as a failure names it, and keeps its folder; may be given again
`;
const TOLD_EVERY = 50;
/** So often a call is looked for that was not hit at its place in the trace. */
const TRIES = 8;

/** Where a driver is killed. */
interface Point {
  readonly scene: number;
  /** Its number in the play, from 0. */
  readonly driver: number;
  readonly before: CallName;
}

/** With the call that it was in the trace; null for one that is given by hand. */
interface Planned extends Point {
  readonly call: TracedCall | null;
}

interface Plan {
  /** What each scene comes to undisturbed, by its number. */
  readonly expected: Readonly<Record<number, Play>>;
  readonly points: readonly Planned[];
}

interface Result extends Point {
  /** Its place in the plan, from 1; 0 for a further try. */
  readonly number: number;
  /** The call before which the driver died; null where it was not reached. */
  readonly hit: TracedCall | null;
  readonly problems: readonly string[];
}

const { values } = parseArgs({
  options: {
    scene: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '2' },
    from: { type: 'string', default: '1' },
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    point: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const scenes = (values.scene ?? NAMES.map((_, index) => String(index + 1))).map(Number);
const [jobs, from, seed] = [Number(values.jobs), Number(values.from), Number(values.seed)];
const isKnown = [...scenes, ...(values.point ?? []).map((each) => Number.parseInt(each, 10))].every(
  (scene) => NAMES[scene - 1] !== undefined,
);
if (values.help || !isKnown || !(jobs >= 1 && from >= 1 && seed >= 0)) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
if (spawnSync('strace', ['-V']).status !== 0) {
  process.stderr.write('Kills at system calls come from strace, which is not there: install it.\n');
  process.exit(2);
}

const isByHand = values.point !== undefined;
const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-kills-'));
process.exitCode = await campaign(jobs, from).finally(() => {
  if (!isByHand) rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

async function campaign(jobs: number, from: number): Promise<number> {
  const plan = from > 1 ? (JSON.parse(readFileSync(PLAN, 'utf8')) as Plan) : await newPlan(jobs);
  const results = from > 1 ? resultsBelow(from) : [];
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(PLAN, JSON.stringify(plan));
  writeFileSync(RESULTS, results.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const take = (result: Result): void => {
    results.push(result);
    appendFileSync(RESULTS, `${JSON.stringify(result)}\n`);
    for (const problem of result.problems) {
      process.stdout.write(`FAILED ${result.number}: ${problem}\n  ${commandOf(result)}\n`);
    }
  };

  const numbers = range(from, plan.points.length + 1);
  const startedMs = performance.now();
  const under = new Set<number>();
  let done = 0;
  await eachOf(numbers, jobs, async (number) => {
    under.add(number);
    const point = plan.points[number - 1];
    if (point !== undefined) take(await killed(plan, number, point));
    under.delete(number);
    done += 1;
    if (done % TOLD_EVERY !== 0) return;
    const msEach = (performance.now() - startedMs) / done;
    const minutes = Math.ceil(((numbers.length - done) * msEach) / 60_000);
    const next = Math.min(number + 1, ...under);
    process.stderr.write(
      `${done} of ${numbers.length}, ${minutes} min left; after a stop: --from ${next}\n`,
    );
  });
  if (!isByHand) await tryMissed(plan, results, jobs, take);
  process.stdout.write(`${summary(plan, results)}\n`);
  return results.some(({ problems }) => problems.length > 0) ? 1 : 0;
}

/** No two runs make quite the same calls: what has not been hit is looked for around its place. */
async function tryMissed(
  plan: Plan,
  results: readonly Result[],
  jobs: number,
  take: (result: Result) => void,
): Promise<void> {
  await eachOf(missed(plan, results), jobs, async ([key, { scene, driver, before, call }]) => {
    let { at } = before;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const result = await killed(plan, 0, { scene, driver, before: { ...before, at } });
      take(result);
      if (keyOf(result, result.hit) === key) return;
      at += (call?.sure ?? 0) - (result.hit?.sure ?? 0) || -1;
      if (result.hit === null || at < 1) ({ at } = before);
    }
  });
}

/** The points at whose call no driver was killed, by that call. */
function missed({ points }: Plan, results: readonly Result[]): readonly [string, Planned][] {
  const hits = new Set(results.map((result) => keyOf(result, result.hit)));
  return sure(points)
    .map((point): [string, Planned] => [keyOf(point, point.call), point])
    .filter(([key]) => !hits.has(key));
}

function sure(points: readonly Planned[]): readonly Planned[] {
  return points.filter(({ call }) => call !== null && !isByChance(call.on));
}

/** Plays each scene undisturbed, and once more to learn the calls of its drivers. */
async function newPlan(jobs: number): Promise<Plan> {
  const byHand = values.point?.map(pointNamed);
  const wanted = byHand === undefined ? scenes : [...new Set(byHand.map(({ scene }) => scene))];
  const expected: Record<number, Play> = {};
  const traced = new Map<number, readonly Planned[]>();
  await eachOf(wanted, jobs, async (scene) => {
    const play = await playFaults(
      join(scratch, `undisturbed-${scene}`),
      scenario(scene),
      () => null,
    );
    if (play.problems.length > 0) {
      throw new Error(`Scene ${scene} fails undisturbed:\n${play.problems.join('\n')}`);
    }
    expected[scene] = play;
    if (isByHand) return;
    const calls = await tracedCalls(join(scratch, `traced-${scene}`), scenario(scene));
    const points = calls.map(({ driver, ...call }) => {
      return { scene, driver, before: nameOf(call), call };
    });
    traced.set(scene, points);
  });
  const points = byHand?.map((point) => ({ ...point, call: null }));
  return { expected, points: points ?? drawn(wanted.flatMap((scene) => traced.get(scene) ?? [])) };
}

/** As many as are wanted, in their order. */
function drawn(all: readonly Planned[]): readonly Planned[] {
  if (values.sample === undefined) return all;
  process.stderr.write(`${all.length} points; --sample ${values.sample} --seed ${seed}\n`);
  const random = seeded(seed);
  const ranked = all.map((point, index) => ({ point, index, rank: random() }));
  return ranked
    .sort((one, other) => one.rank - other.rank)
    .slice(0, Number(values.sample))
    .sort((one, other) => one.index - other.index)
    .map(({ point }) => point);
}

async function killed(plan: Plan, number: number, point: Point): Promise<Result> {
  const { scene, driver, before } = point;
  const expected = plan.expected[scene];
  if (expected === undefined) throw new Error(`The plan lacks scene ${scene}.`);
  const room = mkdtempSync(join(scratch, 'room-'));
  const log = join(room, 'calls');
  const death: Death = { kind: 'call', before, log };
  const problems = await compareFaults(room, scenario(scene), expected, (each) =>
    each === driver ? death : null,
  );
  const hit = readHit(log, room, before);
  if (isByHand) process.stderr.write(`${room}: ${keyOf(point, hit)}\n`);
  else rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  return { scene, driver, before, number, hit, problems };
}

function resultsBelow(from: number): Result[] {
  const lines = readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean);
  const known = lines.map((line) => JSON.parse(line) as Result);
  return known.filter(({ number }) => number > 0 && number < from);
}

function summary(plan: Plan, results: readonly Result[]): string {
  const planned = results.filter(({ number }) => number > 0);
  const reached = planned.filter(({ hit }) => hit !== null);
  const asTraced = reached.filter(({ number, hit, ...point }) => {
    return keyOf(point, hit) === keyOf(point, plan.points[number - 1]?.call ?? null);
  });
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const known = sure(plan.points).length;
  const left = missed(plan, results);
  return [
    ...left.map(([key]) => `never killed at: ${key}`),
    `${planned.length} of ${plan.points.length} points: ${asTraced.length} killed at the call of the trace, ` +
      `${reached.length - asTraced.length} at another, ${planned.length - reached.length} not reached; ` +
      `${results.length - planned.length} further tries; ` +
      `${known - left.length} of ${known} calls outside /proc hit; ${failed} failed`,
  ].join('\n');
}

function keyOf({ scene, driver }: Point, call: TracedCall | null): string {
  const what = call && `${call.thread} ${call.call} ${call.on} (${call.nth})`;
  return `scene ${scene}, driver ${driver}: ${what ?? 'not reached'}`;
}

/** The shell words that repeat it. */
function commandOf({ scene, driver, before: { thread, call, at, path } }: Point): string {
  const point = [scene, driver, thread, call, at, ...(path === undefined ? [] : [path])];
  return `npm run campaign:kills -- --point '${point.join(':')}'`;
}

function scenario(scene: number): FaultScenario {
  return faultScenario(NAMES[scene - 1] ?? '');
}

function pointNamed(name: string): Point {
  const [scene, driver, thread, call = '', at, ...path] = name.split(':');
  const before = { thread: thread === 'pool' ? 'pool' : 'main', call, at: Number(at) } as const;
  return {
    scene: Number(scene),
    driver: Number(driver),
    before: path.length === 0 ? before : { ...before, path: path.join(':') },
  };
}
