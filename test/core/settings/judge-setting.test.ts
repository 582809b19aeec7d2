import { expect, test } from 'vitest';
import { judgeProblems } from '../../../src/core/settings/judge-setting.ts';
import { resolveSettings } from '../../../src/core/settings/resolve-settings.ts';
import { layerOf } from '../../../src/core/settings/setting-source.ts';
import { SETTINGS, type SettingName } from '../../../src/core/settings/settings.ts';

function problems(values: Partial<Record<SettingName, unknown>>): readonly string[] {
  const flags = layerOf(values, (name) => ({ kind: 'flag', where: SETTINGS[name].flag }));
  return judgeProblems(resolveSettings([flags]));
}

test('what goes together has no problem', () => {
  const command = { judge: 'command', judgeCommand: "sh -c 'x'" };
  for (const values of [{}, { judge: 'codex:gpt-5', criterion: ['x'] }, command])
    expect(problems(values)).toEqual([]);
});

test.for<[values: Partial<Record<SettingName, unknown>>, sentence: string]>([
  [
    { judge: 'gpt' },
    "--judge expects claude, codex, gemini, opencode, qwen, command, with :MODEL after it or without; found 'gpt'.",
  ],
  [
    { judge: 'copilot' },
    "--judge expects claude, codex, gemini, opencode, qwen, command, with :MODEL after it or without; found 'copilot'; nobody has tried yet how that agent is kept from writing.",
  ],
  [{ judge: 'codex:-x' }, "--judge expects no model that begins with a dash; found '-x'."],
  [{ judge: 'command:x', judgeCommand: 'x' }, "--judge command takes no model; found 'x'."],
  [
    { judge: 'command' },
    '--judge command needs --judge-command "PROGRAM ARGUMENTS", and none was given.',
  ],
  [
    { judge: 'command', judgeCommand: "sh 'x" },
    "--judge-command has a quote that is not closed: sh 'x",
  ],
  [
    { judge: 'codex', judgeCommand: 'x' },
    '--judge-command goes with --judge command; found --judge codex.',
  ],
  [{ judgeCommand: 'x' }, '--judge-command needs --judge, and it was not given.'],
  [{ criterion: ['x'] }, '--criterion needs --judge, and it was not given.'],
  [
    { judge: 'codex', criterion: Array.from({ length: 101 }, () => 'x') },
    '--criterion expects at most 100 criteria; found 101.',
  ],
  [
    { judge: 'codex', snapshots: false },
    '--judge and --snapshots exclude each other: the judge reads a checkout that is made from the snapshot of the claim.',
  ],
])('%j is one problem', ([values, sentence]) => {
  expect(problems(values)).toEqual([sentence]);
});
