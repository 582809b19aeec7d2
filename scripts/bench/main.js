// Measures what ralph costs, against a baseline that runs in turn with it: npm run bench.
// docs/performance.md says what the figures mean.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ROWS } from './rows.js';
import { makeScene } from './scene.js';
import { summary } from './timing.js';

const RESULTS = fileURLToPath(new URL('../../bench/results.json', import.meta.url));
const HELP = `npm run bench -- [--only NAME]… [--quick] [--runs N]
npm run bench -- --peers [--quick] [--runs N]

  --only NAME  only this one, of: ${ROWS.map(({ name }) => name).join(', ')}
  --quick      three runs of each instead of ten: for a first look, not for a verdict
  --runs N     so many runs of each
  --peers      only: ralph beside other programs of its kind, which are installed from npm into a temporary folder
`;

/** @typedef {import('./rows.js').Figure} Figure */
/** @typedef {'met' | 'missed' | 'known' | 'not there yet'} Verdict */

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    runs: { type: 'string' },
    peers: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const unknown = values.only?.filter((name) => !ROWS.some((row) => row.name === name)) ?? [];
const runs = Number(values.runs ?? (values.quick ? 3 : 10));
if (values.help || unknown.length > 0 || !(runs >= 1)) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}

if (values.peers) {
  const { compareWithPeers } = await import('./peers.js');
  process.stdout.write(`${compareWithPeers(runs)}\n`);
  process.exit(0);
}

const chosen = ROWS.filter(({ name }) => values.only?.includes(name) ?? true);
const results = chosen.flatMap((row) => measured(row));
process.stdout.write(`\n${table(results)}\n`);
mkdirSync(dirname(RESULTS), { recursive: true });
writeFileSync(RESULTS, `${JSON.stringify({ machine: machine(), runs, results }, null, 2)}\n`);
process.exitCode = results.some(({ verdict }) => verdict === 'missed') ? 1 : 0;

/** Measures in a scene of its own, so that nothing of one figure is in the way of the next. */
function measured(/** @type {import('./rows.js').Row} */ { name, figures, measure }) {
  process.stderr.write(`${name} …\n`);
  const scene = makeScene();
  try {
    const all = measure({ scene, runs, quick: values.quick });
    return figures.map((figure, index) => {
      const figures = all[index]?.values ?? [];
      const numbers = figures.length === 0 ? null : rounded(summary(figures));
      return { name, ...figure, ...numbers, verdict: verdictOn(figure, numbers) };
    });
  } finally {
    scene.remove();
  }
}

/** The goals are for the median: single runs are at the mercy of the machine. */
function verdictOn(
  /** @type {Figure} */ { atMost, atLeast },
  /** @type {{ median: number } | null} */ numbers,
) {
  /** @type {Verdict} */
  let verdict = 'met';
  if (numbers === null) verdict = 'not there yet';
  else if (atMost === undefined && atLeast === undefined) verdict = 'known';
  else if (atMost !== undefined && numbers.median > atMost) verdict = 'missed';
  else if (atLeast !== undefined && numbers.median < atLeast) verdict = 'missed';
  return verdict;
}

function rounded(/** @type {ReturnType<typeof summary>} */ { median, min, max, runs }) {
  const short = (/** @type {number} */ value) => Number(value.toPrecision(4));
  return { median: short(median), min: short(min), max: short(max), runs };
}

function table(/** @type {readonly ReturnType<typeof measured>[number][]} */ rows) {
  const lines = rows.map(({ what, unit, atMost, atLeast, median, min, max, verdict }) => {
    const goal =
      atMost === undefined ? (atLeast === undefined ? '' : `≥ ${atLeast}`) : `≤ ${atMost}`;
    const numbers = [median, min, max].map((value) => (value === undefined ? '' : shown(value)));
    return [what, goal, ...numbers, unit, verdict === 'known' ? '' : verdict];
  });
  const all = [['what', 'goal', 'median', 'min', 'max', '', ''], ...lines];
  const widths = all[0]?.map((_, column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  );
  return all
    .map((line) =>
      line
        .map((cell, column) => {
          const width = widths?.[column] ?? 0;
          return column > 0 && column < 5 ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function shown(/** @type {number} */ value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) < 2 ? 2 : 1);
}

/** What the figures depend on, and nothing that names the machine. */
function machine() {
  const { version, platform, arch } = process;
  return { node: version, platform, arch, cores: availableParallelism() };
}
