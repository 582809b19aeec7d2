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
import { readHit, type TracedCall } from '../test/helpers/traced-calls.ts';

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
/** How far from its place a call is looked for that was not hit there. */
const OFFSETS = [0, 1, -1, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8];

/** Where a driver is killed. */
interface Point extends TracedCall {
  readonly scene: number;
  /** Its number in the play, from 0. */
  readonly driver: number;
}

interface Plan {
  /** What each scene comes to undisturbed, by its number. */
  readonly expected: Readonly<Record<number, Play>>;
  readonly points: readonly Point[];
}

interface Result {
  /** Its place in the plan, from 1; 0 for a further try. */
  readonly number: number;
  readonly point: Point;
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
      process.stdout.write(`FAILED ${result.number}: ${problem}\n  ${commandOf(result.point)}\n`);
    }
  };

  const numbers = range(from, plan.points.length + 1);
  const startedMs = performance.now();
  const under = new Set<number>();
  let done = 0;
  await eachOf(numbers, jobs, async (number) => {
    under.add(number);
    take(await killed(plan, number, plan.points[number - 1]));
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
  await eachOf(missed(plan, results), jobs, async ([key, point]) => {
    for (const offset of OFFSETS) {
      if (point.at + offset < 1) continue;
      const result = await killed(plan, 0, { ...point, at: point.at + offset });
      take(result);
      if (result.hit !== null && keyOf(point, result.hit) === key) return;
    }
  });
}

/** The different calls of the plan that no driver was killed at, with the first point of each. */
function missed({ points }: Plan, results: readonly Result[]): readonly [string, Point][] {
  const wanted = new Map([...points].reverse().map((point) => [keyOf(point, point), point]));
  for (const { point, hit } of results) if (hit !== null) wanted.delete(keyOf(point, hit));
  return [...wanted];
}

/** Plays each scene undisturbed, and once more to learn the calls of its drivers. */
async function newPlan(jobs: number): Promise<Plan> {
  const byHand = values.point?.map(pointNamed);
  const wanted = byHand === undefined ? scenes : [...new Set(byHand.map(({ scene }) => scene))];
  const expected: Record<number, Play> = {};
  const traced = new Map<number, readonly Point[]>();
  await eachOf(wanted, jobs, async (scene) => {
    const play = await playFaults(
      join(scratch, `undisturbed-${scene}`),
      scenario(scene),
      () => null,
    );
    if (play.problems.length > 0) throw new Error(play.problems.join('\n'));
    expected[scene] = play;
    if (isByHand) return;
    const calls = await tracedCalls(join(scratch, `traced-${scene}`), scenario(scene));
    const points = calls.map((call) => ({ scene, ...call }));
    traced.set(scene, points);
  });
  return { expected, points: byHand ?? drawn(wanted.flatMap((scene) => traced.get(scene) ?? [])) };
}

/** As many as are wanted, in their order. */
function drawn(all: readonly Point[]): readonly Point[] {
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

async function killed(plan: Plan, number: number, point: Point | undefined): Promise<Result> {
  const expected = plan.expected[point?.scene ?? 0];
  if (point === undefined || expected === undefined)
    throw new Error(`no point ${number} in the plan`);
  const room = mkdtempSync(join(scratch, 'room-'));
  const log = join(room, 'calls');
  const death: Death = { kind: 'call', before: point, log };
  const problems = await compareFaults(room, scenario(point.scene), expected, (driver) =>
    driver === point.driver ? death : null,
  );
  const hit = readHit(log, room, point);
  if (isByHand) process.stderr.write(`${room}: ${hit === null ? 'not reached' : onOf(hit)}\n`);
  else rmSync(room, { recursive: true, force: true, maxRetries: 5 });
  return { number, point, hit, problems };
}

function resultsBelow(from: number): Result[] {
  const lines = readFileSync(RESULTS, 'utf8').split('\n').filter(Boolean);
  const known = lines.map((line) => JSON.parse(line) as Result);
  return known.filter(({ number }) => number > 0 && number < from);
}

function summary(plan: Plan, results: readonly Result[]): string {
  const planned = results.filter(({ number }) => number > 0);
  const reached = planned.flatMap(({ point, hit }) => (hit === null ? [] : [{ point, hit }]));
  const asTraced = reached.filter(({ point, hit }) => onOf(hit) === onOf(point)).length;
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const different = new Set(plan.points.map((point) => keyOf(point, point))).size;
  const left = isByHand ? [] : missed(plan, results);
  return [
    ...left.map(([key]) => `never killed at: ${key}`),
    `${planned.length} of ${plan.points.length} points: ${asTraced} killed at the call of the trace, ` +
      `${reached.length - asTraced} at another, ${planned.length - reached.length} not reached; ` +
      `${results.length - planned.length} further tries; ` +
      `${different - left.length} of ${different} different calls hit; ${failed} failed`,
  ].join('\n');
}

function onOf({ thread, call, on }: TracedCall): string {
  return `${thread} ${call} ${on}`;
}

function keyOf({ scene, driver }: Point, call: TracedCall): string {
  return `scene ${scene}, driver ${driver}: ${onOf(call)}`;
}

function commandOf({ scene, driver, thread, call, at }: Point): string {
  return `npm run campaign:kills -- --point ${[scene, driver, thread, call, at].join(':')}`;
}

function scenario(scene: number): FaultScenario {
  return faultScenario(NAMES[scene - 1] ?? '');
}

function pointNamed(name: string): Point {
  const [scene, driver, thread, call = '', at] = name.split(':');
  const isPool = thread === 'pool';
  return {
    ...{ scene: Number(scene), driver: Number(driver), thread: isPool ? 'pool' : 'main' },
    ...{ call, at: Number(at), on: '' },
  };
}
