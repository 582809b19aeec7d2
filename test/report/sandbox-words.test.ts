import { expect, test } from 'vitest';
import { notPassedOn } from '../../src/report/sandbox-words.ts';

const dropping = (...names: readonly string[]) => ({
  dropEnv: names.map((value) => ({ value, from: 'default' })),
});

test('the variables that are not passed on are named, with the flag that passes one on', () => {
  expect(notPassedOn(dropping('AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN'))).toBe(
    'Not passed on: AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN (--keep-env NAME passes one on).',
  );
  expect(notPassedOn(dropping())).toBe(null);
});

test('of many variables only some are named, on one line that is not long', () => {
  const names = Array.from({ length: 300 }, (_, index) => `TOKEN_${index}_\n${'A'.repeat(5_000)}`);
  const line = notPassedOn(dropping(...names)) ?? '';
  expect(line).toMatch(/^Not passed on: TOKEN_0_ .*, TOKEN_11_ .* and 288 more \(--keep-env/);
  expect(line.length).toBeLessThan(900);
});
