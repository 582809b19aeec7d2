import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/flags/flags.ts';
import { readResumeFlags } from '../../../src/cli/flags/resume-flags.ts';
import { whyNoPrompt } from '../../../src/cli/run/prompt-argument.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('the prompt can be an argument, wherever it stands', () => {
  for (const words of [
    ['Fix it all', '--json', '-n', '3'],
    ['--json', '-n', '3', 'Fix it all'],
    ['--json', 'Fix it all', '-n', '3', '--', '--model', 'x'],
  ]) {
    const { layer, problems, promptArgument } = readFlags(words);
    expect(problems).toEqual([]);
    expect(promptArgument).toBe('Fix it all');
    expect(layer.prompt).toEqual({
      value: 'Fix it all',
      source: { kind: 'flag', where: '--prompt' },
    });
    expect(layer.maxIterations?.value).toBe('3');
  }
});

test('several arguments are told to be put in quotes, and are no prompt', () => {
  const { promptArgument, problems } = readFlags(['Fix', 'it', '"all"', '--json']);
  expect(problems).toEqual([
    'ralph run expects the prompt as one argument, found 3: put it in quotes, as in ralph run "Fix it \\"all\\"".',
  ]);
  expect(promptArgument).toBeNull();
});

test.for([
  ['--prompt', 'x'],
  ['--prompt-file', 'x.md'],
])('an argument beside %s is one prompt too many', ([flag = '', value = '']) => {
  expect(readFlags([flag, value, 'Fix it']).problems).toEqual([
    `ralph run takes one prompt, found "Fix it" beside ${flag}: remove one of them.`,
  ]);
});

test('other commands take no prompt', () => {
  expect(readFlags(['Fix it'], 'rescue').problems).toEqual([
    expect.stringMatching(/^ralph rescue expects only flags; found 'Fix it'/),
  ]);
  expect(readResumeFlags(['nightly', 'Fix it'])).toMatchObject({
    ...{ taskId: 'nightly', promptArgument: null },
    problems: [expect.stringMatching(/^ralph resume expects only flags; found 'Fix it'/)],
  });
});

test('one word that is a file or an open task is hardly the prompt', async () => {
  const startDir = await tempFolder();
  writeFileSync(join(startDir, 'notes.md'), 'Fix it.');
  writeFileSync(join(startDir, 'Fix it'), '');
  mkdirSync(join(startDir, 'src'));
  const place = { startDir, name: 'run', isOpenTask: (id: string) => id === 'nightly' } as const;
  expect(whyNoPrompt('notes.md', place)).toContain(
    '\nto take it as a prompt: ralph run --prompt-file notes.md',
  );
  expect(whyNoPrompt('nightly', place)).toContain('\nto continue it: ralph resume nightly');
  expect(whyNoPrompt('src', place)).toBe(
    "'src' is a folder, and the prompt would be that one word.",
  );
  for (const prompt of ['Fix it', 'cleanup', 'x'.repeat(9_000), '', null]) {
    expect(whyNoPrompt(prompt, place)).toBeNull();
  }
});
