import { expect, test } from 'vitest';
import { ruleProblem } from '../../../src/core/sandbox/rule-problems.ts';
import type { SandboxRules } from '../../../src/core/sandbox/rules.ts';

const RULES: SandboxRules = {
  ...{ allowWrite: [], denyWrite: [], denyRead: [], allowRead: [], hiddenHome: null, allowNet: [] },
  ...{ keepEnv: [], dropEnv: [], unixSockets: false, checksInside: true },
  ofAgent: { places: [], variables: [] },
};
const FACTS = {
  home: '/home/u',
  workFolder: '/home/u/work/part',
  keyFolder: '/home/u/.local/state/ralph',
  runsFolder: '/tmp',
};
const SECRETS = "~/.ssh, this driver's state and the work folder";

test.for([
  [
    '/',
    '--allow-write',
    `--allow-write / takes in the whole machine, ~/.ssh, this driver's state and the work folder: name a folder below it.`,
  ],
  ['/home/u', '--allow-write', `--allow-write ~ takes in ${SECRETS}: name a folder below it.`],
  [
    '/home',
    'RALPH_ALLOW_WRITE',
    `RALPH_ALLOW_WRITE: --allow-write /home takes in ${SECRETS}: name a folder below it.`,
  ],
  [
    '/home/u/work',
    '--allow-write',
    '--allow-write ~/work takes in the work folder: name a folder below it.',
  ],
  [
    '/home/u/.local',
    '--allow-write',
    "--allow-write ~/.local takes in this driver's state: name a folder below it.",
  ],
  [
    '/tmp',
    '--allow-write',
    '--allow-write /tmp takes in the folders of other runs: name a folder below it.',
  ],
  [
    '/home/u',
    'default',
    `The agent writes ~, which takes in ${SECRETS}: let its variable name a folder below it, or use --no-sandbox.`,
  ],
] as const)('to write %s by %s is too wide', ([value, from, sentence]) => {
  const allowWrite = [{ value, from }];
  const found = ruleProblem({ ...RULES, allowWrite }, FACTS);
  expect(found?.code).toBe('too-wide');
  expect(found?.sentence).toBe(sentence);
});

test.for([
  '/home/u/work/part',
  '/home/u/work/part/below',
  '/home/u/other',
  '/srv',
  '/home/u/.config',
])('to write %s is not', (value) => {
  expect(
    ruleProblem({ ...RULES, allowWrite: [{ value, from: '--allow-write' }] }, FACTS),
  ).toBeNull();
});

test('two places that a folder takes in are both named', () => {
  const allowWrite = [{ value: '/home/u', from: '--allow-write' }];
  expect(
    ruleProblem({ ...RULES, allowWrite }, { ...FACTS, workFolder: '/work' })?.sentence,
  ).toContain("takes in ~/.ssh and this driver's state:");
});

test.for(['/home/u', '/', '/home'])('a work folder %s is too wide', (workFolder) => {
  expect(ruleProblem(RULES, { ...FACTS, workFolder })?.code).toBe('too-wide');
});

test.for(['allowWrite', 'denyWrite', 'denyRead', 'allowRead'] as const)(
  'a pattern as a path of %s is refused, since the component would drop it',
  (name) => {
    for (const value of ['/w/[id]', '/w/a*', '/w/b?']) {
      const rules = { ...RULES, [name]: [{ value, from: 'default' }] };
      expect(ruleProblem(rules, FACTS)).toMatchObject({ code: 'wrong-path' });
    }
  },
);
