import { describe, expect, test } from 'vitest';
import { type PromptText, removeEchoes } from '../../../src/core/completion/echoes.ts';

const TAG = '<promise>DONE</promise>';

function sentenceWise(text: string): readonly PromptText[] {
  return [{ kind: 'sentence-wise', text }];
}

function whole(text: string): readonly PromptText[] {
  return [{ kind: 'whole', text }];
}

/** What is left, with `#` for each echo that was taken out. */
function left(message: string, ownTexts: readonly PromptText[], phrase = 'DONE'): string {
  return removeEchoes(message, ownTexts, phrase).replaceAll('\uE000', '#');
}

const reminder = sentenceWise(`Not complete yet. Go on and ensure '${TAG}' is satisfied.\nA hint.`);

describe('an echo is removed', () => {
  test.for([
    [
      'as a whole',
      `So: Not complete yet. Go on and ensure '${TAG}' is satisfied.\nA hint. Hm`,
      'So: # Hm',
    ],
    ['by its sentence', `So: Go on and ensure '${TAG}' is satisfied. Hm`, 'So: #. Hm'],
    ['by its sentence without the stop', `Go on and ensure '${TAG}' is satisfied`, '#'],
    ['by its line', `Not complete yet. Go on and ensure '${TAG}' is satisfied.`, '#.'],
    ['wrapped anew', `Go on and\n  ensure '${TAG}'\nis satisfied.`, '#.'],
    ['as a quote', `> Go on and ensure\n> '${TAG}' is\n> > satisfied.`, '> #.'],
    ['with CRLF', `Go on\r\nand ensure '${TAG}' is satisfied.`, '#.'],
    ['in colour', `Go on and \u001b[1mensure '${TAG}' is\u001b[0m satisfied.`, '#.'],
    [
      'twice',
      `ensure '${TAG}' is satisfied, ensure '${TAG}' is satisfied`,
      `ensure '#' is satisfied, ensure '#' is satisfied`,
    ],
    ['by the words before', `I go on and ensure "${TAG}"`, 'I go on and ensure "#"'],
    ['by the words behind', `"${TAG}" is satisfied?`, '"#" is satisfied?'],
    ['by the words behind, without tags', `DONE is satisfied`, '# is satisfied'],
    ['by the words before, wrapped', `go on and\nensure ${TAG}`, 'go on and\nensure #'],
  ] as const)('%s', ([, message, expected]) => {
    expect(left(message, reminder)).toBe(expected);
  });

  test('by its only word on a side', () => {
    expect(left(`I say ${TAG}`, sentenceWise(`say ${TAG}`))).toBe('I #');
    expect(left(`I say: ${TAG}`, sentenceWise(`say ${TAG}`))).toBe('I say: #');
  });

  test('by a sentence over two lines of an own text', () => {
    expect(left(`Say ${TAG} now`, sentenceWise(`First. Say\n${TAG}\nnow. Then.`))).toBe('#');
  });

  test('by a sentence if the phrase is longer than one', () => {
    const own = sentenceWise('Go on. Say at the end: All done. Bye! Then stop.');
    expect(left('Hm. Say at the end: All done. Bye! Ok', own, 'All done. Bye!')).toBe('Hm. ## Ok');
  });

  test('without the bullet it has in the own text', () => {
    expect(left(`Say ${TAG} to end it`, sentenceWise(`- Say ${TAG} to end it`))).toBe('#');
  });

  test('of an own text with colours', () => {
    expect(left(`Say ${TAG} to end it`, whole(`Say \u001b[1m${TAG}\u001b[0m to end it`))).toBe('#');
  });

  test('after a false start of it', () => {
    expect(left(`no no no go ${TAG}`, whole(`no no go ${TAG}`))).toBe('no #');
    expect(left(`aabaaabaaa ${TAG}`, whole(`aabaaa ${TAG}`))).toBe('aaba#');
  });

  test('of a block as a whole', () => {
    const block = `=== DATA\nIt is\n${TAG}\n=== END`;
    expect(left(`You gave me:\n${block}\nI see`, whole(block))).toBe('You gave me:\n#\nI see');
  });
});

describe('what is no echo stays', () => {
  test.for([
    ['the tag on the line behind', `Go on and ensure\n${TAG}`],
    ['the tag on the line before', `${TAG}\nis satisfied`],
    ['the tag as a sentence of its own', `I go on and ensure. ${TAG}`],
    ['the tag before a sentence', `${TAG}. is satisfied`],
    ['another word before', `and so ensure ${TAG}`],
    ['only one of the two words', `ensure ${TAG} was`],
    ['an echo without the phrase', 'Not complete yet.'],
    ['nothing', ''],
  ] as const)('%s', ([, message]) => {
    expect(left(message, reminder)).toBe(message);
  });

  test('an own text without the phrase', () => {
    expect(left('A hint. DONE', sentenceWise('A hint.'))).toBe('A hint. DONE');
  });

  test('a line of a block', () => {
    const message = `It is\n${TAG}\n`;
    expect(left(message, whole(`=== DATA\n${message}=== END`))).toBe(message);
    expect(left(`say ${TAG} now`, whole(`=== DATA\nsay ${TAG} now\n=== END`))).toBe(
      `say ${TAG} now`,
    );
  });

  test.for([TAG, `\n${TAG}.\n`, 'DONE', `- **${TAG}**!`])(
    'the statement, where an own text is only %j',
    (own) => {
      expect(left(`ok\n${TAG}\nDONE`, sentenceWise(own))).toBe(`ok\n${TAG}\nDONE`);
      expect(left(`ok\n${TAG}\nDONE`, whole(own))).toBe(`ok\n${TAG}\nDONE`);
    },
  );

  test('the statement, if it is a line or a paragraph of an own text', () => {
    expect(left(TAG, sentenceWise(`At the end say\n${TAG}`))).toBe(TAG);
    expect(left(`At the end say\n${TAG}\nor`, sentenceWise(`At the end say\n${TAG}`))).toBe(
      '#\nor',
    );
    expect(left(TAG, sentenceWise(`At the end.\n\n${TAG}\n\nBye.`))).toBe(TAG);
  });

  test('a longer word that ends like the phrase', () => {
    expect(left('ensure UNDONE is', sentenceWise('please ensure DONE is'))).toBe(
      'ensure UNDONE is',
    );
  });
});

test('private-use characters from outside do not count as removed text', () => {
  expect(removeEchoes('a \uE000 DONE', [], 'DONE')).toBe('a \uFFFD DONE');
});

test('an empty phrase removes nothing', () => {
  expect(left('Go on', sentenceWise('Go on'), ' ')).toBe('Go on');
});
