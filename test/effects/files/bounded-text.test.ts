import { expect, test } from 'vitest';
import { maskSecrets } from '../../../src/core/secrets/secrets.ts';
import { shortLine } from '../../../src/effects/files/bounded-text.ts';

test.each([
  ['two words', 9, 'two words'],
  ['a line that is cut', 13, 'a line that…'],
  ['asks postgres://app:hunter2-and-more@db/app', 35, 'asks…'],
  ['one-long-word-without-any-blank', 10, 'one-long-…'],
  ['既定のブランチに統合する', 8, '既定のブランチ…'],
])('%j in %i characters is %j, without half a word that could be a secret', (text, most, line) => {
  expect(shortLine(text, most)).toBe(line);
  expect(maskSecrets(line)).toBe(line);
});
