import { expect, test } from 'vitest';
import type { LandingEnd } from '../../../src/core/snapshots/landing.ts';
import { landingText } from '../../../src/report/screens/land.ts';

const FACTS = { taskId: 't', onto: 'main', file: null, checks: 1, elsewhere: new Map() };

const REFUSED = 't has not landed, and nothing has changed: ';

test.for<readonly [LandingEnd, string]>([
  [
    { kind: 'nothing-new', of: 'work', isEmpty: false },
    'main holds everything that t has done already, apart from what git ignores',
  ],
  [
    { kind: 'nothing-new', of: 'commits', isEmpty: true },
    'main holds everything that t has committed already',
  ],
  [
    { kind: 'refused', why: { kind: 'left-out', stays: new Map([['app', 'repository']]) } },
    `${REFUSED}all that main lacks of it was left uncommitted: app (a repository of its own). To land it, remove the .git of the repository inside, or make it a submodule.`,
  ],
  [
    {
      kind: 'refused',
      why: {
        kind: 'left-out',
        stays: new Map([
          ['.env', 'secret'],
          ['a.bin', 'too-large'],
          ['lib', 'uncommitted-inside'],
        ]),
      },
    },
    `${REFUSED}all that main lacks of it was left uncommitted: .env (looks like a secret), a.bin (larger than --snapshot-limit), lib (a repository of its own, with work that is not committed in it). To land it, commit it on the task's branch; commit in the repository inside.`,
  ],
  [
    { kind: 'refused', why: { kind: 'elsewhere', elsewhere: new Map([['feature', 2]]) } },
    `${REFUSED}all that main lacks of it is on other branches: 2 commits on feature. To land it, merge it into the task's branch.`,
  ],
  [
    { kind: 'refused', why: { kind: 'shallow' } },
    `${REFUSED}main and its branch have no commit in common, since the repository is shallow: git fetch --unshallow, and land again.`,
  ],
  [
    { kind: 'refused', why: { kind: 'unrelated' } },
    `${REFUSED}main and its branch have no commit in common.`,
  ],
  [
    { kind: 'refused', why: { kind: 'empty', branch: 'ralph/t' } },
    `${REFUSED}nothing is changed on its branch ralph/t, nor in its work tree.`,
  ],
  [
    { kind: 'refused', why: { kind: 'branch-gone', branch: 'ralph/t' } },
    `${REFUSED}its branch ralph/t is gone.`,
  ],
  [
    {
      kind: 'refused',
      why: { kind: 'half-moved', folder: '/r', paths: ['a', 'b'], why: 'the disk is full' },
    },
    't has not landed, but its files are in a work tree: the disk is full. Git had written files in /r before it failed, and they could not be put back: a, b. Look at git status there; git restore --source=HEAD --staged --worktree -- PATH puts one back.',
  ],
])('%j', ([end, text]) => {
  expect(landingText(end, FACTS)).toBe(text);
});

test('a landing names the branches of the task that did not land', () => {
  const elsewhere = new Map([['feature', 1]]);
  const end = { kind: 'landed', commit: '1234567890abcdef', files: 2 } as const;
  expect(landingText(end, { ...FACTS, elsewhere })).toBe(
    't has landed on main as 1234567890ab (2 files); not landed: 1 commit on feature',
  );
});
