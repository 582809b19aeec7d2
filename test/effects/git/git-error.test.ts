import { expect, test } from 'vitest';
import { reasonOf } from '../../../src/effects/git/git-error.ts';

test.for([
  [{ exitCode: null, isUnanswered: true }, 'git did not answer'],
  [{ exitCode: null }, 'git was ended or was not started'],
  [{ exitCode: 3 }, 'git ended with 3'],
  [{ exitCode: 128, complaint: 'warning: a\nfatal: b\n' }, 'b'],
] as const)('of %j the reason is: %s', ([answer, reason]) => {
  expect(reasonOf({ output: '', complaint: '', ...answer })).toBe(reason);
});
