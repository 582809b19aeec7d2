// Kills ralph and its gits while they take snapshots, undo and redo: at random, at each call of git and at each
// rename, link, removal and fsync. Each time the same command is given again, and nothing may be lost:
// npm run campaign:snapshots. Takes about an hour for all points.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eachOf, seeded } from '../test/helpers/fault-scene.ts';
import {
  comparePlays,
  findKillPoints,
  type KillPoint,
  playSnapshotKills,
  STEPS,
} from '../test/helpers/snapshot-kills.ts';

const FOLDER = fileURLToPath(new URL('../kill-campaign', import.meta.url));
const RESULTS = join(FOLDER, 'snapshots.jsonl');
const HELP = `npm run campaign:snapshots -- [--sample N] [--random N] [--seed S] [--jobs N] [--point JSON]

  --sample N    so many of the points, drawn by --seed; all if not given
  --random N    so many kills at random moments besides; 50 if not given
  --jobs N      so many at once; 2 if not given
  --point JSON  only this one, as a failure names it, and keeps its folder
`;

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    random: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    jobs: { type: 'string', default: '2' },
    point: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (spawnSync('strace', ['-V']).status !== 0) {
  process.stderr.write('Kills at system calls come from strace, which is not there: install it.\n');
  process.exit(2);
}

const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-kills-'));
process.exitCode = await campaign().finally(() => {
  if (values.point === undefined) rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

async function campaign(): Promise<number> {
  const expected = await playSnapshotKills(join(scratch, 'undisturbed'), null);
  if (expected.problems.length > 0) {
    throw new Error(`It fails undisturbed:\n${expected.problems.join('\n')}`);
  }
  const points =
    values.point === undefined
      ? await chosen(expected.durations)
      : [JSON.parse(values.point) as KillPoint];
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(RESULTS, '');
  const counts = { done: 0, hit: 0, failed: 0 };
  await eachOf(points, Number(values.jobs), async (point) => {
    const room = mkdtempSync(join(scratch, 'room-'));
    const play = await playSnapshotKills(room, point).catch((error: unknown) => String(error));
    const problems = typeof play === 'string' ? [play] : comparePlays(play, expected);
    const hit = typeof play === 'string' || play.hit;
    appendFileSync(RESULTS, `${JSON.stringify({ point, hit, problems })}\n`);
    counts.done += 1;
    counts.hit += hit ? 1 : 0;
    if (problems.length > 0) {
      counts.failed += 1;
      const words = problems.map((each) => `  ${each}\n`).join('');
      process.stdout.write(`FAILED --point '${JSON.stringify(point)}'\n${words}`);
    }
    if (values.point === undefined) rmSync(room, { recursive: true, force: true, maxRetries: 5 });
    else process.stdout.write(`${room}\n`);
    if (counts.done % 25 === 0) process.stderr.write(`${counts.done} of ${points.length}\n`);
  });
  const { done, hit, failed } = counts;
  process.stdout.write(`${done} kills: ${hit} reached, ${done - hit} not; ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}

async function chosen(
  durations: Readonly<Record<(typeof STEPS)[number], number>>,
): Promise<readonly KillPoint[]> {
  const random = seeded(Number(values.seed));
  const all = await findKillPoints(join(scratch, 'traced'));
  const ranked = all.map((point) => ({ point, rank: random() }));
  if (values.sample !== undefined) ranked.sort((one, other) => one.rank - other.rank);
  const drawn = ranked.slice(0, Number(values.sample ?? all.length)).map(({ point }) => point);
  const atRandom = Array.from({ length: Number(values.random) }, (): KillPoint => {
    const step = STEPS[Math.floor(random() * STEPS.length)] ?? 'run';
    const how = random() < 0.5 ? 'alone' : 'all';
    return { step, how, ms: Math.floor(random() * durations[step]) };
  });
  process.stderr.write(`${all.length} points; --seed ${values.seed}\n`);
  return [...drawn, ...atRandom];
}
