import { describe, expect, test } from 'vitest';
import type { NonProse } from '../../../src/core/markdown/non-prose.ts';
import { maskNonProse, whyMasked } from '../../../src/core/markdown/prose.ts';

/** The text with `¤` for all that is masked. */
function prose(text: string): string {
  return maskNonProse(text).replace(/[\uE000-\uE00F]/g, '¤');
}

describe('maskNonProse masks text that is not prose, character by character', () => {
  test.for([
    ['a fence', 'a\n```js\nx y\n```\nb', 'a\n¤¤¤¤¤\n¤¤¤\n¤¤¤\nb'],
    ['a fence of tildes with backticks inside', '~~~\n```\n~~~\nb', '¤¤¤\n¤¤¤\n¤¤¤\nb'],
    ['a fence closed by more', '```\nx\n`````\nb', '¤¤¤\n¤\n¤¤¤¤¤\nb'],
    ['a fence not closed by fewer', '````\n```\nx\n````\nb', '¤¤¤¤\n¤¤¤\n¤\n¤¤¤¤\nb'],
    [
      'a fence inside a fence',
      '```md\n``` js\nx\n```\ny\n```\nb',
      '¤¤¤¤¤\n¤¤¤¤¤¤\n¤\n¤¤¤\n¤\n¤¤¤\nb',
    ],
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
    ['a quote', 'a\n> b\n  > c\n\nd', 'a\n¤¤¤\n¤¤¤¤¤\n\nd'],
    ['a quote that goes on without its sign', '> b\nc\n\nd', '¤¤¤\n¤\n\nd'],
    ['a quote in a list', '- > b\n- c', '¤¤¤¤¤\n- c'],
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
      '- [ ] a\n* [/] b\n1. [  ] c\n[ ] d\n☐ e\nf\n\ng',
      '¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤¤¤\n¤¤¤¤¤\n¤¤¤\n¤\n\ng',
    ],
    ['what is indented under a box', '- [ ] a\n  b\n\n  c\n- d', '¤¤¤¤¤¤¤\n¤¤¤\n\n¤¤¤\n- d'],
    ['what is indented by a tab under a box', '  - [ ] a\n\tb\n  - c', '¤¤¤¤¤¤¤¤¤\n¤¤\n  - c'],
    ['no unticked box: ticked', '- [x] a\n- [X] b', '- [x] a\n- [X] b'],
    [
      'no unticked box: a link or a date',
      '- [a](b)\n- [2026-01-29] c\n- [] d',
      '- [a](b)\n- [2026-01-29] c\n- [] d',
    ],
    ['a comment', 'a <!-- b\n\n``` --> c', 'a ¤¤¤¤¤¤\n\n¤¤¤¤¤¤¤ c'],
    ['a comment of nothing', 'a <!--> b', 'a ¤¤¤¤¤ b'],
    ['a comment that is never closed', 'a\n\n<!-- b\n\nc', 'a\n\n¤¤¤¤¤¤\n\n¤'],
    ['a comment that is never closed, inside a line', 'a <!-- b\n\nc', 'a ¤¤¤¤¤¤\n\n¤'],
    ['no comment: inside code', '`<!--` a\n\n-->', '¤¤¤¤¤¤ a\n\n-->'],
    ['HTML code', '<pre>a\n\nb</pre> c <code>d</code> e', '¤¤¤¤¤¤\n\n¤¤¤¤¤¤¤ c ¤¤¤¤¤¤¤¤¤¤¤¤¤¤ e'],
    ['HTML code in capitals', '<PRE class="x">a</PRE > b', `${'¤'.repeat(23)} b`],
    ['HTML code in a list, never closed', '- <pre>\na', '- ¤¤¤¤¤\n¤'],
    [
      'an element',
      'a <example x="y">b\n\nc</Example> d',
      `a ${'¤'.repeat(16)}\n\n${'¤'.repeat(11)} d`,
    ],
    ['an element that is never closed, to the end of its line', 'x <u8> a\n\nb', 'x ¤¤¤¤¤¤\n\nb'],
    ['a fence behind words', '<!-- a\n\n--> ```\nb', '¤¤¤¤¤¤\n\n¤¤¤ ¤¤¤\n¤'],
    ['inline code behind an escaped backslash', '\\\\`a` b', '\\\\¤¤¤ b'],
    ['no table: colons', 'a\n::\nb\n:|:\nc', 'a\n::\nb\n:|:\nc'],
    ['inline code above a table', '`x` y\nb | c\n--|--', '¤¤¤ y\n¤¤¤¤¤\n¤¤¤¤¤'],
    ['inline code that runs into a table', 'x `a\nb` | c\n--|--', 'x ¤¤\n¤¤¤¤¤¤\n¤¤¤¤¤'],
    ['backticks inside a comment do not pair', '<!-- ` --> a ` b', '¤¤¤¤¤¤¤¤¤¤ a ` b'],
    [
      'an element below its tag, never closed',
      'a\n<example>\nb\n\nc',
      `a\n${'¤'.repeat(9)}\n¤\n\n¤`,
    ],
    ['an element in itself', '<a>b<a>c</a>d</a>e', `${'¤'.repeat(17)}e`],
    ['no element: void or with its own end', 'a<br>b<x/>c</y>d', 'a<br>b<x/>c</y>d'],
    ['no element: the tags of the promise', '<promise>a</promise>', '<promise>a</promise>'],
    [
      'thinking, which ends in a line break',
      '<think>a\nb</think>c',
      `${'¤'.repeat(8)}\n${'¤'.repeat(8)}\nc`,
    ],
    ['thinking that only ends', 'a\n\nb</think>c', `¤\n\n${'¤'.repeat(8)}\nc`],
    ['thinking that is never closed', 'a <thinking> b\n\nc', `a ${'¤'.repeat(12)}\n\n¤`],
    [
      'thinking in other signs',
      '[THINK]a[/THINK]b ◁think▷c◁/think▷d',
      `${'¤'.repeat(15)}\nb ${'¤'.repeat(15)}\nd`,
    ],
    ['code by indentation', 'a\n\n    b\n\tc\nd', 'a\n\n¤¤¤¤¤\n¤¤\nd'],
    ['no code: indented below a paragraph', 'a\n    b', 'a\n    b'],
    ['a fence behind words, with a gap', 'a: ```\nb\n\nc\n```\nd', 'a: ¤¤¤\n¤\n\n¤\n¤¤¤\nd'],
    ['a diff', 'a\n\n@@ -1 +1,2 @@\n b\n+c\n\nd', `a\n\n${'¤'.repeat(13)}\n¤¤\n¤¤\n\nd`],
    ['a diff by its file names', '--- a/x\n+++ b/x\n y\nz', '¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤\n¤¤\nz'],
    ['a block of YAML', 'a: |\n  b\n\n  c\nd', '¤¤¤¤\n¤¤¤\n\n¤¤¤\nd'],
    ['JSON', '{\n  "a": [\n  ],\nb\n}\nc', '¤\n¤¤¤¤¤¤¤¤\n¤¤¤¤\n¤\n¤\nc'],
    ['JSON that begins on its first line', '{"a": 1,\n"b": 2}\n}\nc', '¤¤¤¤¤¤¤¤\n¤¤¤¤¤¤¤\n¤\nc'],
    ['code that opens a bracket', 'f() {\nb\n}\nc', '¤¤¤¤¤\n¤\n¤\nc'],
    ['a transcript', '$ a\nb\n \nc', '¤¤¤\n¤\n \nc'],
  ] as const)('%s', ([, text, expected]) => {
    expect(prose(text)).toBe(expected);
  });
});

test.for<[string, NonProse | null]>([
  ['x', null],
  ['`x`', 'in-code'],
  ['<!--x-->', 'in-a-comment'],
  ['> x', 'in-a-quote'],
  ['# x', 'in-a-heading'],
  ['| x |', 'in-a-table'],
  ['- [ ] x', 'in-an-unticked-box'],
  ['<think>x', 'in-thinking'],
  ['<details>x</details>', 'in-an-element'],
  ['{\nx\n}', 'in-data'],
  ['$ x', 'in-a-transcript'],
])('%j is masked with the right reason', ([text, why]) => {
  expect(whyMasked(maskNonProse(text), text.indexOf('x'))).toBe(why);
});
