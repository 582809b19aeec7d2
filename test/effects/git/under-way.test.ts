import { join } from 'node:path';
import { expect, test } from 'vitest';
import { underWayIn } from '../../../src/effects/git/under-way.ts';
import { type gitIn, makeRepository, put } from '../../helpers/repository.ts';

type Git = ReturnType<typeof gitIn>;

/** `main` and `side` have changed the same line; `side` has a commit more that is in conflict with nothing. */
async function diverged() {
  const { folder, git } = await makeRepository({ 'a.txt': 'a\n' });
  git('checkout', '-q', '-b', 'side');
  put(folder, { 'a.txt': 'side\n' });
  git('commit', '-q', '-am', 'one');
  put(folder, { 'b.txt': 'b\n' });
  git('add', 'b.txt');
  git('commit', '-q', '-m', 'two');
  git('checkout', '-q', 'main');
  put(folder, { 'a.txt': 'main\n' });
  git('commit', '-q', '-am', 'other');
  return { folder, git };
}

/** Gives a command that stops in the middle, and commits what is in conflict if there is more to come. */
function stopIn(folder: string, git: Git, args: readonly string[], commits = false): void {
  expect(() => git(...args)).toThrow();
  if (!commits) return;
  put(folder, { 'a.txt': 'resolved\n' });
  git('commit', '-q', '-am', 'resolved');
}

test.for<[string, string, (folder: string, git: Git) => void]>([
  ['a merge', 'merge', (folder, git) => stopIn(folder, git, ['merge', 'side'])],
  ['a rebase', 'rebase', (folder, git) => stopIn(folder, git, ['rebase', 'side'])],
  [
    'a rebase by patches',
    'rebase',
    (folder, git) => stopIn(folder, git, ['rebase', '--apply', 'side']),
  ],
  ['a cherry-pick', 'cherry-pick', (folder, git) => stopIn(folder, git, ['cherry-pick', 'side^'])],
  ['a revert', 'revert', (folder, git) => stopIn(folder, git, ['revert', 'side^'])],
  ['a bisect', 'bisect', (_, git) => git('bisect', 'start')],
  [
    'what is between two picks',
    'cherry-pick',
    (folder, git) => stopIn(folder, git, ['cherry-pick', 'main..side'], true),
  ],
  [
    'what is between two reverts',
    'revert',
    (folder, git) => {
      git('merge', '-q', '-s', 'ours', 'side');
      stopIn(folder, git, ['revert', '--no-edit', 'side^', 'HEAD^'], true);
    },
  ],
])('%s is under way', async ([, name, begin]) => {
  const { folder, git } = await diverged();
  expect(underWayIn(join(folder, '.git'))).toEqual([]);
  begin(folder, git);
  expect(underWayIn(join(folder, '.git'))).toEqual([name]);
});
