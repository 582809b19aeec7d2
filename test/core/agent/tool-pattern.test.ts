import { describe, expect, test } from 'vitest';
import { isAccepted } from '../../../src/core/agent/tool-pattern.ts';
import { refusedTool } from '../../helpers/attempt-facts.ts';
import { expectLinear, LENGTHS } from '../../helpers/growth.ts';

describe('a refusal that the user accepts', () => {
  test.for<[pattern: string, tool: string, target: string]>([
    ['*', 'Bash', 'rm -rf build'],
    ['*', 'WebSearch', ''],
    ['Bash', 'Bash', 'git push'],
    ['Bash', 'Bash', ''],
    ['Bash(*)', 'Bash', 'git push'],
    ['Bash()', 'Bash', ''],
    ['Bash(git push:*)', 'Bash', 'git push'],
    ['Bash(git push:*)', 'Bash', 'git push --force origin main'],
    ['Bash(git push)', 'Bash', 'git push'],
    ['Bash(npm run *)', 'Bash', 'npm run test'],
    ['Edit(docs/**)', 'Edit', 'docs/api/a.md'],
    ['Read(./.env)', 'Read', './.env'],
    ['mcp__github__*', 'mcp__github__create_issue', ''],
    ['Bash(echo "a.b?")', 'Bash', 'echo "a.b?"'],
    ['Bash(cat *)', 'Bash', 'cat a\ncat b'],
    ['Read,Bash(git push:*)', 'Bash', 'git push'],
    ['Read Bash(git push:*)', 'Bash', 'git push'],
    ['Read, Bash(git commit:*), Bash(git push:*)', 'Bash', 'git push'],
    // Each command is covered by one of them.
    ['Bash(git commit:*), Bash(git push:*)', 'Bash', 'git commit -m "a; b" && git push 2>&1'],
    ['Bash(git push:*)', 'Bash', 'git push origin a; git push origin b'],
    ['Bash(git push:*)', 'Bash', 'git push -o "a && b"'],
    ['Bash(git push:*),Bash(git branch:*)', 'Bash', 'git push origin $(git branch --show-current)'],
    // This very line, or whatever the tool does.
    ['Bash(git push && npm test)', 'Bash', 'git push && npm test'],
    ['Bash', 'Bash', 'git push && npm test'],
    ['Bash(*)', 'Bash', "git push && cat <<'E'\nx\nE"],
    ['*', 'Bash', 'git push | tee log'],
  ])('%s covers %s (%s)', ([pattern, tool, target]) => {
    expect(isAccepted(refusedTool(tool, target), [pattern])).toBe(true);
  });

  test.for<[pattern: string, tool: string, target: string]>([
    ['Bash', 'Write', 'a.txt'],
    ['Bash', 'BashOutput', ''],
    ['bash', 'Bash', 'git push'],
    ['Read', 'Bash', 'Read'],
    ['Bash(git push)', 'Bash', 'git push --force'],
    ['Bash(git push:*)', 'Bash', 'git pushy'],
    ['Bash(git push:*)', 'Bash', 'echo git push'],
    ['Bash(git push:*)', 'Write', 'git push'],
    ['Bash(npm run *)', 'Bash', 'npm install'],
    ['Edit(docs/**)', 'Edit', 'src/docs/a.md'],
    ['Bash(aa*aa)', 'Bash', 'aaa'],
    ['Bash(a*b*c)', 'Bash', 'a c b'],
    // A dot is a dot, and no pattern is a regular expression.
    ['Read(a.b)', 'Read', 'axb'],
    ['.*', 'Bash', ''],
    ['Bas[gh]', 'Bash', ''],
    ['mcp__github__*', 'mcp__gitlab__create_issue', ''],
    // Inside parentheses a comma parts nothing.
    ['Bash(a, Write)', 'Write', ''],
    ...[
      'git push && npm test',
      'npm test && git push',
      'git push || npm test',
      'git push; npm test',
      'git push | npm test',
      'git push & npm test',
      'git push\nnpm test',
      'git push $(npm test)',
      'git push "$(npm test)"',
      'git push `npm test`',
      'git push <(npm test)',
      'git push > >(npm test)',
      'git push "a" && npm test "b"',
      `git push ${'a'.repeat(300)} && npm test`,
      "git push 'a && npm test",
      'git push <<E\nE\nnpm test',
      '# git push',
    ].map((line): [string, string, string] => ['Bash(git push:*)', 'Bash', line]),
    ['Bash(git push *)', 'Bash', 'git push origin && npm test'],
    ['Bash(git push && npm:*)', 'Bash', 'git push && npm test'],
    ['', 'Bash', ''],
    [' , ', 'Bash', ''],
    ['(x)', 'Bash', 'x'],
  ])('%s does not cover %s (%s)', ([pattern, tool, target]) => {
    expect(isAccepted(refusedTool(tool, target), [pattern])).toBe(false);
  });

  test('is covered by one of several patterns, but not by an empty list', () => {
    const push = refusedTool('Bash', 'git push');
    expect(isAccepted(push, ['Read', 'Bash(git push:*)'])).toBe(true);
    expect(isAccepted(push, [])).toBe(false);
  });

  test('with a command that is too long is accepted only by a pattern for the whole tool', () => {
    const long = { ...refusedTool('Bash', 'git push …'), command: '' };
    expect(isAccepted(long, ['Bash(git push:*)', 'Bash(git push …)', 'Bash()'])).toBe(false);
    expect(isAccepted(long, ['Bash'])).toBe(true);
  });

  test('takes a time that grows with the length of a hostile name', () => {
    const look = (name: string) => isAccepted(refusedTool(name, 'b'), [`${'*a'.repeat(4)}*x`]);
    expectLinear(look, ['a'], [1 << 12, ...LENGTHS]);
  });
});
