import { describe, test } from 'vitest';
import { readPlan } from '../../../src/core/completion/plan-file.ts';
import { judgePromise, type PromptText } from '../../../src/core/completion/promise.ts';
import { expectLinear, SHORT } from '../../helpers/growth.ts';
import { inGroups } from '../../helpers/in-groups.ts';

const T = '<promise>COMPLETE</promise>';
const OWN: readonly PromptText[] = [
  { kind: 'sentence-wise', text: `Please continue and ensure '${T}' is satisfied.` },
  { kind: 'whole', text: `${'*'.repeat(5_000)} ${T}` },
  { kind: 'whole', text: `${'a'.repeat(5_000)} COMPLETE ${'a'.repeat(20_000)}` },
];

function judge(text: string): void {
  judgePromise(text, 'COMPLETE', 'statement', OWN);
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
  ...[
    '\u200b',
    '\u200b ',
    '\ufeff',
    'COM\u200bPLETE ',
    '<promise>\u200b',
    '<\u200bpromise>',
    '- a\n\n',
  ],
  ...['not: ', 'a: ', 'I end with ', '1. Print it\n', 'a b c d\n', '<br>', 'ENDE.\u200b\n'],
];

describe('the time that a judgement takes grows with the length of the message', () => {
  test.for(inGroups(PARTS, 20))('of a part repeated: parts %s', ([, parts]) => {
    // Behind a statement, on its line, and before one.
    expectLinear((bulk) => judge(`a\n\n${T}${bulk}`), parts, [SHORT]);
    expectLinear((bulk) => judge(`${bulk}${T}`), parts, [SHORT]);
    expectLinear((bulk) => judge(`${bulk}\n\nx. ${T}`), parts);
  });

  test.for(['`', '*', '_', '>', '[', 'a', 'a a', 'aaaaaaab'])('of the promise %j', (promise) => {
    const judgeIt = (bulk: string) => judgePromise(`${bulk} so it is?`, promise, 'statement', OWN);
    expectLinear(judgeIt, [promise, `${promise}${promise.slice(0, -1)}`], [SHORT]);
  });
});

describe('the time that a plan takes grows with its length', () => {
  test('of a part repeated', () => {
    const parts = [
      '> ',
      '- ',
      '1. ',
      '\t',
      '\n',
      '- [ ',
      '[',
      '`',
      '```\n',
      '<!--\n',
      '- [ ] a\n',
      '(a',
    ];
    expectLinear(readPlan, parts);
  });

  test('of a part repeated in sections', () => {
    const plain = ['# ', '#', ' ', '\t', '# # #', '[ ] ', '*', '- ', '='];
    const parts = [...plain, '---\n', 'a\n---\n', '# a\n- [ ] a\n'];
    expectLinear((bulk) => readPlan(`# ${bulk}x`, ['a']), parts);
  });
});
