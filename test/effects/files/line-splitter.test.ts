import { describe, expect, test } from 'vitest';
import { createLineSplitter } from '../../../src/effects/files/line-splitter.ts';

function collect(maxLineBytes?: number) {
  const lines: string[] = [];
  const skipped: number[] = [];
  const splitter = createLineSplitter({
    onLine: (line) => lines.push(line.toString()),
    onSkipped: (bytes) => skipped.push(bytes),
    maxLineBytes,
  });
  return { lines, skipped, splitter };
}

describe('createLineSplitter', () => {
  const text = Buffer.from('one\nzwei: äöü €\r\n\n🙂🙃\nlast');
  const expected = ['one', 'zwei: äöü €', '', '🙂🙃', 'last'];

  test('gives the same lines wherever the bytes are cut', () => {
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const { lines, splitter } = collect();
        splitter.push(text.subarray(0, first));
        splitter.push(text.subarray(first, second));
        splitter.push(text.subarray(second));
        splitter.end();
        expect(lines).toEqual(expected);
      }
    }
  });

  test('copies nothing of a line that lies in one piece, and keeps no view of the caller’s memory', () => {
    const { lines, splitter } = collect();
    const memory = Buffer.from('one\n');
    splitter.push(memory);
    expect(splitter.bufferedBytes).toBe(0);
    memory.set(Buffer.from('half'));
    splitter.push(memory);
    memory.fill('z');
    splitter.end();
    expect(lines).toEqual(['one', 'half']);
  });

  test('delivers a last line without a line end once, and nothing after a line end', () => {
    const { lines, splitter } = collect();
    splitter.push(Buffer.from('a\nb'));
    expect(lines).toEqual(['a']);
    splitter.end();
    splitter.end();
    expect(lines).toEqual(['a', 'b']);
  });

  test('delivers nothing for empty input', () => {
    const { lines, skipped, splitter } = collect();
    splitter.push(Buffer.alloc(0));
    splitter.end();
    expect({ lines, skipped }).toEqual({ lines: [], skipped: [] });
  });

  test('skips a line over the bound once, wherever it is cut, and reads the next', () => {
    const input = Buffer.from('12345678\n123456789\nok\n1234567890');
    for (let size = 1; size <= input.length; size += 1) {
      const { lines, skipped, splitter } = collect(8);
      for (let at = 0; at < input.length; at += size) {
        splitter.push(input.subarray(at, at + size));
        expect(splitter.bufferedBytes).toBeLessThanOrEqual(8);
      }
      splitter.end();
      expect({ size, lines, skipped }).toEqual({
        size,
        lines: ['12345678', 'ok'],
        skipped: [9, 10],
      });
    }
  });

  test('never holds more than the bound of an endless line', () => {
    const { lines, skipped, splitter } = collect();
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    let most = 0;
    for (let mebibytes = 0; mebibytes < 40; mebibytes += 1) {
      splitter.push(chunk);
      most = Math.max(most, splitter.bufferedBytes);
    }
    expect(most).toBe(16 * 1024 * 1024);
    expect(splitter.bufferedBytes).toBe(0);
    splitter.push(Buffer.from('\nnext\n'));
    expect(lines).toEqual(['next']);
    expect(skipped).toEqual([40 * 1024 * 1024]);
  });

  test('gives back what a long line made it allocate', () => {
    const { lines, splitter } = collect();
    splitter.push(Buffer.alloc(4 * 1024 * 1024, 'x'));
    splitter.push(Buffer.alloc(1024 * 1024, 'x'));
    expect(splitter.bufferedBytes).toBeGreaterThanOrEqual(5 * 1024 * 1024);
    splitter.push(Buffer.from('\n'));
    expect(lines[0]).toHaveLength(5 * 1024 * 1024);
    expect(splitter.bufferedBytes).toBe(0);
  });
});
