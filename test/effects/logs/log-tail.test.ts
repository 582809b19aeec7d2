import { appendFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openBoundedLog } from '../../../src/effects/logs/bounded-log.ts';
import { type LogTail, openLogTail } from '../../../src/effects/logs/log-tail.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

function readAll(tail: LogTail): string {
  let text = '';
  for (const piece of tail.pieces()) text += piece.toString();
  return text;
}

function opened(file: string): LogTail {
  const tail = openLogTail(file);
  if (tail === null) throw new Error(`${file} could not be opened`);
  return tail;
}

describe('a log that grows', () => {
  test('is read on from where it was', async () => {
    const file = join(await tempFolder(), 'log');
    writeFileSync(file, 'one ');
    const tail = opened(file);
    expect(readAll(tail)).toBe('one ');
    expect(readAll(tail)).toBe('');
    appendFileSync(file, 'two');
    expect(readAll(tail)).toBe('two');
    tail.close();
  });

  test('is no link and no folder', async () => {
    const folder = await tempFolder();
    writeFileSync(join(folder, 'log'), 'x');
    symlinkSync(join(folder, 'log'), join(folder, 'link'));
    for (const name of ['link', 'none', '.']) expect(openLogTail(join(folder, name))).toBeNull();
  });
});

describe('a log that comes to its limit', () => {
  const LIMIT = 1_000;
  const lines = (count: number, start = 0) =>
    Array.from({ length: count }, (_, n) => `${String(start + n).padStart(9, '0')}\n`).join('');

  /** Follows a log to which both texts are written, read in between. */
  async function followed(first: string, second: string): Promise<string> {
    const file = join(await tempFolder(), 'log');
    const log = openBoundedLog(pinFolder(dirname(file)), basename(file), LIMIT);
    log.write(Buffer.from(first));
    const tail = opened(file);
    let text = readAll(tail);
    log.write(Buffer.from(second));
    text += readAll(tail);
    log.close();
    text += readAll(tail);
    tail.close();
    return text;
  }

  test('goes on at its end with what was kept beside it', async () => {
    expect(await followed(lines(40), lines(30, 40))).toBe(lines(70));
    expect(await followed(lines(90), lines(10, 90))).toBe(lines(100));
  });

  test('says what was left out', async () => {
    const text = await followed(lines(50), lines(450, 50));
    expect(text.startsWith(lines(50))).toBe(true);
    expect(text.slice(500)).toMatch(/^\n\[ralph: \d+ bytes left out\]\n/);
    expect(text.endsWith(lines(50, 450))).toBe(true);
    expect(text.length).toBeLessThan(1_100);
  });

  test('goes on where a further attempt comes to it again', async () => {
    const file = join(await tempFolder(), 'log');
    const write = (text: string) => {
      const log = openBoundedLog(pinFolder(dirname(file)), basename(file), LIMIT);
      log.write(Buffer.from(text));
      log.close();
    };
    write(lines(60));
    const tail = opened(file);
    expect(readAll(tail)).toBe(lines(60));
    write(lines(20, 60));
    expect(readAll(tail)).toBe(lines(20, 60));
    tail.close();
  });
});
