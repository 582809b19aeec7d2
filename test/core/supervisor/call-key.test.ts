import { expect, test } from 'vitest';
import { callKey } from '../../../src/core/supervisor/call-key.ts';
import { expectLinear } from '../../helpers/growth.ts';

type Call = readonly [tool: string, input: Readonly<Record<string, unknown>> | null];

test.for<[string, Call, Call]>([
  [
    'the description of a command',
    ['Bash', { command: 'npm test', description: 'Run the tests' }],
    ['Bash', { command: 'npm test', description: 'Try once more' }],
  ],
  [
    'everything else beside a command',
    ['run_shell_command', { command: 'npm test', timeout: 1 }],
    ['run_shell_command', { command: 'npm test', timeout: 2 }],
  ],
  [
    'the white space of a command',
    ['bash', { command: '  npm \n\t test\n' }],
    ['bash', { command: 'npm test' }],
  ],
  [
    'the order of fields',
    ['Grep', { pattern: 'a', path: 'src', options: { deep: true, max: 1 } }],
    ['Grep', { options: { max: 1, deep: true }, path: 'src', pattern: 'a' }],
  ],
])('does not depend on %s', ([, one, other]) => {
  expect(callKey(...one)).toBe(callKey(...other));
});

test.for<[string, Call, Call]>([
  ['the tool', ['Read', { file_path: 'a' }], ['Edit', { file_path: 'a' }]],
  ['numbers in a command', ['Bash', { command: 'test 1' }], ['Bash', { command: 'test 2' }]],
  ['the case of a command', ['Bash', { command: 'ls A' }], ['Bash', { command: 'ls a' }]],
  ['a field', ['Read', { file_path: 'a' }], ['Read', { file_path: 'a', offset: 1 }]],
  ['the name of a field', ['Find', { name: 'a' }], ['Find', { path: 'a' }]],
  ['where a text ends', ['Set', { to: ['astringb', 'c'] }], ['Set', { to: ['a', 'bstringc'] }]],
  ['the type of a value', ['Set', { to: 1 }], ['Set', { to: '1' }]],
  ['what is nothing', ['Set', { to: null }], ['Set', { to: {} }]],
  ['where a list ends', ['Set', { to: [['a'], 'b'] }], ['Set', { to: [['a', 'b']] }]],
  ['the order in a list', ['Set', { to: ['a', 'b'] }], ['Set', { to: ['b', 'a'] }]],
  ['whether there is an input', ['Look', null], ['Look', {}]],
  [
    'the white space of an edit, which is its indentation',
    ['Edit', { file_path: 'a.py', new_string: '  return' }],
    ['Edit', { file_path: 'a.py', new_string: '    return' }],
  ],
  [
    'what an editor writes, whose command is a verb',
    ['str_replace_editor', { command: 'create', path: 'a', file_text: '1' }],
    ['str_replace_editor', { command: 'create', path: 'a', file_text: '2' }],
  ],
  [
    'what any other tool acts on, whose command is a verb',
    ['mcp__browser__do', { command: 'click', selector: '#a' }],
    ['mcp__browser__do', { command: 'click', selector: '#b' }],
  ],
])('depends on %s', ([, one, other]) => {
  expect(callKey(...one)).not.toBe(callKey(...other));
});

test('tells many calls apart, as whole numbers that are exact', () => {
  const keys = new Set<number>();
  for (let n = 0; n < 200_000; n += 1) keys.add(callKey('Bash', { command: `test ${n}` }));
  expect(keys.size).toBe(200_000);
  expect([...keys].every((key) => Number.isSafeInteger(key) && key >= 0)).toBe(true);
});

test.for<[string, (bulk: string) => Call]>([
  ['command', (command) => ['Bash', { command }]],
  ['text', (content) => ['Write', { file_path: 'a', content }]],
  ['list', (bulk) => ['Set', { to: bulk.split(' ') }]],
])('reads a long %s once', ([, call]) => {
  expectLinear((bulk) => callKey(...call(bulk)), ['a \t\n']);
});

test('the same command in another folder is another call', () => {
  const inFolder = (directory?: string) =>
    callKey('run_shell_command', { command: 'npm test', ...(directory && { directory }) });
  expect(new Set([inFolder('a'), inFolder('b'), inFolder()]).size).toBe(3);
  expect(inFolder('a')).toBe(inFolder('a'));
});
