import { expect, test } from 'vitest';
import { shownPath } from '../../../src/core/snapshots/shown-path.ts';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');

test.for([
  { name: 'src/a b.ts', shown: 'src/a b.ts' },
  { name: bytes('ü/日本.txt'), shown: 'ü/日本.txt' },
  { name: 'a\nb\tc"d\\e', shown: '"a\\nb\\tc\\"d\\\\e"' },
  { name: '\xe4.txt', shown: '"\\344.txt"' },
  { name: 'a\x1b[31m', shown: '"a\\033[31m"' },
  { name: bytes('ü\u202egpj.exe'), shown: '"ü\\342\\200\\256gpj.exe"' },
  { name: bytes('a\u2028b'), shown: '"a\\342\\200\\250b"' },
])('$shown', ({ name, shown }) => {
  expect(shownPath(name)).toBe(shown);
});
