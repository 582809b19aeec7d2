import { describe, expect, test } from 'vitest';
import { criteriaOf, readCriteria } from '../../../src/core/judge/criteria.ts';

describe('reads criteria from', () => {
  test.each([
    ['lines', 'it adds\n\nit subtracts\r\n', ['it adds', 'it subtracts']],
    [
      'a list, without the prose around it',
      'What counts:\n\n- it adds\n* it subtracts\n2. it says so\n\nThank you.',
      ['it adds', 'it subtracts', 'it says so'],
    ],
    ['items with boxes', '- [ ] it adds\n- [x] it subtracts', ['it adds', 'it subtracts']],
    [
      'an item over several lines',
      '- it adds\n  two numbers\n- it subtracts',
      ['it adds two numbers', 'it subtracts'],
    ],
    ['nested items', '- it adds\n  - small numbers', ['it adds', 'small numbers']],
    [
      'lines below headings',
      '# Criteria\n\nit adds\n\nMore\n----\nit subtracts\n\n---\n',
      ['it adds', 'it subtracts'],
    ],
    [
      'a text with fences and comments',
      '<!-- not\nthis -->\n- it adds\n```\n- not this\n```\n- it subtracts',
      ['it adds', 'it subtracts'],
    ],
    [
      'a text below a fence that is never closed',
      'it adds\n```\nit subtracts',
      ['it adds', 'it subtracts'],
    ],
    [
      'a text with half a comment',
      '- it adds\n<!-- also:\n- it subtracts',
      ['it adds', 'it subtracts'],
    ],
    ['nothing', '# Criteria\n\n<!-- later -->\n', []],
  ])('%s', (_, text, criteria) => {
    expect(readCriteria(text)).toEqual(criteria);
  });
});

test('numbers criteria, and has one where none is given', () => {
  expect(criteriaOf(['it adds', 'it subtracts'])).toEqual([
    { id: 'c1', text: 'it adds' },
    { id: 'c2', text: 'it subtracts' },
  ]);
  expect(criteriaOf([])).toEqual([
    { id: 'c1', text: 'Everything that the task asks for is there and works.' },
  ]);
});
