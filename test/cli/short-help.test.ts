import { describe, expect, test } from 'vitest';
import { shortHelp } from '../../src/cli/short-help.ts';
import { SETTINGS, settingNames } from '../../src/core/settings/settings.ts';

describe.for([[['-h']], [['run', '-h']], [['run', 'Fix it', '-h']]])('the help of %j', ([argv]) => {
  const text = shortHelp(argv ?? []) ?? '';

  test('fits on a screen', () => {
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.length).toBeLessThanOrEqual(40);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('has examples that may edit', () => {
    const examples = text.match(/^ {2}ralph run .*$/gm) ?? [];
    expect(examples).toHaveLength(1);
    for (const example of examples) expect(example).toContain(' --edit');
  });
});

test('the short help of run has flags that there are, each once', () => {
  const known = new Set(settingNames().map((name): string => SETTINGS[name].flag));
  const flags = shortHelp(['run', '-h'])?.match(/(?<=^ {2}(?:-n, )?)--[\w-]+/gm) ?? [];
  expect(flags.length).toBeGreaterThanOrEqual(12);
  expect(flags.length).toBeLessThanOrEqual(20);
  for (const flag of flags) expect(known).toContain(flag);
  expect(new Set(flags).size).toBe(flags.length);
});

test.for([[['--help']], [['run', '--help']], [['demo', '-h']], [[]]])(
  '%j has no short help',
  ([argv]) => {
    expect(shortHelp(argv ?? [])).toBeNull();
  },
);
