import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eachOf, seeded } from '../helpers/fault-scene.ts';
import { fixture } from '../helpers/processes.ts';
import { jsonLines, makeScene, type Scene } from '../helpers/scene.ts';

// Each call about a file of the state folder fails, once or from then on: the task ends as it would have, what
// the history says is true, and the journal goes on.

const SEED = Number(process.env.RALPH_FAULT_SEED ?? Date.now() % 1_000_000);
/** How many errors are tried; all of them with `all`. */
const ERRORS = process.env.RALPH_FAULT_ERRORS ?? '24';
const AT_ONCE = 4;
const LONG_MS = 1_800_000;

const TURNS = [
  { text: 'Not yet.', costUsd: 1 },
  { text: `Nearly. ${'x'.repeat(30_000)}`, costUsd: 1 },
  { text: `Done. ${'y'.repeat(30_000)}\n\nTASK_COMPLETE`, costUsd: 1 },
];

interface Failure {
  readonly at: number;
  readonly code: string;
  readonly isOnward: boolean;
}

function failing(scene: Scene, failure: Failure | null, points = ''): Record<string, string> {
  return {
    NODE_OPTIONS: `--require ${fixture('fails-at.cjs')}`,
    FAIL_BELOW: join(scene.folder, '.ralph_state'),
    FAIL_POINTS: points,
    ...(failure === null
      ? {}
      : {
          FAIL_AT: String(failure.at),
          FAIL_CODE: failure.code,
          ...(failure.isOnward ? { FAIL_ON: '1' } : {}),
        }),
  };
}

/** The calls about files that a run makes which nothing disturbs. */
async function pointsOfRun(): Promise<readonly string[]> {
  const scene = await makeScene(TURNS);
  const points = join(scene.home, 'points');
  expect(await scene.run([], { env: failing(scene, null, points) })).toMatchObject({ exitCode: 0 });
  return readFileSync(points, 'utf8').trimEnd().split('\n');
}

/** What a failing call has spoilt, one line each. */
async function spoiltBy(failure: Failure, point: string): Promise<readonly string[]> {
  const scene = await makeScene(TURNS);
  const end = await scene.run([], { env: failing(scene, failure) });
  const problems: string[] = [];
  if (end.exitCode !== 0) problems.push(`exit code ${end.exitCode}: ${end.stderr}`);
  if (scene.fake.calls().length !== 3) problems.push(`${scene.fake.calls().length} calls`);
  if (/bug in ralph|TypeError|Warning/.test(end.stderr)) problems.push(end.stderr);
  if (!failure.isOnward) problems.push(...untrueState(scene), ...gapsInJournal(scene));
  return problems.map((each) => `${failure.code} at ${failure.at} (${point}): ${each}`);
}

function untrueState(scene: Scene): readonly string[] {
  const places = ['history/t.json', 't.json'].map((each) => `.ralph_state/${each}`);
  if (places.every((each) => scene.has(each))) return ['the task is in two places'];
  const place = places.find((each) => scene.has(each));
  // Where even its folder could not be made there is none, and that was said.
  if (place === undefined) return [];
  const { status, iterations, usage } = JSON.parse(scene.read(place));
  const is = { status, numbers: iterations.map(({ number }: { number: number }) => number), usage };
  const ought = { status: 'completed', numbers: [1, 2, 3], cost: 3 };
  return is.status === ought.status && is.numbers.join() === '1,2,3' && is.usage.cost_usd === 3
    ? []
    : [`the state is untrue: ${JSON.stringify(is)}`];
}

function gapsInJournal(scene: Scene): readonly string[] {
  const file = join(scene.folder, '.ralph_state/events.jsonl');
  if (!existsSync(file)) return ['there is no journal'];
  const events = jsonLines(readFileSync(file, 'utf8')).map(({ event }) => event);
  return events.at(-1) === 'task_completed' ? [] : [`the journal ends with ${events.at(-1)}`];
}

test(
  `errors at ${ERRORS} file calls, seed ${SEED}`,
  async () => {
    const points = await pointsOfRun();
    expect(points.length).toBeGreaterThan(40);
    const random = seeded(SEED);
    const all = points.flatMap((point, index) =>
      ['ENOSPC', 'EIO', 'EMFILE'].flatMap((code) =>
        [false, true].map((isOnward) => ({ point, failure: { at: index + 1, code, isOnward } })),
      ),
    );
    const chosen =
      ERRORS === 'all'
        ? all
        : all
            .map((each) => ({ each, rank: random() }))
            .sort((one, other) => one.rank - other.rank)
            .slice(0, Number(ERRORS))
            .map(({ each }) => each);
    const found: string[] = [];
    await eachOf(chosen, AT_ONCE, async ({ point, failure }) => {
      found.push(...(await spoiltBy(failure, point)));
    });
    expect(found).toEqual([]);
  },
  LONG_MS,
);
