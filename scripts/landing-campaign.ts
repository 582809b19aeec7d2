// Lands four tasks with conflicting edits at once, round after round, and looks that nothing is lost:
// npm run campaign:land -- [--rounds N] [--seed S]. A hundred rounds take about half an hour.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playLandingRound } from '../test/helpers/landing-round.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
});
const [rounds, first] = [Number(values.rounds), Number(values.seed)];
const total: Record<string, number> = {};
let failed = 0;

for (let seed = first; seed < first + rounds; seed += 1) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-landing-'));
  const { problems, ends } = await playLandingRound(folder, seed);
  for (const [kind, count] of Object.entries(ends)) total[kind] = (total[kind] ?? 0) + count;
  if (problems.length > 0) {
    failed += 1;
    console.log(`seed ${seed}, kept in ${folder}:\n  ${problems.join('\n  ')}`);
    console.log(`  again: npm run campaign:land -- --rounds 1 --seed ${seed}`);
  } else {
    rmSync(folder, { recursive: true, force: true });
  }
}

const counts = Object.entries(total).map(([kind, count]) => `${count} ${kind}`);
console.log(`${rounds} rounds, ${failed} with a problem; landings: ${counts.join(', ')}`);
process.exitCode = failed === 0 ? 0 : 1;
