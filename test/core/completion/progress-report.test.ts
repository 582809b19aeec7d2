import { describe, expect, test } from 'vitest';
import { readProgressReport } from '../../../src/core/completion/progress-report.ts';
import { expectLinear } from '../../helpers/growth.ts';

const report = (done: number, total: number, step: string) => ({ done, total, step });

describe('a report is read', () => {
  test.for([
    ['as it is asked for', '<progress done="2" total="5">step</progress>', report(2, 5, 'step')],
    ['in any order', '<progress total="5" done="2">step</progress>', report(2, 5, 'step')],
    ['with single quotes', "<progress done='2' total='5'>step</progress>", report(2, 5, 'step')],
    ['with space', '<progress  done = " 2 "\n total="5" >step</progress >', report(2, 5, 'step')],
    ['with more attributes', '<progress id="a" done="2" total="5">s</progress>', report(2, 5, 's')],
    ['at the beginning and the end', '<progress done="0" total="1"></progress>', report(0, 1, '')],
    ['when all is done', '<progress done="5" total="5">a</progress>', report(5, 5, 'a')],
    ['inside a sentence', 'So <progress done="1" total="2">a</progress>, on.', report(1, 2, 'a')],
    ['in a list', '- <progress done="1" total="2">a</progress>', report(1, 2, 'a')],
    [
      'broken over lines',
      '<progress done="1" total="2">\n a\n b\n</progress>',
      report(1, 2, 'a b'),
    ],
    [
      'the last of several',
      '<progress done="1" total="3">a</progress>\n\n<progress done="2" total="3">b</progress>',
      report(2, 3, 'b'),
    ],
    [
      'the last that makes sense',
      '<progress done="1" total="3">a</progress>\n<progress done="4" total="3">b</progress>',
      report(1, 3, 'a'),
    ],
    [
      'behind one that is not closed',
      '<progress done="1" total="3">\n<progress done="2" total="3">b</progress>',
      report(2, 3, 'b'),
    ],
    [
      'and not the later one in code',
      '<progress done="1" total="3">a</progress>\n\n```\n<progress done="2" total="3">b</progress>\n```',
      report(1, 3, 'a'),
    ],
    [
      'with colour codes',
      '\x1b[1m<progress done="1" total="2">\x1b[31ma\x07b\x1b[0m</progress>',
      report(1, 2, 'ab'),
    ],
  ] as const)('%s', ([, message, expected]) => {
    expect(readProgressReport(message)).toEqual(expected);
  });
});

describe('no report is read', () => {
  test.for([
    ['from nothing', ''],
    ['in a fence', '```\n<progress done="2" total="5">a</progress>\n```'],
    ['in inline code', 'I write `<progress done="2" total="5">a</progress>` then.'],
    ['in a comment', '<!-- <progress done="2" total="5">a</progress> -->'],
    ['from code into prose', '`<progress done="2" total="5">` a</progress>'],
    ['without done', '<progress total="5">a</progress>'],
    ['without total', '<progress done="5">a</progress>'],
    ['with done twice', '<progress done="1" done="2" total="5">a</progress>'],
    ['of more than all', '<progress done="6" total="5">a</progress>'],
    ['of nothing', '<progress done="0" total="0">a</progress>'],
    ['below nothing', '<progress done="-1" total="5">a</progress>'],
    ['in halves', '<progress done="1.5" total="5">a</progress>'],
    ['in other notations', '<progress done="1e0" total="0x5">a</progress>'],
    ['beyond counting', '<progress done="1" total="99999999999999999999">a</progress>'],
    ['from an empty attribute', '<progress done="" total="5">a</progress>'],
    ['without quotes', '<progress done=2 total=5>a</progress>'],
    ['with quotes that differ', `<progress done="2' total="5">a</progress>`],
    ['when it is not closed', '<progress done="2" total="5">a'],
    ['by another name', '<progression done="2" total="5">a</progression>'],
  ] as const)('%s', ([, message]) => {
    expect(readProgressReport(message)).toBeNull();
  });
});

test('cuts a long step between whole characters', () => {
  const step = `a${'😀'.repeat(300)}`;
  const read = readProgressReport(`<progress done="1" total="2">${step}</progress>`);
  expect(read?.step.length).toBeLessThanOrEqual(200);
  expect(read?.step).not.toMatch(/\p{Surrogate}/u);
});

test.for(['<progress done="1" total="2">', '<progress ', '<progress done="1"', '`'])(
  'the time that a message of %s takes grows with its length',
  (part) => {
    expectLinear((bulk) => readProgressReport(`${bulk}</progress>`), [part]);
  },
);
