import { expect, test } from 'vitest';
import { throughLinks } from '../../../src/core/judge/through-links.ts';

const LINKS: Readonly<Record<string, string>> = {
  src: 'lib',
  'lib/up': '../docs',
  'docs/again': '../src/./a.ts',
  root: '.',
  out: '../other',
  absolute: '/etc',
  one: 'two',
  two: 'one',
};

test.each([
  ['README.md', 'README.md'],
  ['src', 'lib'],
  ['src/a.ts', 'lib/a.ts'],
  ['src/up/api.md', 'docs/api.md'],
  ['docs/again', 'lib/a.ts'],
  ['root', ''],
  ['root/src/a.ts', 'lib/a.ts'],
  ['out/a.ts', null],
  ['absolute/passwd', null],
  ['one/a.ts', null],
])('%s leads to %j', (path, place) => {
  expect(throughLinks(path, (name) => LINKS[name] ?? null)).toBe(place);
});
