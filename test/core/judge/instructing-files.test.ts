import { expect, test } from 'vitest';
import { instructionsOfStart, isInstructing } from '../../../src/core/judge/instructing-files.ts';

test.each([
  ['CLAUDE.md', true],
  ['docs/AGENTS.override.md', true],
  ['app/.claude/settings.json', true],
  ['claude.MD', true],
  ['.opencode/agent/a.md', true],
  ['opencode.jsonc', true],
  ['.env', true],
  ['app/.env.local', true],
  ['.agents/skills/a/SKILL.md', true],
  ['src/env.ts', false],
  ['.envrc', false],
  ['docs/claude.md.txt', false],
  ['src/agents.ts', false],
  ['codex/a.ts', false],
])('%s', (path, is) => {
  expect(isInstructing(path)).toBe(is);
});

test('puts back what instructed at the start, and leaves out what is new', () => {
  const start = new Map([
    ['CLAUDE.md', 'one'],
    ['GEMINI.md', 'same'],
    ['.mcp.json', 'gone'],
    ['a.ts', 'old'],
  ]);
  const claimed = new Map([
    ['CLAUDE.md', 'two'],
    ['GEMINI.md', 'same'],
    ['sub/AGENTS.md', 'new'],
    ['a.ts', 'new'],
  ]);
  expect(instructionsOfStart(start, claimed)).toEqual(
    new Map([
      ['CLAUDE.md', 'one'],
      ['.mcp.json', 'gone'],
      ['sub/AGENTS.md', null],
    ]),
  );
});
