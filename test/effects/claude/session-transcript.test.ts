import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lastMessageIn } from '../../../src/effects/claude/session-transcript.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const said = (id: string, text: string, more: object = {}): object => ({
  type: 'assistant',
  message: { id, role: 'assistant', content: [{ type: 'text', text }] },
  ...more,
});

async function transcript(...lines: readonly (object | string)[]): Promise<string> {
  const file = join(await tempFolder(), 'session.jsonl');
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  await writeFile(file, text.join('\n'));
  return file;
}

describe('the last message of a session', () => {
  test('is that of the main agent, all its texts together', async () => {
    const file = await transcript(
      said('1', 'First.'),
      { type: 'user', message: { role: 'user', content: 'DONE' } },
      said('2', 'Half'),
      said('2', 'and half.'),
      { type: 'system', content: 'DONE' },
    );
    expect(lastMessageIn(file)).toBe('Half\nand half.');
  });

  test("is no sub-agent's, and none of Claude Code's own", async () => {
    const file = await transcript(
      said('1', 'Mine.'),
      said('2', 'DONE', { isSidechain: true }),
      said('3', 'API Error: DONE', { isApiErrorMessage: true }),
    );
    expect(lastMessageIn(file)).toBe('Mine.');
  });

  test('is read past a torn line and lines of another kind', async () => {
    const file = await transcript('not json', said('1', 'Mine.'), '{"type":"assis');
    expect(lastMessageIn(file)).toBe('Mine.');
  });

  test('is none where there is no plain file', async () => {
    const folder = await tempFolder();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const name of ['nothing', 'pipe', '.']) {
      expect(lastMessageIn(join(folder, name))).toBeNull();
    }
  });

  test('is looked for at the end of a transcript of any size', async () => {
    const filler = said('0', 'x'.repeat(900_000));
    const file = await transcript(...Array.from({ length: 12 }, () => filler), said('1', 'Mine.'));
    expect(lastMessageIn(file)).toBe('Mine.');
  });
});
