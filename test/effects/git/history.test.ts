import { expect, test } from 'vitest';
import { makeGit } from '../../../src/effects/git/call/git.ts';
import { newestOfTask } from '../../../src/effects/git/questions/history.ts';

test.for([
  [0, 'b2'],
  [null, null],
  [128, null],
] as const)(
  'git log that ends with %s names the newest commit %s',
  async ([exitCode, expected]) => {
    // One that was killed may have named a longer id in part.
    const git = makeGit(async () => ({ exitCode, output: 'c3 u\nb2 t\na1 t', complaint: '' }));
    expect(await newestOfTask(git, 't', { from: null, to: 'HEAD' })).toBe(expected);
  },
);
