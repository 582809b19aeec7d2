import { describe, expect, test } from 'vitest';
import { isPlanDone, planStand, readPlan } from '../../../src/core/completion/plan-file.ts';

describe('checkboxes', () => {
  test.for<[string, string, number, number]>([
    ['none in nothing', '', 0, 0],
    ['none in prose', '# Plan\n\nDo [x] and [ ] things.', 0, 0],
    ['open and ticked', '- [ ] a\n- [x] b\n- [X] c', 1, 2],
    ['under way', '- [/] a', 1, 0],
    ['with other signs', '- [-] a\n- [>] b\n- [!] c', 3, 0],
    [
      'with nothing inside',
      '- [] a\n* [] b\n+ []\tc\n1. [] d\n2) [] e\n> - [] f\n- **[] g**',
      7,
      0,
    ],
    ['with nothing inside, before a link', '- [] [a](https://example.com)', 1, 0],
    ['with more blanks inside', '- [  ] a\n- [\t] b', 2, 0],
    ['with every list marker', '- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n12) [x] e', 4, 1],
    ['nested', '- [x] a\n  - [ ] b\n\t- [x] c\n        1. [ ] d', 2, 2],
    ['in a list in a list', '- 1. [ ] a', 1, 0],
    ['in a quote', '> - [ ] a\n> > - [x] b', 1, 1],
    ['without a word', '- [ ]\n- [x]', 1, 1],
    ['with CRLF', '- [ ] a\r\n- [x] b\r\n', 1, 1],
    ['with CR alone', '- [ ] a\r- [x] b', 1, 1],
    ['behind a byte order mark', '\uFEFF- [x] a', 0, 1],
    ['without a list marker, open only', '[ ] a\n[x] b\n> [x] c\n> [ ] d', 2, 0],
    ['with a bullet of another kind', '• [ ] a\n– [ ] b\n• [x] c', 2, 0],
    ['behind a letter', 'a. [ ] a\nb) [ ] b\n(c) [ ] c\nd. [x] d', 3, 0],
    ['without a blank behind the marker', '-[ ] a\n1.[ ] b\n-[x] c', 2, 0],
    ['without a blank behind the box', '- [ ]a\n- [ ]**b**\n- [x]c', 2, 0],
    ['of one sign', '☐ a\n- ⬜ b\n- 🔲 c\n- ☑ d', 3, 0],
    ['in a heading', '## [ ] a\n## Phase 2 [ ]\n## [x] c', 2, 0],
    ['in a table', '| a | [ ] |\n| [  ] | b |\n| [x] | c |', 2, 0],
    ['in emphasis', '- **[ ] a**', 1, 0],
    ['in a fence that is never closed', '- [x] a\n```\n- [ ] b\n- [x] c', 1, 1],
    ['in a comment that is never closed', '- [x] a\n<!-- b\n- [ ] c\n- [x] d', 1, 1],
    ['with a strange line end in their text', '- [ ] a\u2028b', 1, 0],
  ])('%s', ([, text, open, done]) => {
    expect(readPlan(text)).toEqual({ open, done });
  });
});

describe('no checkboxes', () => {
  test.for([
    ['a date', '- [2026-01-29] met'],
    ['an issue', '- [#12] fixed'],
    ['empty brackets without a list mark', '[] a\nAn empty array is [] here.'],
    ['empty brackets with nothing behind them', '- []\n- [] \n- []a'],
    ['a link with no words', '- [](https://example.com)\n- [][a] b\n- []: c'],
    ['a reference', '- [1] a\n- [a] b'],
    ['a link', '- [x](https://example.com)\n- [ ](https://example.com)'],
    ['a ticked one with a word right behind', '- [x]a'],
    ['a ticked one without a list marker', '[x] b\n> [x] c'],
    ['a ticked one right behind its marker', '-[x] a'],
    ['not at the beginning of the item', '- see [x] a'],
    ['in a fence', '```\n- [ ] a\n- [x] b\n```'],
    ['in a fence of tildes', '~~~md\n- [ ] a\n```\n- [x] a\n~~~'],
    ['in a longer fence', '````\n```\n- [ ] a\n```\n- [x] a\n````'],
    ['in a fence that a list item does not close', '```\n- ```\n- [x] a\n```'],
    ['in a fence of a list item', '- ```\n  - [ ] a\n  ```'],
    ['in a fence of a quote', '> ```\n> - [x] a\n> ```'],
    ['in a comment', '<!-- an example:\n- [ ] a\n-->'],
  ] as const)('%s', ([, text]) => {
    expect(readPlan(text)).toEqual({ open: 0, done: 0 });
  });

  test('but after a fence and a comment they count again', () => {
    const text =
      '```\n- [ ] a\n```\n- [x] b\n<!-- c -->\n- [ ] d\n<!--\n-->\n- [ ] e\n``` f ```\n- [ ] g';
    expect(readPlan(text)).toEqual({ open: 3, done: 1 });
  });
});

describe('checkboxes of sections', () => {
  const counts = (text: string, ...names: string[]) => {
    const { open, done } = readPlan(text, names);
    return [open, done];
  };

  test.for<[string, string, number, number]>([
    ['under the heading alone', '- [ ] a\n## Tasks\n- [x] b\n## Notes\n- [ ] c', 0, 1],
    ['under lower headings, too', '## Tasks\n### One\n- [x] b\n#### Two\n- [ ] c', 1, 1],
    ['up to a higher heading', '## Tasks\n- [x] b\n# Other\n- [ ] c', 0, 1],
    ['under each of that name', '## Tasks\n- [x] b\n## No\n- [ ] c\n### Tasks\n- [x] d', 0, 2],
    ['in another case', '## TASKS\n- [x] b', 0, 1],
    ['with marks at both ends', '## Tasks ##\n- [x] b', 0, 1],
    ['in emphasis, before a colon', '## **Tasks**:\n- [x] b', 0, 1],
    ['of an underlined heading', 'Tasks\n-----\n- [x] b\n\nNotes\n===\n- [ ] c', 0, 1],
    ['of the heading itself', '## [ ] Tasks\n- [x] b', 1, 1],
    ['not of a longer name', '## Tasks for later\n- [ ] b', 0, 0],
    ['not of words without a mark', 'Tasks\n- [ ] b', 0, 0],
    ['not of a hashtag', '##Tasks\n- [ ] b', 0, 0],
    ['not of a heading in a fence', '```\n## Tasks\n```\n- [ ] b', 0, 0],
    ['not of a heading in a comment', '<!--\n## Tasks\n-->\n- [ ] b', 0, 0],
    ['after a heading in a fence', '## Tasks\n```\n# No\n```\n- [x] b', 0, 1],
    ['after a rule below a box', '## Tasks\n- [x] a\n---\n- [ ] b', 1, 1],
    ['of a fence that is never closed', '## Tasks\n- [x] a\n```\n# No\n- [ ] b', 1, 1],
    ['with a section in an open fence', '```\n# Tasks\n- [ ] b', 1, 0],
    ['none without such a heading', '- [x] a', 0, 0],
  ])('%s', ([, text, open, done]) => {
    expect(counts(text, 'Tasks')).toEqual([open, done]);
    expect(counts(text.replaceAll('\n', '\r\n'), ' tasks: ')).toEqual([open, done]);
  });

  test('of several names', () => {
    const text = '# A\n- [x] a\n# B\n- [x] b\n# C\n- [ ] c';
    expect(counts(text, 'a', 'b')).toEqual([0, 2]);
    expect(counts(text)).toEqual([1, 2]);
  });
});

describe('how far a plan is', () => {
  test.for<[string, string | null, readonly string[], number, number | null, number | null]>([
    ['with an open box', '# Plan\r\n\r\n- [x] a\r\n- [] b\r\n- [ ] c', [], 1, 3, 4],
    ['behind a fence', '```\n- [ ] a\n```\n- [x] b\n- [ ] c', [], 1, 2, 5],
    ['in a section', '- [ ] a\n# B\n- [x] b\n- [ ] c', ['b'], 1, 2, 4],
    ['all ticked', '- [x] a', [], 1, 1, null],
    ['without a box', '# Plan', [], 0, 0, null],
    ['that cannot be read', null, [], 0, null, null],
  ])('%s', ([, text, sections, ticked, boxes, first_open_line]) => {
    const stand = { file: 'P.md', ticked, boxes, first_open_line };
    const named = sections.length === 0 ? stand : { ...stand, sections };
    expect(planStand('P.md', text, sections)).toEqual(named);
  });
});

describe('a plan is done', () => {
  test('with at least one box, and no open one', () => {
    expect(isPlanDone({ open: 0, done: 1 })).toBe(true);
    expect(isPlanDone({ open: 1, done: 9 })).toBe(false);
    expect(isPlanDone({ open: 0, done: 0 })).toBe(false);
  });
});
