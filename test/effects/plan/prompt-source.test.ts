import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  fixedPrompt,
  PROMPT_MAX_BYTES,
  promptFile,
  promptProblem,
} from '../../../src/effects/plan/prompt-source.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const FIRST = Buffer.from('first');

async function stage() {
  const file = join(await tempFolder(), 'prompt.md');
  await writeFile(file, FIRST);
  const warnings: string[] = [];
  const source = promptFile(file, FIRST, (sentence) => warnings.push(sentence));
  const read = async () => Buffer.from(await source.read());
  return { file, warnings, read };
}

test('a prompt that was given stays as it is', async () => {
  const bytes = Buffer.from([0, 255, 13, 10]);
  expect(Buffer.from(await fixedPrompt(bytes).read()).equals(bytes)).toBe(true);
});

describe('a prompt file', () => {
  test('is read afresh each time, byte for byte', async () => {
    const { file, read, warnings } = await stage();
    expect((await read()).toString()).toBe('first');
    const edited = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x0d, 0x0a, 0x01]);
    await writeFile(file, edited);
    expect((await read()).equals(edited)).toBe(true);
    expect(warnings).toEqual([]);
  });

  const SPOILED: readonly [string, (file: string) => Promise<unknown>][] = [
    ['gone', (file) => rm(file)],
    ['empty', (file) => writeFile(file, '')],
    ['blank', (file) => writeFile(file, ' \r\n\t\n')],
    ['too long', (file) => writeFile(file, Buffer.alloc(PROMPT_MAX_BYTES + 1, 'x'))],
    ['a folder', (file) => rm(file).then(() => mkdir(file))],
  ];
  test.for(SPOILED)('that is %s now: the last text is used, and said', async ([, spoil]) => {
    const { file, read, warnings } = await stage();
    await writeFile(file, 'second');
    await read();
    await spoil(file);
    expect((await read()).toString()).toBe('second');
    expect(warnings).toEqual([expect.stringContaining(`The prompt file ${file} `)]);
    expect(warnings[0]).toMatch(/the last text of it is used\.$/);
    await rm(file, { recursive: true, force: true });
    await writeFile(file, 'third');
    expect((await read()).toString()).toBe('third');
    expect(warnings).toHaveLength(1);
  });

  test('that is spoiled before it was ever read: the text of the start is used', async () => {
    const { file, read } = await stage();
    await rm(file);
    expect((await read()).toString()).toBe('first');
  });
});

describe('a prompt', () => {
  test.for(['', ' ', '\n\r\n\t\v\f '])('of nothing (%j) is empty', (text) => {
    expect(promptProblem(Buffer.from(text))).toBe('is empty');
  });

  test.for(['x', ' x ', '\u0001', '-', '\uFEFF'])('of anything (%j) is none', (text) => {
    expect(promptProblem(Buffer.from(text))).toBe(null);
  });

  test('with a NUL byte is no text', () => {
    expect(promptProblem(Buffer.from('a\0b'))).toMatch(/^contains a NUL byte/);
  });

  test('may be 1 MB long and no longer', () => {
    expect(promptProblem(Buffer.alloc(1024 * 1024, 'x'))).toBe(null);
    expect(promptProblem(Buffer.alloc(1024 * 1024 + 1, 'x'))).toMatch(/1048577 bytes .*1 MB/);
  });
});
