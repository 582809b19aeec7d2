import { describe, expect, test } from 'vitest';
import { nearest } from '../../../src/core/text/nearest.ts';

const FLAGS = [
  '--prompt',
  '--prompt-file',
  '--promise',
  '--max-iterations',
  '--max-cost',
  '--timeout',
  '--iteration-timeout',
  '--delay',
  '--json',
];

describe('a mistyped name', () => {
  test.for<[typed: string, meant: string | null]>([
    ['--prompt', '--prompt'],
    ['--promt', '--prompt'],
    ['--promptt', '--prompt'],
    ['--rpompt', '--prompt'],
    ['--promsie', '--promise'],
    ['--promise-', '--promise'],
    ['--max-iteration', '--max-iterations'],
    ['--max-iter', '--max-iterations'],
    ['--maxiterations', '--max-iterations'],
    ['--max_iterations', '--max-iterations'],
    ['--timout', '--timeout'],
    ['--deley', '--delay'],
    ['--jsno', '--json'],
    ['--Json', '--json'],
    ['--verbose', null],
    ['--completely-different', null],
    ['', null],
  ])('%o probably means %o', ([typed, meant]) => {
    expect(nearest(typed, FLAGS)).toBe(meant);
  });

  test('gets the first of equally near names', () => {
    expect(nearest('--ab', ['--ax', '--ay'])).toBe('--ax');
    expect(nearest('--ab', ['--xyz', '--ay', '--ab'])).toBe('--ab');
  });

  test('counts a swap of neighbours as one change', () => {
    expect(nearest('badc', ['abcd'])).toBe('abcd');
    expect(nearest('badcfe', ['abcdef'])).toBeNull();
  });

  test('counts as the beginning of a name only if it is long enough', () => {
    expect(nearest('--de', ['--delay-between-iterations'])).toBeNull();
    expect(nearest('--del', ['--delay-between-iterations'])).toBe('--delay-between-iterations');
  });

  test('has no nearest name among no names', () => {
    expect(nearest('--prompt', [])).toBeNull();
  });
});
