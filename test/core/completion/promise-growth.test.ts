import { describe, expect, it } from 'vitest';
import { readPlan } from '../../../src/core/completion/plan-file.ts';
import { judgePromise, type OwnText } from '../../../src/core/completion/promise.ts';

// What takes a square of the length takes 64 times as long for eight times the length. How long it
// takes by itself depends on the machine, so only the two are held against each other.
const LARGE = 1 << 20;
/** Tried first: a square of this is over in seconds, one of the other in hours. */
const LESS = 1 << 17;
const TIMES = 8;
const MOST = 3 * TIMES;
/** A clock that ticks no finer says nothing of what is shorter. */
const LEAST_MS = 1;
const TRIES = 4;

const T = '<promise>COMPLETE</promise>';
const OWN: readonly OwnText[] = [
  { kind: 'sentence-wise', text: `Please continue and ensure '${T}' is satisfied.` },
  { kind: 'whole', text: `${'*'.repeat(5_000)} ${T}` },
  { kind: 'whole', text: `${'a'.repeat(5_000)} COMPLETE ${'a'.repeat(20_000)}` },
];

function judge(text: string): void {
  judgePromise(text, 'COMPLETE', 'statement', OWN);
}

/** Processor time, in milliseconds: what else runs on the machine does not count. */
function timeOf(work: () => void): number {
  const { user } = process.cpuUsage();
  work();
  return (process.cpuUsage().user - user) / 1_000;
}

/** How often longer it takes for eight times as much, at the best of some tries. */
function growthOf(work: (bulk: string) => void, part: string, length: number): number {
  const large = part.repeat(Math.ceil(length / part.length));
  const small = large.slice(0, large.length / TIMES);
  let least = Number.POSITIVE_INFINITY;
  for (let tried = 0; tried < TRIES && least > MOST; tried += 1) {
    const time = timeOf(() => work(large));
    least = Math.min(
      least,
      time /
        Math.max(
          LEAST_MS,
          timeOf(() => work(small)),
        ),
    );
  }
  return least;
}

const PARTS = [
  ...['`', '` ', '``` `` ` ', '\\`', '```\n', '```a\n', 'a ```\n', 'a ```b\n', '~~~\n', '~~'],
  ...['<', '< ', '<a', '<a>', '</a>', '<a><b>', '<a <', '<a>\n', '<a>\n</a>\n', '<a/>', '<br>'],
  ...['<think>', '</think>', '<think>\n', '</think>\n', '[THINK]', '[THINK ', '◁think▷', '◁a '],
  ...['<!--', '<!-- -->', '-->', '<pre>', '<pre ', '</code ', '<code></pre>', '<details>\n'],
  ...['<promise>', '<promise> ', '</promise>', T, `${T} `, `${T}\n`, `${T}\n\n`, `**${T}\n`],
  ...['COMPLETE', 'COMPLETE ', 'COMPLETE\n', 'COMPLETE\n\n', 'COMPLETE. ', 'COMPLETE? '],
  ...['ensure COMPLETE is ', '- [x] COMPLETE\n', '> COMPLETE\n', '| COMPLETE |\n', '# COMPLETE\n'],
  ...['[', '[ ', '[ ]', '[ ] ', '[ ]\n', '- [ ] ', '- [ ] a\n', '- [ ]\n ', '☐', '[/] ', '[-]\n'],
  ...[
    '*',
    '* ',
    '**a',
    '_',
    '_a_ ',
    '>',
    '> ',
    '>\n',
    '|',
    '| ',
    '|\n',
    '-|',
    'a|b\n-|-\n',
    ':-|\n',
  ],
  ...[
    '-',
    '- ',
    '- a\n',
    '-\n',
    '---\n',
    '1. ',
    '1. a\n',
    '1',
    'a. ',
    '(a) ',
    '• ',
    '=\n',
    'a\n=\n',
  ],
  ...['#', '# ', '# a\n', '+a\n', '@@ -1 +1 @@\n', '@@ -1 +1 @@\n\n', '--- a/\n', 'diff --git \n'],
  ...[
    '$ a\n',
    '$ a\n\n',
    '{',
    '{\n',
    '}\n',
    '{\n}\n',
    '(\n',
    '[\n',
    '"a":\n',
    'a: |\n',
    'a: |\n b\n',
    ': ',
  ],
  ...[' ', '\t', '\n', ' \n', '\n\n    a', '    a\n', '\ta\n', '\r', '\r\n', '\u00a0', '\u2028'],
  ...[
    'a',
    'a ',
    'a\n',
    '. ',
    '.',
    '.\n',
    'a. ',
    'a.\n',
    '! ',
    ' !',
    '。',
    '…',
    '? ',
    'ggf. ',
    ', ',
  ],
  ...[
    '✅',
    '🎉 ',
    'é',
    '\ud83d',
    '\uE000',
    '\u001b[0',
    '\u001b[0m',
    '\u001b]',
    '\u009b1',
    '"',
    '\\',
  ],
];

describe('the time that a judgement takes grows with the length of the message', () => {
  it.each(PARTS)('of %j repeated', (part) => {
    // Behind a statement, on its line, and before one.
    expect(growthOf((bulk) => judge(`a\n\n${T}${bulk}`), part, LESS)).toBeLessThanOrEqual(MOST);
    expect(growthOf((bulk) => judge(`${bulk}${T}`), part, LESS)).toBeLessThanOrEqual(MOST);
    expect(growthOf((bulk) => judge(`${bulk}\n\nx. ${T}`), part, LARGE)).toBeLessThanOrEqual(MOST);
  });

  it.each(['`', '*', '_', '>', '[', 'a', 'a a', 'aaaaaaab'])('of the promise %j', (promise) => {
    const judgeIt = (bulk: string) => judgePromise(`${bulk} so it is?`, promise, 'statement', OWN);
    expect(growthOf(judgeIt, promise, LESS)).toBeLessThanOrEqual(MOST);
    expect(growthOf(judgeIt, `${promise}${promise.slice(0, -1)}`, LESS)).toBeLessThanOrEqual(MOST);
  });
});

describe('the time that a plan takes grows with its length', () => {
  it.each(['> ', '- ', '1. ', '\t', '\n', '- [ ', '[', '`', '```\n', '<!--\n', '- [ ] a\n', '(a'])(
    'of %j repeated',
    (part) => {
      expect(growthOf(readPlan, part, LESS)).toBeLessThanOrEqual(MOST);
      expect(growthOf(readPlan, part, LARGE)).toBeLessThanOrEqual(MOST);
    },
  );
});
