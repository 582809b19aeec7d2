import { describe, expect, test } from 'vitest';
import { commandsIn } from '../../../src/core/agent/shell-commands.ts';

describe('the commands of a command line', () => {
  test.for<[line: string, commands: readonly string[]]>([
    ['git push', ['git push']],
    ['  git   push\t-f ', ['git push -f']],
    ['git push && npm test', ['git push', 'npm test']],
    ['git push||npm test', ['git push', 'npm test']],
    ['git push; npm test;', ['git push', 'npm test']],
    ['git push | tee log', ['git push', 'tee log']],
    ['git push |& tee log', ['git push', 'tee log']],
    ['git push & npm test', ['git push', 'npm test']],
    ['git push\nnpm test\n', ['git push', 'npm test']],
    ['git push \\\n --force', ['git push --force']],
    ['git push \\\n&& npm test', ['git push', 'npm test']],
    ['(cd a; git push)', ['cd a', 'git push']],
    ['git push $(npm test)', ['npm test', 'git push $(npm test)']],
    ['git push "$(npm test) x"', ['npm test', 'git push "$(npm test) x"']],
    ['git push `npm test` x', ['npm test', 'git push `npm test` x']],
    ['git push "`npm test`"', ['npm test', 'git push "`npm test`"']],
    ['git push <(npm test)', ['npm test', 'git push <(npm test)']],
    ['git push > >(npm test; a)', ['npm test', 'a', 'git push > >(npm test; a)']],
    ['a "$(b "$(c | d)")"', ['c', 'd', 'b "$(c | d)"', 'a "$(b "$(c | d)")"']],
    // Quoted, escaped, part of a redirection or in a comment: no operators.
    ["echo 'a && b | $(c) `d`; e & f'", ["echo 'a && b | $(c) `d`; e & f'"]],
    ['echo "a && b | (c); <<e & f # g"', ['echo "a && b | (c); <<e & f # g"']],
    ['echo "a \\"&& b\\" \\$(c)"', ['echo "a \\"&& b\\" \\$(c)"']],
    ['echo a \\&\\& b \\; \\| \\(c\\)', ['echo a \\&\\& b \\; \\| \\(c\\)']],
    ['git push 2>&1 >&2 &>log >|x <&3 <<<y', ['git push 2>&1 >&2 &>log >|x <&3 <<<y']],
    ['git push # && npm test', ['git push']],
    ["git push # don't\nnpm test # '", ['git push', 'npm test']],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['git push "${a}" ${b} $c', ['git push "${a}" ${b} $c']],
    ['echo "it\'s" && b', ['echo "it\'s"', 'b']],
    // A number sign inside a word begins no comment.
    ['git push a#b && npm test', ['git push a#b', 'npm test']],
    ['git push \\ # && npm test', ['git push \\ #', 'npm test']],
    ['git push ""# && npm test', ['git push ""#', 'npm test']],
    ['echo \\>& npm test', ['echo \\>', 'npm test']],
    ['', []],
    [' # nothing', []],
    [' ; ;\n', []],
  ])('%j', ([line, commands]) => {
    expect(commandsIn(line)).toEqual(commands);
  });

  test.for<[why: string, line: string]>([
    ['an open single quote', "git push 'a && b"],
    ['an open double quote', 'git push "a && b'],
    ['an open backtick', 'git push `a'],
    ['an open backtick in quotes', 'git push "`a"'],
    ['an open parenthesis', 'git push $(a'],
    ['an open subshell', '(git push'],
    ['a parenthesis that closes nothing', 'git push) && a'],
    ['an open quote inside', 'git push $(echo "a) b'],
    ['a backslash at the end', 'git push \\'],
    ['a here-document', "cat <<E\nit's\nE\nnpm test\ncat <<E\nit's\nE"],
    ['ANSI-C quotes', "git push $'\\'' && npm test # '"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['quotes in an expansion', 'git push "${x#\'"\'}" && npm test # "\'}'],
    ['a function', 'git() (npm test)'],
    ['a pattern for names', 'ls !(a)'],
    ['quotes in backticks', "git push `echo '`' && npm test # '`"],
    ['commands in backticks that are unclear', 'git push `a (b)`'],
  ])('are unknown if there is %s', ([, line]) => {
    expect(commandsIn(line)).toBeNull();
  });

  test('are read once, however deeply they are nested', () => {
    expect(commandsIn(`${'$('.repeat(1_000)}a`)).toBeNull();
    expect(commandsIn(`${'('.repeat(1_000)}a${')'.repeat(1_000)}`)).toEqual(['a']);
  });
});
