import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/core/settings/duration.ts';
import { parseSize, parseValue } from '../../../src/core/settings/parse-value.ts';
import type { SettingRow } from '../../../src/core/settings/rows/setting-row.ts';
import { SETTINGS, settingNames } from '../../../src/core/settings/settings.ts';

const ROWS = settingNames().map((name): [string, SettingRow] => [name, SETTINGS[name]]);

function twice(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => words.indexOf(word) !== index);
}

/** What is wrong with a row's default; null if nothing is. */
function problemOf({ type, default: text, negation }: SettingRow): string | null {
  if (text === undefined) return null;
  switch (type.kind) {
    case 'text':
    case 'command':
    case 'texts':
    case 'checks':
      return text.trim() === '' ? 'empty' : null;
    case 'count':
      return /^\d+$/.test(text) && Number(text) >= type.min ? null : 'no count';
    case 'duration':
      return (parseDuration(text) ?? -1) >= type.minMs ? null : 'no duration';
    case 'size':
      return parseSize(text) === null ? 'no size' : null;
    case 'cost':
      return Number(text) > 0 ? null : 'no cost';
    case 'percent':
      return Number(text) >= 1 && Number(text) <= 100 ? null : 'no percent';
    case 'choice':
    case 'choices':
      return type.choices.includes(text) ? null : 'no choice';
    case 'agent-texts':
      return 'a text for an agent has none';
    case 'switch':
      // What is off needs no default, and what is on has a flag that turns it off.
      return text === 'true' && negation !== undefined ? null : 'a switch is off';
  }
}

describe('the table of settings', () => {
  test('has each flag, alias and short flag once', () => {
    const flags = ROWS.flatMap(([, { flag, aliases = [] }]) => [flag, ...aliases]);
    const letters = ROWS.flatMap(([, { short }]) => (short === undefined ? [] : [short]));
    expect(twice(flags)).toEqual([]);
    expect(twice(letters)).toEqual([]);
    // --help and --version are not in the table and keep their names.
    const taken = ['--help', '--version', '-h', '-V'];
    expect([...flags, ...letters].filter((word) => taken.includes(word))).toEqual([]);
  });

  test('names every row, in its order', () => {
    expect(settingNames()).toEqual(Object.keys(SETTINGS));
    expect(ROWS.length).toBeGreaterThan(20);
  });

  test.for(ROWS)('%s has the form of a flag', ([, { flag, aliases = [], short, help }]) => {
    for (const one of [flag, ...aliases]) expect(one).toMatch(/^--[a-z]+(-[a-z]+)*$/);
    if (short !== undefined) expect(short).toMatch(/^-[a-z]$/);
    expect(help.trim()).toBe(help);
    expect(help).not.toBe('');
  });

  test.for(ROWS)('%s takes an argument unless it is a switch', ([, { type, argument }]) => {
    expect(argument === undefined).toBe(type.kind === 'switch');
  });

  test.for(ROWS)('%s has no default or a valid one', ([, row]) => {
    expect(problemOf(row)).toBeNull();
  });

  test.for(
    ROWS.flatMap(([name, { type }]): [string, readonly string[]][] =>
      type.kind === 'choice' ? [[name, type.choices]] : [],
    ),
  )('%s offers each choice once', ([, choices]) => {
    expect(choices.length).toBeGreaterThan(1);
    expect(twice(choices)).toEqual([]);
  });
});

test.for([
  ['watchGlob', ['out/*.md', ' '], 'a pattern such as "out/*.md"'],
  ['watchFile', ' ', 'a file'],
  ['until', '', 'a shell command'],
  ['setup', ' ', 'a shell command'],
  ['after', '', 'a shell command'],
  ['onEnd', '\n', 'a shell command'],
  ['verify', '', 'a shell command'],
  ['verify', { unit: 'npm test', lint: ' ' }, 'a shell command'],
  ['signal', ['x', ''], 'the words that the agent has to state'],
  ['abortPromise', '', 'the words that the agent has to state'],
  ['criterion', ['x', ' '], 'what has to hold'],
  ['allowWrite', ' ', 'a path'],
  ['denyRead', '', 'a path'],
  ['allowRead', [''], 'a path'],
] as const)('a blank text is no value of %s: %j', ([name, written, what]) => {
  const problem = `expects ${what}; found an empty text`;
  expect(parseValue(SETTINGS[name].type, written)).toEqual({ problem });
});

describe('the defaults', () => {
  test.for([
    ['--max-iterations', '5'],
    ['--iteration-timeout', '180s'],
    ['--idle-timeout', undefined],
    ['--timeout', '30m'],
    ['--delay', '2s'],
    ['--retries', '5'],
    ['--max-wait', '6h'],
    ['--match', 'statement'],
    ['--agent', 'claude'],
    ['--context', 'last'],
    ['--context-chars', '20000'],
    ['--log-limit', '1GB'],
    ['--promise', undefined],
  ] as const)('of %s is %s', ([flag, expected]) => {
    const row = ROWS.find(([, one]) => one.flag === flag)?.[1];
    expect(row).toBeDefined();
    expect(row?.default).toBe(expected);
  });

  test.for([
    ['--max-iterations', 1],
    ['--context-chars', 1],
    ['--retries', 0],
  ] as const)('of %s is at least %i', ([flag, min]) => {
    const type = ROWS.find(([, one]) => one.flag === flag)?.[1].type;
    expect(type).toEqual({ kind: 'count', min });
  });

  test.for([
    ['--iteration-timeout', 1],
    ['--timeout', 1],
    ['--delay', 0],
    ['--max-wait', 0],
  ] as const)('of %s is at least %i ms', ([flag, minMs]) => {
    const type = ROWS.find(([, one]) => one.flag === flag)?.[1].type;
    expect(type).toEqual({ kind: 'duration', minMs });
  });
});
