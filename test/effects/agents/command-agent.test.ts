import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Activity } from '../../../src/core/machine/events.ts';

import { locate } from '../../../src/effects/agents/agent.ts';
import { commandAgent } from '../../../src/effects/agents/command-agent.ts';
import { commandOptions } from '../../helpers/agent-options.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A start like any other. */
const PLAIN_TURN = { resumeSession: null, budgetUsd: null };

const MB = 1024 * 1024;

/** An agent of these words, found as a run would find it. */
function found(words: readonly string[], more: Parameters<typeof commandOptions>[1] = {}) {
  const options = commandOptions(words, { env: { PATH: '/usr/bin:/bin' }, ...more });
  return locate(commandAgent(options), PLAIN_TURN, options);
}

/** Reads output that comes in these pieces. */
function read(...chunks: readonly (Buffer | string)[]) {
  const texts: string[] = [];
  const activities: Activity[] = [];
  let working = 0;
  const reader = commandAgent(commandOptions(['sh'])).read(
    {
      activity: (activity) => activities.push(activity),
      retry() {},
      did() {},
      text: (text) => texts.push(text),
    },
    {
      resultGiven() {},
      retrying() {},
      working() {
        working += 1;
      },
      hopeless: () => true,
    },
  );
  for (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    reader.push(bytes);
    // Whoever handed it over may use its memory again.
    bytes.fill('!');
  }
  reader.end();
  return { ...reader.facts(), texts, activities, working };
}

describe('how a command is started', () => {
  test('as words, what stands after -- at their end', async () => {
    const words = ['sh', '-c', 'a "b c" $d', '*'];
    expect(found(words, { passthrough: ['--x', ''] })).toEqual({
      file: '/usr/bin/sh',
      args: ['-c', 'a "b c" $d', '*', '--x', ''],
    });
  });

  test('by a path from the working folder', async () => {
    const cwd = await tempFolder();
    await writeFile(join(cwd, 'my agent'), '', { mode: 0o755 });
    expect(found(['./my agent'], { cwd })).toEqual({
      file: join(cwd, 'my agent'),
      args: [],
    });
  });

  test('not if it is nowhere, and it is said where it was looked for', async () => {
    const PATH = await tempFolder();
    await symlink('/nowhere', join(PATH, 'my-agent'));
    expect(found(['my-agent'], { env: { PATH } })).toEqual({
      missing: `my-agent was not found in ${PATH}`,
    });
    expect(found(['/nowhere/agent'])).toEqual({
      missing: expect.stringContaining('/nowhere/agent'),
    });
  });
});

describe('what its output says', () => {
  test('is the final message, as it is', () => {
    const facts = read('  One\r\n', '\ttwo\u001b[1m\n\n');
    expect(facts.finalMessage).toBe('  One\r\n\ttwo\u001b[1m\n\n');
    expect(facts.partialOutput).toBe(facts.finalMessage);
    expect(facts).toMatchObject({ result: null, usage: { cost_usd: 0 }, endedInRetry: false });
  });

  test.for([[[]], [['']], [[' \n', '\t\r\n']]] as const)(
    'is nothing if there is nothing (%j)',
    ([chunks]) => {
      expect(read(...chunks).finalMessage).toBe(null);
    },
  );

  test('is whole wherever it was cut', () => {
    const text = 'é€\u{1F600}';
    const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    expect(read(...bytes).finalMessage).toBe(text);
  });

  test('is shown as whole characters, wherever it was cut', () => {
    const text = 'é€\u{1F600}\n';
    const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
    expect(read(...bytes).texts.join('')).toBe(text);
  });

  test('keeps its last 1 MB', () => {
    const { finalMessage } = read('first', Buffer.alloc(MB - 4, 'x'), 'last');
    expect(finalMessage).toBe(`${'x'.repeat(MB - 4)}last`);
    expect(read(Buffer.alloc(MB, 'x')).finalMessage).toHaveLength(MB);
  });

  test.for([0, 1, 2, 3])('begins with a whole character (%i bytes before it)', (before) => {
    const { finalMessage } = read('a'.repeat(before), '\u{1F600}'.repeat(MB / 4), '');
    expect(finalMessage).not.toContain('\uFFFD');
    expect(finalMessage?.startsWith('\u{1F600}') || before > 0).toBe(true);
    const { finalMessage: cut } = read('\u{1F600}'.repeat(MB / 4), 'a'.repeat(before));
    expect(cut).not.toContain('\uFFFD');
    expect(Buffer.byteLength(cut ?? '')).toBeLessThanOrEqual(MB);
    expect(Buffer.byteLength(cut ?? '')).toBeGreaterThan(MB - 4);
  });

  test('keeps it also where it comes in many small pieces', () => {
    const line = `${'y'.repeat(99)}\n`;
    const { finalMessage } = read(...Array.from({ length: 20_000 }, () => line));
    expect(finalMessage).toHaveLength(MB);
    expect(finalMessage?.endsWith(line)).toBe(true);
  });

  test('leaves the end of it to the next iteration where it was cut off', () => {
    const { partialOutput } = read(Buffer.alloc(MB, 'x'), ' the end');
    expect(partialOutput).toHaveLength(64 * 1024);
    expect(partialOutput.endsWith(' the end')).toBe(true);
    // An odd number of halves: a cut by length alone falls inside a character.
    const { partialOutput: faces } = read('\u{1F600}'.repeat(100_000), 'a');
    expect(/^[\uDC00-\uDFFF]/.test(faces)).toBe(false);
  });

  test('is told in whole lines, and what is left at its end', () => {
    expect(read('a', 'b\nc', 'd\r', 'e').texts).toEqual(['ab\n', 'cd\r', 'e']);
    const long = 'x'.repeat(70_000);
    expect(read(long, 'y').texts).toEqual([long, 'y']);
  });

  test('is activity: the first words of each piece', () => {
    const { activities, working } = read('\n\n  Thinking\nhard', ' \n', `${'w'.repeat(500)}\n`);
    expect(activities).toEqual([
      { kind: 'text', text: 'Thinking' },
      { kind: 'text', text: 'hard' },
      { kind: 'text', text: `${'w'.repeat(119)}…` },
    ]);
    expect(working).toBe(3);
  });
});
