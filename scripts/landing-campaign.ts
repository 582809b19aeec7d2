// Round after round, four tasks commit at once in one repository, and four tasks with conflicting edits land at
// once; looks that nothing is lost: npm run campaign:land -- [--rounds N] [--seed S] [--only lanes|landings].
// A hundred rounds take about an hour.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playLandingRound } from '../test/helpers/landing-round.ts';
import { playLanesRound } from '../test/helpers/lanes-round.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const [rounds, first] = [Number(values.rounds), Number(values.seed)];
const total: Record<string, number> = {};
let failed = 0;

const PLAYS = {
  lanes: playLanesRound,
  async landings(folder: string, seed: number): Promise<readonly string[]> {
    const { problems, ends } = await playLandingRound(folder, seed);
    for (const [kind, count] of Object.entries(ends)) total[kind] = (total[kind] ?? 0) + count;
    return problems;
  },
};

for (let seed = first; seed < first + rounds; seed += 1) {
  for (const [name, play] of Object.entries(PLAYS)) {
    if (values.only !== undefined && values.only !== name) continue;
    const folder = mkdtempSync(join(realpathSync(tmpdir()), `ralph-${name}-`));
    const problems = await play(folder, seed);
    if (problems.length > 0) {
      failed += 1;
      console.log(`seed ${seed}, kept in ${folder}:\n  ${problems.join('\n  ')}`);
      console.log(`  again: npm run campaign:land -- --rounds 1 --only ${name} --seed ${seed}`);
    } else {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

const counts = Object.entries(total).map(([kind, count]) => `${count} ${kind}`);
console.log(`${rounds} rounds, ${failed} with a problem; landings: ${counts.join(', ') || 'none'}`);
process.exitCode = failed === 0 ? 0 : 1;
