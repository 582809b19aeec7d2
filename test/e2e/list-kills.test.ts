import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drawDeaths, type ListPlay, playListKills } from '../helpers/list-kills.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// `npm run campaign:lists` kills a hundred drivers; here it is a few.

const SEED = Number(process.env.RALPH_FAULT_SEED ?? Date.now() % 1_000_000);
/** About as many changes to files as a driver makes that nobody kills. */
const POINTS = { 'in-place': 735, 'side-by-side': 2100 };

test.for<ListPlay>(['in-place', 'side-by-side'])(
  `killed drivers neither lose an item nor tick one that is not done: %s (RALPH_FAULT_SEED=${SEED})`,
  async (play) => {
    const deaths = drawDeaths(SEED, POINTS[play]);
    const { problems } = await playListKills(join(await tempFolder(), play), play, deaths);
    expect(problems, deaths.join(', ')).toEqual([]);
  },
);
