import { expect, test } from 'vitest';
import {
  canTaskFix,
  landingMessage,
  type StaysReason,
} from '../../../src/core/snapshots/landing.ts';
import { taskFilePrompt } from '../../../src/effects/vault/task-file.ts';

const RULES = { expandsAtPaths: true };

test.for([
  ['Fix the login\n\nIt fails.', 'Fix the login'],
  ['\n---\n# Fix *the* login\n', 'Fix *the* login'],
  ['- [ ] one', '[ ] one'],
  ['***\n', 'Land t'],
  ['', 'Land t'],
  [taskFilePrompt('j.md', '# Fix the login\n\nIt fails.', RULES), 'Fix the login'],
  [taskFilePrompt('j.md', '', RULES), 'Land t'],
  [`${'é'.repeat(72)}`, 'é'.repeat(72)],
  [`${'é'.repeat(73)}`, `${'é'.repeat(71)}…`],
] as const)('the subject of %j', ([prompt, subject]) => {
  expect(landingMessage('t', prompt)).toBe(`${subject}\n\nRalph-Task: t\n`);
});

test.for([
  [['repository', 'uncommitted-inside'], true],
  [['repository', 'secret'], false],
] as const satisfies [readonly StaysReason[], boolean][])(
  'the agent is handed %j: %j',
  ([all, can]) => {
    const stays = new Map(all.map((why) => [`a ${why}`, why]));
    expect(canTaskFix({ kind: 'left-out', stays })).toBe(can);
  },
);
