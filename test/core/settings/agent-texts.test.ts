import { expect, test } from 'vitest';
import { parseValue } from '../../../src/core/settings/parse-value.ts';

test.for<[written: unknown, texts: readonly string[]]>([
  ['claude=opus,codex=gpt-5', ['claude=opus', 'codex=gpt-5']],
  ['claude=opus, codex=gpt-5', ['claude=opus', 'codex=gpt-5']],
  [
    ['claude=opus,codex=gpt-5', 'qwen=m'],
    ['claude=opus', 'codex=gpt-5', 'qwen=m'],
  ],
  ['codex=/opt/a,b/codex', ['codex=/opt/a,b/codex']],
  ['opus,codex=gpt-5', ['opus,codex=gpt-5']],
])('%j has a text for each agent that it names', ([written, texts]) => {
  expect(parseValue({ kind: 'agent-texts' }, written)).toEqual({ value: texts });
});
