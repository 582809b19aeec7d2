import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  baseProblem,
  fleetTaskIdProblem,
  isBranchName,
} from '../../../src/fleet/core/ref-names.ts';

const NAMES = [
  ...['main', 'fix/login', 'ralph/t', 'a.b', 'a-b', 'a@b', 'ä', 'x.locked', 'a/b/c', 'a{', 'A_1'],
  ...['a..b', 'x.lock', 'x.', 'a.lock/b', '.a', 'a/.b', '/a', 'a/', 'a//b', '-a', 'a/-b', 'a b'],
  ...[
    'a~b',
    'a^b',
    'a:b',
    'a?b',
    'a*b',
    'a[b',
    'a\\b',
    'a@{b',
    '@',
    'a\tb',
    'a\u007fb',
    'HEAD',
    '',
  ],
];

function gitTakes(name: string): boolean {
  try {
    execFileSync('git', ['check-ref-format', '--branch', name], { stdio: 'ignore' });
    // git takes `@` for HEAD here.
    return name !== '@';
  } catch {
    return false;
  }
}

test.for(NAMES)('%j is the name of a branch if git says so', (name) => {
  expect(isBranchName(name)).toBe(gitTakes(name));
});

describe('the id of a task in a fleet', () => {
  test.for(['nightly', 'a.b', 'A_1-2', '20261123_182258_534791', 'x.locked'])('%s', (id) => {
    expect(fleetTaskIdProblem(id)).toBeNull();
  });

  test.for(['a..b', 'x.lock', 'x.', '', 'a/b', '.a', '-a', 'history', 'x.json', 'a b'])(
    '%j is refused',
    (id) => {
      expect(fleetTaskIdProblem(id)).toMatch(
        /^--task-id expects 1 to 128 characters .*valid name in git: no \.\.,.*; found '.*'\.$/,
      );
    },
  );
});

test.for([
  ['main', true],
  ['origin/main', true],
  ['v1.2', true],
  ['main~2', true],
  ['HEAD^', true],
  ['0123abc', true],
  ['', false],
  ['-x', false],
  ['--upload-pack=x', false],
  ['a..b', false],
  ['a:b', false],
  ['a b', false],
  ['a\nb', false],
  ['a*', false],
] as const)('a task can begin at %j: %s', ([base, isGood]) => {
  expect(baseProblem(base) === null).toBe(isGood);
});
