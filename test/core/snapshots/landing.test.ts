import { expect, test } from 'vitest';
import { landingMessage } from '../../../src/core/snapshots/landing.ts';

test.for([
  ['Fix the login\n\nIt fails.', 'Fix the login'],
  ['\n---\n# Fix *the* login\n', 'Fix *the* login'],
  ['- [ ] one', '[ ] one'],
  ['***\n', 'Land t'],
  ['', 'Land t'],
  [`${'é'.repeat(72)}`, 'é'.repeat(72)],
  [`${'é'.repeat(73)}`, `${'é'.repeat(71)}…`],
] as const)('the subject of %j', ([prompt, subject]) => {
  expect(landingMessage('t', prompt)).toBe(`${subject}\n\nRalph-Task: t\n`);
});
