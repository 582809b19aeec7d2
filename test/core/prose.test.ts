import { describe, expect, test } from 'vitest';
import { maskNonProse, type NonProse, whyMasked } from '../../src/core/prose.ts';

/** The text with `¤` for all that is masked. */
function prose(text: string): string {
  return maskNonProse(text).replace(/[\uE000-\uE00F]/g, '¤');
}

describe('what is not prose is masked, character by character', () => {
  test.each([
    ['a fence', 'a\n```js\nx y\n```\nb', 'a\n¤¤¤¤¤\n¤¤¤\n¤¤¤\nb'],
    ['a fence of tildes with backticks inside', '~~~\n```\n~~~\nb', '¤¤¤\n¤¤¤\n¤¤¤\nb'],
    ['a fence closed by more', '```\nx\n`````\nb', '¤¤¤\n¤\n¤¤¤¤¤\nb'],
    ['a fence not closed by fewer', '````\n```\nx\n````\nb', '¤¤¤¤\n¤¤¤\n¤\n¤¤¤¤\nb'],
    ['a fence not closed by one with a word', '```\n``` js\nx\n```\nb', '¤¤¤\n¤¤¤¤¤¤\n¤\n¤¤¤\nb'],
    ['a fence not closed by the other sign', '```\n~~~\nx\n```\nb', '¤¤¤\n¤¤¤\n¤\n¤¤¤\nb'],
    ['a fence that is never closed', '```\nx\n\ny', '¤¤¤\n¤\n\n¤'],
    ['an indented fence', '  ```\n  x\n  ```  \nb', '¤¤¤¤¤\n¤¤¤\n¤¤¤¤¤¤¤\nb'],
    ['a fence in a list', '- ```\n  x\n  ```\nb', '¤¤¤¤¤\n¤¤¤\n¤¤¤¤¤\nb'],
    ['a fence right under a paragraph', 'a ` b\n```\nc ` d\n```', 'a ` b\n¤¤¤\n¤¤¤¤¤\n¤¤¤'],
    ['no fence: backticks behind it', '```a```\nb', '¤¤¤¤¤¤¤\nb'],
    ['no fence: inside a quote', '> ```\na', '¤¤¤¤¤\na'],
    ['inline code', 'a `b c` d', 'a ¤¤¤¤¤ d'],
    ['inline code by equal runs', 'a ``b ` c`` d `', 'a ¤¤¤¤¤¤¤¤¤ d `'],
    ['inline code over a line break', 'a `b\nc` d', 'a ¤¤\n¤¤ d'],
    ['no inline code: two paragraphs', 'a `b\n\nc` d', 'a `b\n\nc` d'],
    ['no inline code: two list items', '- a `b\n- c` d', '- a `b\n- c` d'],
    ['no inline code: a heading between', 'a `b\n# `\nc` d', 'a `b\n¤¤¤\nc` d'],
    ['no inline code: a rule between', 'a `b\n***\nc` d', 'a `b\n***\nc` d'],
    ['no inline code: unequal runs', 'a `b`` c', 'a `b`` c'],
    ['inline code from the first run that fits', '`` a `b` c', '`` a ¤¤¤ c'],
    ['inline code behind an escaped backtick', '\\`a `b` c', '\\`a ¤¤¤ c'],
    ['inline code that ends in a backslash', '`a\\` b `c`', '¤¤¤¤ b ¤¤¤'],
    ['a quote', 'a\n> b\n  > c\nd', 'a\n¤¤¤\n¤¤¤¤¤\nd'],
    ['a quote in a list', '- > b\nc', '¤¤¤¤¤\nc'],
    ['a heading', '# a\nb', '¤¤¤\nb'],
    ['a heading of nothing', '###\nb', '¤¤¤\nb'],
    ['no heading: no space', '#a', '#a'],
    ['an underlined heading of two lines', 'x\n\na\nb\n==\nc', 'x\n\n¤\n¤\n¤¤\nc'],
    ['no heading: an equals sign in a line', 'a\n= b', 'a\n= b'],
    ['no heading: underlined by ---', 'a\n---\nb', 'a\n---\nb'],
    ['a table', '| a | b |\n|---|---|\nc', '¤¤¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤¤¤\nc'],
    [
      'a table without outer bars',
      'x\na | b\n:--|--:\nc | d\n\ne',
      'x\n¤¤¤¤¤\n¤¤¤¤¤¤¤\n¤¤¤¤¤\n\ne',
    ],
    ['no table: bars in prose', 'a | b\nc | d', 'a | b\nc | d'],
    [
      'unticked boxes',
      '- [ ] a\n* [/] b\n1. [ ] c\n[ ] d\ne',
      '¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤¤\n¤¤¤¤¤\ne',
    ],
    ['what is indented under a box', '- [ ] a\n  b\n\n  c\n- d', '¤¤¤¤¤¤¤\n¤¤¤\n\n¤¤¤\n- d'],
    ['what is indented by a tab under a box', '  - [ ] a\n\tb\n  c', '¤¤¤¤¤¤¤¤¤\n¤¤\n  c'],
    ['no unticked box: ticked', '- [x] a\n- [X] b', '- [x] a\n- [X] b'],
    [
      'no unticked box: a link or a date',
      '- [a](b)\n- [2026-01-29] c\n- [] d',
      '- [a](b)\n- [2026-01-29] c\n- [] d',
    ],
    ['a comment', 'a <!-- b\n\n``` --> c', 'a ¤¤¤¤¤¤\n\n¤¤¤¤¤¤¤ c'],
    ['a comment of nothing', 'a <!--> b', 'a ¤¤¤¤¤ b'],
    ['a comment that is never closed', 'a\n\n<!-- b\n\nc', 'a\n\n¤¤¤¤¤¤\n\n¤'],
    ['no comment: never closed inside a line', 'a <!-- b\n\nc', 'a <!-- b\n\nc'],
    ['no comment: inside code', '`<!--` a\n\n-->', '¤¤¤¤¤¤ a\n\n-->'],
    ['HTML code', '<pre>a\n\nb</pre> c <code>d</code> e', '¤¤¤¤¤¤\n\n¤¤¤¤¤¤¤ c ¤¤¤¤¤¤¤¤¤¤¤¤¤¤ e'],
    ['HTML code in capitals', '<PRE class="x">a</PRE > b', `${'¤'.repeat(23)} b`],
    ['HTML code in a list, never closed', '- <pre>\na', '- ¤¤¤¤¤\n¤'],
    ['no HTML code: a longer name', '<prefix>a</prefix>', '<prefix>a</prefix>'],
    ['no HTML code: a name that is never closed', '<code> a\n\nb', '<code> a\n\nb'],
    ['no block behind a comment on its line', '<!-- a\n\n--> ```\nb', '¤¤¤¤¤¤\n\n¤¤¤ ```\nb'],
    ['inline code behind an escaped backslash', '\\\\`a` b', '\\\\¤¤¤ b'],
    ['no table: colons', 'a\n::\nb\n:|:\nc', 'a\n::\nb\n:|:\nc'],
    ['inline code above a table', '`x` y\nb | c\n--|--', '¤¤¤ y\n¤¤¤¤¤\n¤¤¤¤¤'],
    ['inline code that runs into a table', 'x `a\nb` | c\n--|--', 'x ¤¤\n¤¤¤¤¤¤\n¤¤¤¤¤'],
    ['backticks inside a comment do not pair', '<!-- ` --> a ` b', '¤¤¤¤¤¤¤¤¤¤ a ` b'],
  ])('%s', (_, text, expected) => {
    expect(prose(text)).toBe(expected);
  });
});

test.each<[string, NonProse | null]>([
  ['x', null],
  ['`x`', 'in-code'],
  ['<!--x-->', 'in-a-comment'],
  ['> x', 'in-a-quote'],
  ['# x', 'in-a-heading'],
  ['| x |', 'in-a-table'],
  ['- [ ] x', 'in-an-unticked-box'],
])('%j is masked as what it is', (text, why) => {
  expect(whyMasked(maskNonProse(text), text.indexOf('x'))).toBe(why);
});
