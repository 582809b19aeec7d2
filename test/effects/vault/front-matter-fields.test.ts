import { describe, expect, test } from 'vitest';
import {
  FRONT_MATTER_MAX_BYTES,
  readFrontMatterFields,
} from '../../../src/effects/vault/front-matter-fields.ts';

const TOO_LARGE = { problem: 'it is over 8 KB' };
const TOO_DEEP = { problem: 'it is nested deeper than 20 levels' };

describe('the front matter of a task file', () => {
  test.for([
    [
      'type: coding\nTags: [a, b]\n',
      [
        ['type', 'coding'],
        ['Tags', ['a', 'b']],
      ],
    ],
    ['', []],
    ['just words', []],
    [
      'base: &base {a: 1}\nmore: *base\n',
      [
        ['base', { a: 1 }],
        ['more', { a: 1 }],
      ],
    ],
  ] as const)('the front matter has fields: %j', ([yaml, fields]) => {
    expect(readFrontMatterFields(yaml)).toEqual({ fields });
  });

  test('the front matter may have 8 KB, and no more', () => {
    const yaml = (bytes: number): string => `a: ${'é'.repeat((bytes - 4) / 2)}\n`;
    expect(readFrontMatterFields(yaml(FRONT_MATTER_MAX_BYTES))).toHaveProperty('fields');
    expect(readFrontMatterFields(yaml(FRONT_MATTER_MAX_BYTES + 2))).toEqual(TOO_LARGE);
  });

  test.for([
    ['a table of 100,000 fields', `a: {${'k,'.repeat(100_000)}}`],
    ['brackets of 300,000 levels', `a: ${'['.repeat(300_000)}${']'.repeat(300_000)}`],
  ] as const)('larger front matter is not parsed: %s', ([, yaml]) => {
    expect(readFrontMatterFields(yaml)).toEqual(TOO_LARGE);
  });

  test.for([
    ['brackets', `a: ${'['.repeat(4_000)}${']'.repeat(4_000)}`],
    ['brackets that stay open', '['.repeat(8_000)],
    ['brackets behind others that were never open', `${']\n'.repeat(100)}${'['.repeat(4_000)}`],
    ['lists', `${'- '.repeat(4_000)}x`],
    ['keys of keys', `${'? '.repeat(1_000)}x`],
    ['keys of lists', `${'- ? '.repeat(1_000)}x`],
    ['lists as keys', `${'['.repeat(1_000)}${']: '.repeat(1_000)}1`],
    ['tables on one line', `{${'a: '.repeat(2_500)}1}`],
    ['lines that are indented ever deeper', staircase(100)],
    ['21 levels', `a: ${'['.repeat(20)}${']'.repeat(20)}`],
  ] as const)('front matter that is nested too deeply is not read: %s', ([, yaml]) => {
    expect(readFrontMatterFields(yaml)).toEqual(TOO_DEEP);
  });

  test('the front matter may have 20 levels', () => {
    const yaml = `a: ${'['.repeat(19)}${']'.repeat(19)}`;
    expect(readFrontMatterFields(yaml)).toHaveProperty('fields');
  });

  test('front matter that expands to gigabytes is not read', () => {
    const lines = [...'abcdefgh'].map((name, index, names) => {
      const inner = index === 0 ? 'x' : `*${names[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(inner).join(', ')}]\n`;
    });
    const found = readFrontMatterFields(lines.join(''));
    expect(found).toEqual({ problem: expect.stringContaining('Excessive alias count') });
  });
});

/** Each line a level deeper than the one before. */
function staircase(levels: number): string {
  return Array.from({ length: levels }, (_, n) => `${' '.repeat(n)}a:\n`).join('');
}
