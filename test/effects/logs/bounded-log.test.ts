import {
  appendFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  logEnd,
  logFiles,
  logReader,
  openBoundedLog,
} from '../../../src/effects/logs/bounded-log.ts';
import { pinFolder } from '../../../src/effects/trust/pinned-folder.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const LIMIT = 8 * 1024;

/** Lines of ten bytes with the numbers from `start` on. */
const lines = (count: number, start = 0) =>
  Array.from({ length: count }, (_, n) => `${String(start + n).padStart(9, '0')}\n`).join('');

async function logIn() {
  const folder = await tempFolder();
  const log = join(folder, 'log');
  const open = () => openBoundedLog(pinFolder(folder), 'log', LIMIT);
  return {
    folder,
    log,
    open,
    /** Writes one attempt, in pieces of a thousand lines. */
    write(text: string) {
      const opened = open();
      for (let at = 0; at < text.length; at += 10_000) {
        opened.write(Buffer.from(text.slice(at, at + 10_000)));
      }
      opened.close();
      return opened.openedAt;
    },
    textFrom: (from = 0) => textOf(logReader(from), log),
  };
}

function textOf(read: ReturnType<typeof logReader>, log: string): string {
  return [...read(log)].map(({ chunk }) => chunk.toString()).join('');
}

describe('a log', () => {
  test('is one file up to half of its limit, and in order by name beyond that', async () => {
    const { folder, write, textFrom } = await logIn();
    write(lines(LIMIT / 20));
    expect(readdirSync(folder)).toEqual(['log']);
    write(lines(300, LIMIT / 20));
    const names = readdirSync(folder).sort();
    expect(names).toEqual(['log', 'log.000000000004096', 'log.000000000006144']);
    const all = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
    expect(all).toBe(textFrom());
  });

  test.for([1, 2, 3])('keeps its head and its tail, also over %i attempts', async (attempts) => {
    const { log, write, textFrom } = await logIn();
    for (let n = 1; n <= attempts; n += 1) write(lines(10_000));
    expect(textFrom().startsWith(lines(LIMIT / 20))).toBe(true);
    expect(textFrom().endsWith(lines(200, 9_800))).toBe(true);
    const size = logFiles(log).reduce((sum, each) => sum + each.size, 0);
    expect(size).toBeLessThanOrEqual(LIMIT);
    expect(size).toBeGreaterThan(LIMIT * 0.7);
    expect(logEnd(log)).toBe(attempts * 100_000);
  });

  test('says once and to the byte how much it left out', async () => {
    const { log, write, textFrom } = await logIn();
    write(lines(10_000));
    const kept = logFiles(log).reduce((sum, each) => sum + each.size, 0);
    expect(textFrom().match(/\n\[ralph: \d+ bytes left out\]\n/g)).toEqual([
      `\n[ralph: ${100_000 - kept} bytes left out]\n`,
    ]);
  });

  test('has a position at which each attempt begins, whatever was left out before', async () => {
    const { write, textFrom } = await logIn();
    expect(write(lines(10_000))).toBe(0);
    expect(write(lines(10, 10_000))).toBe(100_000);
    expect(textFrom(100_000)).toBe(lines(10, 10_000));
    expect(write(lines(1_000, 10_010))).toBe(100_100);
    expect(textFrom(100_100).endsWith(lines(100, 10_910))).toBe(true);
  });

  test('goes on where a killed process stopped, even between two files', async () => {
    const { log, open, write, textFrom } = await logIn();
    // A process that is killed does not close the log.
    open().write(Buffer.from(lines(500)));
    expect(write(lines(10, 500))).toBe(5_000);
    expect(textFrom()).toBe(lines(510));
    open().write(Buffer.from(lines(400, 510)));
    rmSync(logFiles(log).at(-1)?.file ?? '');
    const at = logEnd(log);
    expect(write('more\n')).toBe(at);
    expect(textFrom(at)).toBe('more\n');
  });

  test('takes a limit of a byte for one of a few kilobytes', async () => {
    const folder = await tempFolder();
    const log = openBoundedLog(pinFolder(folder), 'log', 1);
    log.write(Buffer.from(lines(10_000)));
    log.close();
    expect(readdirSync(folder)).toHaveLength(3);
  });
});

describe('a reader of a log', () => {
  test('reads on from where it was, also while files come and go', async () => {
    const { log, open } = await logIn();
    const writer = open();
    const read = logReader();
    writer.write(Buffer.from(lines(400)));
    expect(textOf(read, log)).toBe(lines(400));
    expect(textOf(read, log)).toBe('');
    writer.write(Buffer.from(lines(300, 400)));
    expect(textOf(read, log)).toBe(lines(300, 400));
    writer.write(Buffer.from(lines(1_000, 700)));
    const rest = textOf(read, log);
    expect(rest).toMatch(/^\n\[ralph: \d+ bytes left out\]\n/);
    expect(rest.endsWith(lines(200, 1_500))).toBe(true);
    writer.close();
  });

  test('knows the position of what it reads', async () => {
    const { log, write } = await logIn();
    write(lines(10_000));
    for (const { chunk, at } of logReader()(log)) {
      const text = chunk.toString();
      if (text.startsWith('\n[ralph')) expect(at).toBe(LIMIT / 2);
      else expect(lines(10_000).slice(at, at + text.length)).toBe(text);
    }
  });

  test('reads no link, no folder, and nothing with another name', async () => {
    const { folder, log, textFrom } = await logIn();
    expect(textFrom()).toBe('');
    writeFileSync(join(folder, 'other'), 'x');
    symlinkSync(join(folder, 'other'), log);
    for (const name of ['log.1', 'log.000000000000001.old', 'log-000000000000001']) {
      appendFileSync(join(folder, name), 'x');
    }
    expect(textFrom()).toBe('');
    expect(logEnd(log)).toBe(0);
    expect([...logReader()(folder)]).toEqual([]);
  });
});
