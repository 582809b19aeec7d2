// Changes core in one place at a time, drawn by a seed, and looks whether a test notices:
// npm run campaign:mutants. Works in a copy of the checkout. Sixty mutants take some minutes.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { eachOf, range } from '../test/helpers/fault-scene.ts';
import { drawMutants, type Mutant } from './mutants/draw.ts';
import { relatedTests } from './mutants/related-tests.ts';
import { openTestRuns, type TestRuns } from './mutants/test-runs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HELP = `npm run campaign:mutants -- [--seed N] [--count N] [--file PART] [--jobs N] [--json FILE]

  --seed N     draws the places: the same seed draws the same ones while their lines are the same
  --count N    so many mutants; 60 if not given
  --file PART  only in files of core with this in their path
  --jobs N     so many at once; 1 if not given
  --json FILE  writes the mutants there, each with what became of it
`;

/** What became of a mutant. */
interface Verdict {
  readonly verdict: 'noticed' | 'timed out' | 'not noticed' | 'no test';
  /** The test file that failed; null if something else failed. */
  readonly by?: string | null;
}

/** A copy of the checkout, in which one mutant at a time is tried. */
interface Room {
  readonly root: string;
  readonly runs: TestRuns;
}

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    count: { type: 'string', default: '60' },
    file: { type: 'string', default: '' },
    jobs: { type: 'string', default: '1' },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const listed = execFileSync('git', ['ls-files', '-zco', '--exclude-standard'], { cwd: ROOT });
const paths = `${listed}`.split('\0').filter((path) => path !== '' && existsSync(join(ROOT, path)));
const scratch = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-mutants-'));
process.exitCode = await campaign().finally(() => {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
});

async function campaign(): Promise<number> {
  const core = paths.filter((path) => /^src\/core\/.*\.ts$/.test(path));
  const files = core.filter((path) => path.includes(values.file));
  const mutants = drawMutants(ROOT, files, values.seed, Number(values.count));
  const related = relatedTests(ROOT, paths);
  const tests = [...new Set(mutants.flatMap(({ file }) => related(file)))];
  process.stderr.write(
    `--seed ${values.seed}: ${mutants.length} mutants, ${tests.length} test files\n`,
  );
  const rooms = await Promise.all(range(1, Number(values.jobs) + 1).map(openRoom));
  await Promise.all(rooms.map((room) => tryUnchanged(room, tests)));
  const results: (Mutant & Verdict)[] = [];
  await eachOf(mutants, rooms.length, async (mutant) => {
    const room = rooms.pop();
    if (room === undefined) throw new Error('There are fewer rooms than mutants at once.');
    const verdict = await judge(mutant, related(mutant.file), room);
    rooms.push(room);
    results.push({ ...mutant, ...verdict });
    const place = `${mutant.file}:${mutant.line}:${mutant.column}`;
    const change = `${mutant.operator}: ${short(mutant.before)} → ${short(mutant.after)}`;
    const by = verdict.by === undefined ? '' : `  by ${verdict.by}`;
    process.stdout.write(`${verdict.verdict.padEnd(11)} ${place}  ${change}${by}\n`);
  });
  if (values.json !== undefined) {
    const rows = results.map(({ text: _, ...row }) => row).sort(byPlace);
    writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  }
  const sum = ['noticed', 'timed out', 'not noticed', 'no test'].map(
    (word) => `${results.filter(({ verdict }) => verdict === word).length} ${word}`,
  );
  process.stdout.write(`${results.length} mutants: ${sum.join(', ')}\n`);
  // What noticed a mutant has to pass without it, or nothing of the above holds.
  const noticing = [...new Set(results.flatMap(({ by }) => by ?? []))];
  await Promise.all(rooms.map((room) => tryUnchanged(room, noticing)));
  for (const { runs } of rooms) await runs.close();
  return 0;
}

/** A copy of what git would take, with the packages and a build of its own. */
async function openRoom(number: number): Promise<Room> {
  const root = join(scratch, String(number));
  for (const path of paths) cpSync(join(ROOT, path), join(root, path));
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: root });
  return { root, runs: await openTestRuns(root) };
}

/** A test that fails as it is would notice every mutant. */
async function tryUnchanged({ runs }: Room, tests: readonly string[]): Promise<void> {
  const end = await runs.run(tests);
  if (end.kind === 'passed') return;
  const failed =
    end.kind === 'failed' ? `${end.by ?? 'something'} fails` : 'one of them never ends';
  throw new Error(`The tests have to pass where nothing is changed, but ${failed}.`);
}

async function judge(
  { file, text }: Mutant,
  tests: readonly string[],
  { root, runs }: Room,
): Promise<Verdict> {
  if (tests.length === 0) return { verdict: 'no test' };
  const path = join(root, file);
  writeFileSync(path, text);
  runs.forget(path);
  const end = await runs.run(tests);
  cpSync(join(ROOT, file), path);
  runs.forget(path);
  if (end.kind === 'failed') return { verdict: 'noticed', by: end.by };
  return { verdict: end.kind === 'passed' ? 'not noticed' : 'timed out' };
}

function short(code: string): string {
  const line = code.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

function byPlace(one: Omit<Mutant, 'text'>, other: Omit<Mutant, 'text'>): number {
  const order = one.file < other.file ? -1 : 1;
  return one.file === other.file ? one.line - other.line || one.column - other.column : order;
}
