import { describe, expect, test } from 'vitest';
import { shellWords } from '../../../src/core/settings/shell-words.ts';

describe('a command line', () => {
  test.for<[line: string, words: readonly string[]]>([
    ['', []],
    ['   ', []],
    ['codex exec -', ['codex', 'exec', '-']],
    ['  codex \t exec\n-  ', ['codex', 'exec', '-']],
    [`sh -c 'echo "hi there"'`, ['sh', '-c', 'echo "hi there"']],
    ['a "b c" d', ['a', 'b c', 'd']],
    [`a'b c'"d e"f`, ['ab cd ef']],
    [`''`, ['']],
    [`a "" ''`, ['a', '', '']],
    ['a\\ b', ['a b']],
    ['\\"a\\"', ['"a"']],
    [String.raw`"a\"b\\c\$d\`e"`, ['a"b\\c$d`e']],
    [String.raw`"a\nb\ c"`, ['a\\nb\\ c']],
    [String.raw`'a\b'`, ['a\\b']],
    [String.raw`'a\'b`, ['a\\b']],
    [String.raw`'a\\b\$c\"d'`, [String.raw`a\\b\$c\"d`]],
    ['a\\', ['a\\']],
    ['--x="a b"', ['--x=a b']],
    ['日本 "🚀 é"', ['日本', '🚀 é']],
    // A shell takes a line continuation out altogether, between words and within double quotes.
    ['a \\\n b', ['a', 'b']],
    ['a\\\nb', ['ab']],
    ['"a\\\nb"', ['ab']],
  ])('%o', ([line, words]) => {
    expect(shellWords(line)).toEqual(words);
  });

  test.for(['$HOME', '~', '*.md', '`id`', '$(id)', 'a;b', 'a|b', '>x', '&', '#a', '{a,b}', '!1'])(
    'is not expanded: %s',
    (word) => {
      expect(shellWords(`x ${word} y`)).toEqual(['x', word, 'y']);
    },
  );

  test.for([[`'`], [`"`], [`a 'b`], [`a "b'`], [`'a"`], ['"a\\"'], [`a b'`]] as const)(
    'has a quote that is not closed: %s',
    ([line]) => {
      expect(shellWords(line)).toBeNull();
    },
  );
});
