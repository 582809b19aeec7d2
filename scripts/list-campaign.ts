// Works on lists whose drivers are killed at changes to files, one item at a time and three at once, and looks that no
// item is ticked too early, lost or worked on twice: npm run campaign:lists -- [--rounds N] [--seed S] [--only PLAY].
// Twenty rounds kill about a hundred drivers and take about half an hour.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawDeaths, type ListPlay, playListKills } from '../test/helpers/list-kills.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
});
const [rounds, first] = [Number(values.rounds), Number(values.seed)];
const all: readonly ListPlay[] = ['in-place', 'side-by-side'];
const plays = all.filter((play) => values.only === undefined || values.only === play);
const counts = new Map<ListPlay, number>();
const points = new Map<ListPlay, number>();
let failed = 0;

for (const play of plays) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-list-'));
  points.set(play, (await playListKills(folder, play, [])).points);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
for (let seed = first; seed < first + rounds; seed += 1) {
  for (const play of plays) {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'ralph-list-'));
    const deaths = drawDeaths(seed, points.get(play) ?? 1);
    const { problems, kills } = await playListKills(folder, play, deaths);
    counts.set(play, (counts.get(play) ?? 0) + kills);
    if (problems.length === 0) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      continue;
    }
    failed += 1;
    console.log(
      `seed ${seed}, ${play}, ${deaths.join(', ')}, kept in ${folder}:\n  ${problems.join('\n  ')}`,
    );
    console.log(`  again: npm run campaign:lists -- --rounds 1 --only ${play} --seed ${seed}`);
  }
}
const shown = [...counts].map(([play, count]) => `${count} ${play}`).join(', ');
const changes = [...points].map(([play, count]) => `${count} ${play}`).join(', ');
console.log(
  `kills: ${shown}; changes to files of a driver that lives: ${changes}; ${failed} plays with a problem`,
);
process.exitCode = failed === 0 ? 0 : 1;
