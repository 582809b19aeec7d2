import { expect, test } from 'vitest';
import { playLandingRound } from '../helpers/landing-round.ts';
import { playLanesRound } from '../helpers/lanes-round.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

// A sample of what `npm run campaign:land` does at length.

test('four tasks that commit at once, beside a git gc and a person, lose no commit', async () => {
  expect(await playLanesRound(await tempFolder(), 1)).toEqual([]);
});

test.for([3, 7])('four landings at once lose nothing (seed %i)', async (seed) => {
  const { problems, ends } = await playLandingRound(await tempFolder(), seed);
  expect(problems).toEqual([]);
  expect(Object.values(ends).reduce((sum, count) => sum + count, 0)).toBe(8);
});
