import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createPlainLog, createReadableLog } from '../../../src/effects/claude/readable-log.ts';
import { logText } from '../../../src/report/screens/logs.ts';

const TRANSCRIPTS = join(import.meta.dirname, '../../fixtures/transcripts');

function shown(text: string | Buffer, pieceBytes = 7): string {
  const log = createReadableLog();
  const bytes = Buffer.from(text);
  let out = '';
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    out += log
      .push(bytes.subarray(at, at + pieceBytes))
      .map(logText)
      .join('');
  }
  return out + log.end().map(logText).join('');
}

const transcript = (name: string) => readFileSync(join(TRANSCRIPTS, `${name}.jsonl`));

describe('what claude wrote', () => {
  test('is its text, its tool calls, and the cost', () => {
    expect(shown(transcript('tool-then-promise'))).toBe(
      [
        'I will write it.',
        '> Bash: echo hello > out.txt && cat out.txt',
        'All good.',
        '',
        '<promise>DONE</promise>',
        '= success, 2 turns, $0.0125',
        '',
      ].join('\n'),
    );
  });

  test.for([1e308, -1])('has no cost of %d', (cost) => {
    const report = { type: 'result', subtype: 'success', num_turns: 2, total_cost_usd: cost };
    expect(shown(`${JSON.stringify(report)}\n`)).toBe('= success, 2 turns\n');
  });

  test('has the errors of tools, in short', () => {
    expect(shown(transcript('failed-tool-then-text'))).toContain('! Exit code 3 broken\n');
  });

  test('has no word of a sub-agent', () => {
    const line = (parent: string | null) =>
      JSON.stringify({
        type: 'assistant',
        parent_tool_use_id: parent,
        message: {
          id: 'm',
          content: [
            { type: 'text', text: `text of ${parent}` },
            { type: 'tool_use', id: 't', name: 'Read', input: { file_path: `${parent}.ts` } },
          ],
        },
      });
    expect(shown(`${line(null)}\n${line('toolu_1')}\n`)).toBe(
      'text of null\n> Read: null.ts\n> Read: toolu_1.ts\n',
    );
  });

  test('shows the words of a report that nobody else has spoken', () => {
    const report = { type: 'result', subtype: 'success', is_error: true, result: 'Not logged in' };
    expect(shown(JSON.stringify(report))).toBe('Not logged in\n= error\n');
  });

  test.for(['transcripts of all kinds'])('reads %s', () => {
    for (const name of ['api-retry-then-promise', 'thinking-then-text', 'killed-in-tool']) {
      expect(shown(transcript(name))).not.toContain('"type"');
    }
  });

  test('says where an event broke off', () => {
    expect(shown('{"type":"assistant","message":{"id"')).toBe('[this line is incomplete]\n');
  });
});

describe('what another agent wrote', () => {
  test.for([
    'plain\ntext\n',
    '{"type":"log","level":"info"}\n',
    '{"type":"assistant"}\n',
    '{"a":1}\n[1]\n',
    '\n\n  indented\n',
    '{ not json\n',
  ])('stays as it is: %j', (text) => {
    expect(shown(text)).toBe(text);
  });

  test('is without what could act on a terminal', () => {
    expect(shown('\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u009b2J\u202e\n')).toBe('red x\n');
    const [item] = createPlainLog().push(Buffer.from('\u001b[2Jerr\n'));
    expect(item).toEqual({ kind: 'line', text: 'err' });
  });

  test('is without a line of more than 16 MB, which is said', () => {
    const log = createReadableLog();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const items = Array.from({ length: 17 }, () => log.push(piece)).flat();
    items.push(...log.push(Buffer.from('\nnext\n')));
    expect(items.map(logText).join('')).toBe(
      '[a line of 17.0 MB was left out; --raw shows it]\nnext\n',
    );
  });
});
