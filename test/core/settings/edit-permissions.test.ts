import { describe, expect, test } from 'vitest';
import type { AgentName } from '../../../src/core/agent/agents/agents.ts';
import {
  describeEdit,
  permissionsOf,
  remedyForRefused,
} from '../../../src/core/settings/edit-permissions.ts';

function settings(...lines: readonly string[]) {
  const verify = lines.map((command) => ({ name: command, command }));
  return { edit: true, permissionMode: null, allowedTools: ['Edit'], verify, until: null };
}

function rulesOf(agent: AgentName, ...lines: readonly string[]): readonly string[] {
  return permissionsOf(settings(...lines), agent).allowedTools.slice(1);
}

describe('the rules that --edit makes of a check', () => {
  const rows: readonly (readonly [line: string, ...rules: string[]])[] = [
    ['npm test', 'Bash(npm test:*)'],
    ['  npm   test ', 'Bash(npm test:*)'],
    ['make', 'Bash(make)'],
    ['./gradlew', 'Bash(./gradlew)'],
    ['cd web && npm test', 'Bash(cd web:*)', 'Bash(npm test:*)'],
    ['npm run lint; npm test || make', 'Bash(npm run lint:*)', 'Bash(npm test:*)', 'Bash(make)'],
    ['npm test && npm test', 'Bash(npm test:*)'],
    ['npm test 2>&1 | tail -5', 'Bash(npm test:*)', 'Bash(tail -5:*)'],
    ['CI=1 NODE_ENV=test npm test', 'Bash(npm test:*)'],
    ['! grep -r TODO src', 'Bash(grep -r TODO src:*)'],
    ['CI=1'],
    ['npm test > log'],
    ['npm test -- "a b"'],
    ["grep -q 'x' f"],
    ['ls *.ts'],
    ['ls f?.ts'],
    ['ls {a,b}'],
    ['test -n $HOME'],
    ['X=$(rm -rf /) npm test'],
    ['npm test `id`'],
    ['diff <(make a) b'],
    ['(cd web; make all)', 'Bash(cd web:*)', 'Bash(make all:*)'],
    ['node -e a,b'],
    ['if true; then npm test; fi'],
    ['while make'],
    ['[ -f x ]'],
    ['~/bin/check all'],
    ['@test'],
    ['npm test "'],
  ];
  test.for(rows)('%s', ([line, ...rules]) => {
    expect(rulesOf('claude', line)).toEqual(rules);
  });
});

test('each agent has rules of its own form, or none', () => {
  const lines = ['npm test', 'make', 'make all', 'npm run lint'];
  expect(rulesOf('qwen', ...lines)).toEqual(
    ['npm test', 'make all', 'npm run lint'].map((words) => `run_shell_command(${words})`),
  );
  expect(rulesOf('copilot', ...lines)).toEqual(['shell(npm test)']);
  for (const agent of ['codex', 'gemini', 'opencode'] as const) {
    expect(rulesOf(agent, ...lines)).toEqual([]);
    expect(permissionsOf(settings(), agent).permissionMode).toBe('acceptEdits');
  }
});

test('without --edit nothing follows from a check', () => {
  expect(permissionsOf({ ...settings('npm test'), edit: false }, 'claude')).toEqual({
    permissionMode: null,
    allowedTools: ['Edit'],
  });
});

test.for<[AgentName, string, string]>([
  ['claude', 'cd web && npm test', 'claude may edit files and run: cd web, npm test'],
  [
    'claude',
    'npm test | tee $LOG',
    "claude may edit files and run: npm test; no rule of claude allows just 'tee $LOG': add one with --allowed-tools",
  ],
  [
    'copilot',
    'make',
    "copilot may edit files; no rule of copilot allows just 'make': add one with --allowed-tools",
  ],
  ['codex', 'make', 'codex may edit files, and run any command in its own sandbox'],
])('what a person reads at the start: %s, %s', ([agent, line, words]) => {
  expect(describeEdit(settings(line), agent)).toBe(words);
});

describe('what allows refused calls', () => {
  const PLAIN = { ...settings('npm test'), edit: false, allowedTools: [] };
  test.for<[what: string, refused: string[], flags: string[], left?: string[]]>([
    ['a check', ['Bash: npm test', 'Bash: npm test'], ['--allowed-tools "Bash(npm test:*)"']],
    ['a check with more words', ['Bash: npm test -- x'], ['--allowed-tools "Bash(npm test:*)"']],
    ['another command, whole', ['Bash: npm install x'], ['--allowed-tools "Bash(npm install x)"']],
    ['another check', ['Bash: npm test:deploy'], ['--allowed-tools "Bash(npm test:deploy)"']],
    [
      'each part',
      ['Bash: cd a && npm test'],
      ['--allowed-tools "Bash(cd a)"', '--allowed-tools "Bash(npm test:*)"'],
    ],
    ['an edit', ['Edit: src/a.js'], ['--permission-mode acceptEdits']],
    ['no rule', ['Bash: echo "$HOME"'], [], ['Bash: echo "$HOME"']],
    ['a part without a rule', ['Bash: npm test > log'], [], ['Bash: npm test > log']],
    ['another tool', ['WebFetch: https://x'], [], ['WebFetch: https://x']],
  ])('%s', ([, refused, flags, left = []]) => {
    expect(remedyForRefused(refused, PLAIN, 'claude')).toEqual({ flags, left });
  });

  test('repeats what the task has, and adds nothing that it has', () => {
    const has = { ...PLAIN, allowedTools: ['Read'] };
    expect(remedyForRefused(['Bash: npm test'], has, 'claude').flags).toEqual([
      '--allowed-tools "Read"',
      '--allowed-tools "Bash(npm test:*)"',
    ]);
    const edit = { ...PLAIN, edit: true };
    expect(remedyForRefused(['Bash: npm test', 'Edit: a'], edit, 'claude').flags).toEqual([]);
  });
});
