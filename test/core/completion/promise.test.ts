import { describe, expect, test } from 'vitest';
import {
  judgePromise,
  type NearMissReason,
  type PromptText,
  statesPhrase,
  untagged,
} from '../../../src/core/completion/promise.ts';
import type { MatchRule } from '../../../src/core/task/policy.ts';

const TAG = '<promise>COMPLETE</promise>';

/** The verdict in one word or two: `stated`, where a doubt is, a reason, `absent`. */
function verdict(
  message: string,
  rule: MatchRule = 'statement',
  promise = 'COMPLETE',
  ownTexts: readonly PromptText[] = [],
): string {
  const judged = judgePromise(message, promise, rule, ownTexts);
  if (judged.kind === 'stated') return 'stated';
  if (judged.kind === 'in-doubt') return judged.where;
  return judged.kind === 'near-miss' ? judged.why : 'absent';
}

describe('a tagged statement', () => {
  test.for([
    ['on a line', TAG],
    ['on a line, indented', `Done.\n  ${TAG}  `],
    ['bold', `**${TAG}**`],
    ['in italics', `_${TAG}_`],
    ['bold and in italics', `***${TAG}***`],
    ['in emphasis of two kinds', `**_${TAG}_**`],
    ['with a full stop', `${TAG}.`],
    ['with an exclamation mark', `**${TAG}!**`],
    ['with the stop behind the emphasis', `**${TAG}**.`],
    ['with spaces inside', '<promise> COMPLETE  </promise>'],
    ['with line breaks inside', '<promise>\n  COMPLETE\n</promise>'],
    ['after a placeholder', `When I am done I say <promise>...</promise>.\n\n${TAG}`],
    ['after a mention', `I was to say ${TAG} at the end.\n\n${TAG}`],
    ['with CRLF', `All good\r\n${TAG}\r\r\n`],
    ['with lone carriage returns', `All good\r${TAG}`],
    ['between Unicode line ends', `All good\u2028${TAG}\u2029`],
    ['in colour', `\u001b[1;32m${TAG}\u001b[0m`],
    ['as a terminal link', `\u001b]8;;https://x.test\u001b\\${TAG}\u001b]8;;\u0007`],
    ['as a sentence at the end', `All good. ${TAG}`],
    ['as a sentence at the end, with a stop', `All good! ${TAG}.\n\n`],
    ['as a sentence after a quote', `I call it "done." ${TAG}`],
    ['as a sentence after a bracket', `All good (at last.) **${TAG}**`],
    ['as a sentence after a bold one', `**All good.** ${TAG}`],
    ['in one bold stretch with the sentence before', `**All good. ${TAG}**`],
    ['in one bold stretch with the line before', `**All good\n${TAG}**`],
    ['after a sentence that ends in code', `I ran \`npm test\`. ${TAG}`],
    ['behind a ticked box', `- [x] tests\n- [x] ${TAG}`],
    ['behind a ticked box of a numbered list', `1. [X] ${TAG}`],
    ['with a tick', `✅ ${TAG}`],
    ['with a tick, bold', `✅ **${TAG}**`],
    ['below a summary', `## Summary\n\n- one\n- two\n\n${TAG}`],
    ['between an emoji and a bang', `🎉 **${TAG}** !`],
    ['on the line after a code block', `\`\`\`\nx\n\`\`\`\n${TAG}`],
    ['after a stray backtick', `Escape the \` sign.\n${TAG}`],
    ['after stray backticks of two paragraphs', `a \` b\n\nc \` d\n\n${TAG}`],
    ['after the mention of an HTML tag', `I wrapped it in a <code> element.\n\n${TAG}`],
  ] as const)('%s counts', ([, message]) => {
    expect(verdict(message)).toBe('stated');
    expect(verdict(message, 'tag')).toBe('stated');
  });

  test.for<[string, string, NearMissReason | 'absent']>([
    ['denied', `I am NOT outputting ${TAG} because tests fail.`, 'in-a-sentence'],
    ['promised for later', `I will say ${TAG}`, 'in-a-sentence'],
    ['at the beginning of a sentence', `${TAG} is what I will say.`, 'in-a-sentence'],
    ['in the middle of the message', `All good. ${TAG}. Now the rest.`, 'not-at-the-end'],
    ['bold, in between', `All good. **${TAG}**\nNow the rest.`, 'not-at-the-end'],
    ['at the end of a line in between', `All good. ${TAG}\nNow the rest.`, 'not-at-the-end'],
    ['in a fence', `\`\`\`\n${TAG}\n\`\`\``, 'in-code'],
    ['in a fence of tildes', `~~~text\n${TAG}\n~~~\n`, 'in-code'],
    ['in inline code', `\`${TAG}\``, 'in-code'],
    ['in inline code over lines', `See \`a\n${TAG}\nb\` there`, 'in-code'],
    ['with its inside bold', '<promise>**COMPLETE**</promise>', 'decorated'],
    ['that runs into a table', '<promise>\nCOMPLETE</promise> | b\n--|--', 'in-a-table'],
    ['with its inside in code', '<promise>`COMPLETE`</promise>', 'in-code'],
    ['in an HTML code element', `<pre>\n${TAG}\n</pre>`, 'in-code'],
    ['in a comment', `<!--\n${TAG}\n-->`, 'in-a-comment'],
    ['in a block quote', `You said:\n> ${TAG}`, 'in-a-quote'],
    ['in quotation marks', `"${TAG}"`, 'decorated'],
    ['in quotation marks as a sentence', `All good. "${TAG}"`, 'in-a-sentence'],
    ['in a heading', `## ${TAG}\n`, 'in-a-heading'],
    ['in an underlined heading', `${TAG}\n===\n`, 'in-a-heading'],
    ['in a table', `| ${TAG} |\n`, 'in-a-table'],
    ['behind an unticked box', `- [ ] ${TAG}`, 'in-an-unticked-box'],
    ['under an unticked box', `- [ ] at the end say:\n  ${TAG}`, 'in-an-unticked-box'],
    ['struck through', `~~${TAG}~~`, 'decorated'],
    ['with a cross', `❌ ${TAG}`, 'decorated'],
    ['with emphasis on one side', `${TAG}*\nmore`, 'decorated'],
    ['with too much emphasis', `****${TAG}****\nmore`, 'decorated'],
    ['as a question', `Is it ${TAG}?`, 'in-a-sentence'],
    ['as a question of its own', `${TAG}?`, 'decorated'],
    ['after a question', `Is it done? ${TAG}`, 'in-a-sentence'],
    ['after an ellipsis', `Well… ${TAG}`, 'in-a-sentence'],
    ['after three dots', `Well... ${TAG}`, 'in-a-sentence'],
    ['followed by an ellipsis', `${TAG}…`, 'decorated'],
    ['followed by three dots', `${TAG}...`, 'decorated'],
    ['after e.g.', `Say a statement, e.g. ${TAG}`, 'in-a-sentence'],
    ['after e. g.', `Say a statement, e. g. ${TAG}`, 'in-a-sentence'],
    ['after i.e. in a bracket', `Say it (i.e. ${TAG}`, 'in-a-sentence'],
    ['with other tags', '<Promise>COMPLETE</Promise>', 'in-a-sentence'],
    ['in lower case', '<promise>complete</promise>', 'absent'],
    ['with more words', '<promise>COMPLETE soon</promise>', 'in-a-sentence'],
    ['as a placeholder', '<promise>...</promise>', 'absent'],
  ])('%s does not count', ([, message, why]) => {
    expect(verdict(message)).toBe(why);
    expect(verdict(message, 'tag')).toBe(why);
  });
});

describe('a tagged statement that can be in doubt', () => {
  test.for([
    ['a summary behind it', `${TAG}\n\n## Summary\n- all tests pass`, 'earlier-line'],
    ['a code block behind it', `${TAG}\n\n\`\`\`\nnpm test\n\`\`\``, 'earlier-line'],
    ['a rule behind it', `All good.\n\n${TAG}\n---`, 'earlier-line'],
    ['thinking behind it', `${TAG}\n<think>Is it?</think>`, 'earlier-line'],
    ['words that take it back', `${TAG}\n\nWait, one test still fails.`, 'earlier-line'],
    ['a short word before it', `Mehr gibt es ggf. ${TAG}`, 'after-open-sentence'],
    ['a short word, cf.', `The rule, cf. ${TAG}`, 'after-open-sentence'],
    ['a short word, No.', `This is statement No. ${TAG}`, 'after-open-sentence'],
    ['an item of a list before it', `- All good. ${TAG}`, 'after-open-sentence'],
    ['a name and a colon before it', `Agent: All good. ${TAG}`, 'after-open-sentence'],
    ['an announcement above', `I shall end with:\n\n${TAG}`, 'after-open-sentence'],
    ['half a sentence above', `I am not yet ready to write\n${TAG}`, 'after-open-sentence'],
    ['a list item that it may belong to', `- at the end say\n  ${TAG}`, 'after-open-sentence'],
    ['an opening tag above', `<approval id="x">\n${TAG}`, 'after-open-sentence'],
    ['a dialogue above', `User: Say it.\nAgent: Fine.\n${TAG}`, 'after-open-sentence'],
    ['a command above', `$ cat rules.md\nSay\n\n${TAG}`, 'after-open-sentence'],
    ['a line without a stop above', `It is all fixed\n\n${TAG}`, 'below-open-paragraph'],
    ['a long one', `${'this and that, '.repeat(9)}all fixed\n${TAG}`, 'below-open-paragraph'],
    ['a bullet before it', `- ${TAG}`, 'shared-line'],
    ['a number before it', `1. ${TAG}`, 'shared-line'],
    ['a bold number before it', `**1.** ${TAG}`, 'shared-line'],
    ['a star before it', `* ${TAG}`, 'shared-line'],
    ['a label before it', `The statement: ${TAG}`, 'shared-line'],
    ['no space before it', `All good.${TAG}`, 'shared-line'],
    ['another one before it', `${TAG} ${TAG}`, 'shared-line'],
    ['a line break behind it', `All good.\n\n${TAG}<br>`, 'shared-line'],
    ['a soft hyphen inside', 'All good.\n\n<promise>COM\u00adPLETE</promise>', 'veiled'],
  ] as const)('%s', ([, message, where]) => {
    expect(verdict(message)).toBe(where);
    expect(verdict(message, 'tag')).toBe(where);
  });

  test.for([
    ['a box', `${TAG}\n\n- [ ] docs`],
    ['a box of two blanks', `${TAG}\n\n- [  ] docs`],
    ['a box without a list', `${TAG}\n[ ] docs`],
    ['a begun box', `${TAG}\n\n1. [/] docs`],
    ['a sign of a box', `${TAG}\n\n☐ docs`],
  ] as const)('is not in doubt if %s is open below it', ([, message]) => {
    expect(verdict(message)).toBe('before-an-open-box');
  });

  test.for([
    ['denied', `${TAG}\n\nI take ${TAG} back.`, 'in-a-sentence'],
    ['quoted', `${TAG}\n\n> ${TAG}`, 'in-a-quote'],
    ['in code', `${TAG}\n\nI wrote \`COMPLETE\`.`, 'in-code'],
    ['without tags', `${TAG}\n\nIt is COMPLETE once the docs are written.`, 'in-a-sentence'],
  ] as const)('is not in doubt if a mention follows it, %s', ([, message, why]) => {
    expect(verdict(message)).toBe(why);
  });
});

describe('a bare statement', () => {
  test.for([
    ['as the whole message', 'COMPLETE'],
    ['as the last line', 'All tests pass.\n\nCOMPLETE\n'],
    ['below a label', 'Tests: passed\n\nCOMPLETE'],
    ['bold', '**COMPLETE**'],
    ['in italics with underscores', '__COMPLETE__'],
    ['with a full stop', 'COMPLETE.'],
    ['bold with an exclamation mark', '**COMPLETE!**'],
    ['after a mention', 'The status is not COMPLETE?\nNow it is.\nCOMPLETE'],
    ['with CRLF', 'All tests pass.\r\nCOMPLETE\r\n'],
    ['after a Unicode line end', 'All tests pass.\u2028COMPLETE'],
    ['in colour', 'All tests pass.\n\u001b[32mCOMPLETE\u001b[39m'],
    ['behind a ticked box', '- [x] COMPLETE'],
    ['under a heading', '## Status\nCOMPLETE'],
    ['with an emoji', 'COMPLETE 🎉'],
    ['with a full stop of another script', 'すべて完了しました。\nCOMPLETE。'],
    ['after a code block', '```\nx\n```\nCOMPLETE'],
  ] as const)('%s counts', ([, message]) => {
    expect(verdict(message)).toBe('stated');
    expect(verdict(message, 'tag')).toBe('untagged');
  });

  test.for<[string, string, NearMissReason | 'absent']>([
    ['as a question', 'COMPLETE?', 'decorated'],
    ['with an ellipsis', 'COMPLETE…', 'decorated'],
    ['with three dots', 'COMPLETE...', 'decorated'],
    ['with two stops', 'COMPLETE!!', 'decorated'],
    ['with a footnote', 'All tests pass. COMPLETE*', 'in-a-sentence'],
    ['with a footnote behind a bullet', '* All tests pass. COMPLETE*', 'in-a-sentence'],
    ['with a footnote behind bold words', '**All** tests pass. COMPLETE**', 'in-a-sentence'],
    ['with emphasis that is not closed', 'All tests pass. **COMPLETE', 'in-a-sentence'],
    ['with too much emphasis', '****COMPLETE****', 'decorated'],
    ['after a stop that stands alone', 'Status . COMPLETE', 'in-a-sentence'],
    ['after a sign of doubt', 'Done (!) COMPLETE', 'in-a-sentence'],
    ['after a call in doubt', 'Done?! COMPLETE', 'in-a-sentence'],
    ['behind a Roman number', 'ii. COMPLETE', 'in-a-sentence'],
    ['inside a word', 'INCOMPLETE', 'absent'],
    ['inside a word at the end of a sentence', 'It is done. INCOMPLETE', 'absent'],
    ['inside a name', 'Set TASK_COMPLETE and COMPLETE_V2', 'absent'],
    ['in another case', 'Complete', 'absent'],
    ['denied', 'The work is not COMPLETE', 'in-a-sentence'],
    ['as a field', 'Status: COMPLETE', 'in-a-sentence'],
    ['after e.g.', 'I could say something, e.g. COMPLETE', 'in-a-sentence'],
    ['after a question', 'Is it done? COMPLETE', 'in-a-sentence'],
    ['in quotation marks', '"COMPLETE"', 'decorated'],
    ['behind a bullet', '- COMPLETE', 'decorated'],
    ['behind a number', '1. COMPLETE', 'decorated'],
    ['behind a number inside a list', '- 2. COMPLETE', 'in-a-sentence'],
    ['on a line in between', 'COMPLETE\n\nThat is all.', 'not-at-the-end'],
    ['as a sentence in between', 'All pass. COMPLETE. That is all.', 'not-at-the-end'],
    ['before a code block', 'All pass.\nCOMPLETE\n```\nx\n```', 'not-at-the-end'],
    ['before a code block that is never closed', 'COMPLETE\n```', 'not-at-the-end'],
    ['before inline code', 'All pass. COMPLETE `x`', 'in-a-sentence'],
    ['after inline code', '`x.` COMPLETE', 'in-a-sentence'],
    ['before a rule', 'COMPLETE\n---', 'not-at-the-end'],
    ['in a heading', 'Text\n# All pass. COMPLETE', 'in-a-heading'],
    ['in a heading in a list', '- # All pass. COMPLETE', 'in-a-heading'],
    ['in a quote in a list', '- > All pass. COMPLETE', 'in-a-quote'],
    ['in a table without outer bars', 'a | b\n---|---\nx | All pass. COMPLETE', 'in-a-table'],
    ['in a begun box', '* [/] All pass. COMPLETE', 'in-an-unticked-box'],
    ['in a box of a numbered list', '1. [ ] All pass. COMPLETE', 'in-an-unticked-box'],
    ['under an unticked box', '- [ ] a\n  - All pass. COMPLETE', 'in-an-unticked-box'],
  ])('%s does not count', ([, message, why]) => {
    expect(verdict(message)).toBe(why);
  });

  test.for([
    ['as the closing sentence', 'All tests pass. COMPLETE', 'closing-sentence'],
    ['as the closing sentence after a call', 'More? No! COMPLETE', 'closing-sentence'],
    ['as the closing sentence, bold', 'All tests pass! **COMPLETE**.', 'closing-sentence'],
    ['in one bold stretch', '**All tests pass. COMPLETE.**', 'closing-sentence'],
    ['below a few words', 'Tests pass\nCOMPLETE', 'closing-sentence'],
    ['below a short sentence', 'All tests pass\nCOMPLETE', 'below-open-paragraph'],
    ['below half a sentence', 'The state of this work is not yet\nCOMPLETE', 'after-open-sentence'],
    ['below an announcement', 'The state to reach:\n\nCOMPLETE', 'after-open-sentence'],
    ['in a list of states', 'OPEN\nIN PROGRESS\nCOMPLETE', 'after-open-sentence'],
    ['in a list of states with gaps', 'OPEN\n\nIN PROGRESS\n\nCOMPLETE', 'after-open-sentence'],
  ] as const)('%s is in doubt', ([, message, where]) => {
    expect(verdict(message)).toBe(where);
    expect(verdict(message, 'tag')).toBe('untagged');
  });

  test('is a near miss for what it is, not for its lack of tags, inside a sentence', () => {
    expect(verdict('not COMPLETE', 'tag')).toBe('in-a-sentence');
  });
});

describe('the promise itself', () => {
  test.for([
    ['of several words', 'all tests pass', 'Yes.\nall\n tests  pass'],
    ['of several words in tags', 'all tests pass', '<promise>all tests\npass</promise>'],
    ['given with its tags', '<promise>DONE</promise>', '<promise>DONE</promise>'],
    ['given with tags and spaces', ' <promise> DONE </promise>\n', 'DONE'],
    ['that ends in a stop', 'All done.', 'I checked.\nAll done.'],
    [
      'of several sentences',
      'All done. Nothing is left!',
      'I checked.\nAll done. Nothing is left!',
    ],
    ['of regular-expression signs', '^(a|b)*$ [x] {2} \\d+?', 'Yes.\n^(a|b)*$ [x] {2} \\d+?'],
    ['in backticks', '`done`', 'Yes.\n`done`'],
    ['that looks like a heading', '# DONE', 'Yes.\n# DONE'],
    ['that looks like a quote', '> DONE', 'Yes.\n> DONE'],
    ['of an emoji', '✅', 'Yes.\n✅'],
    ['that is not English', 'タスク完了', 'Yes.\nタスク完了'],
    ['with a joiner that belongs to it', 'کامل\u200cشد', 'Yes.\nکامل\u200cشد'],
    ['with a selector at its end', '☑\ufe0f', 'Yes.\n☑\ufe0f'],
  ] as const)('%s can be stated', ([, promise, message]) => {
    expect(judgePromise(message, promise, 'statement', []).kind).toBe('stated');
  });

  test.for([
    ['that ends in a stop takes no second one', 'All done.', 'All done..'],
    ['with a dot means a dot', 'v1.0', 'v1x0'],
    ['in backticks is not stated in more of them', '`done`', 'Yes.\n`` `done` ``'],
    ['in backticks is not stated in a fence', '`done`', '```\n`done`\n```'],
    ['with a joiner is not stated with another', 'کامل\u200cشد', 'Yes.\nکامل\u200dشد'],
    ['of two words with something unseen between', 'all done', 'Yes.\nall \u200b done'],
    ['that is empty', '', 'anything'],
    ['of nothing that is seen', '\u200b', 'a\u200b'],
    ['of empty tags', '<promise> </promise>', '<promise></promise>'],
    ['of several words is not stated with one left out', 'all tests pass', 'all pass'],
  ] as const)('%s', ([, promise, message]) => {
    expect(judgePromise(message, promise, 'statement', []).kind).not.toBe('stated');
  });

  test.for([
    ['X', 'X'],
    ['  X ', 'X'],
    ['<promise>X</promise>', 'X'],
    [' <promise>\n X  Y </promise> ', 'X Y'],
    ['<promise>X', '<promise>X'],
  ] as const)('%j without its tags is %j', ([given, expected]) => {
    expect(untagged(given)).toBe(expected);
  });
});

describe('the rule contains', () => {
  test.for([
    ['in a sentence', 'It is COMPLETE now'],
    ['in a fence', '```\nCOMPLETE\n```'],
    ['inside a word', 'INCOMPLETE'],
    ['in colour', 'COM\u001b[31mPLETE'],
  ] as const)('takes the promise %s', ([, message]) => {
    expect(verdict(message, 'contains')).toBe('stated');
  });

  test('takes no promise that has invisible characters inside, unless another has none', () => {
    expect(verdict('COM\u200bPLETE', 'contains')).toBe('veiled');
    expect(verdict('not COMPLETE, or COM\u200bPLETE', 'contains')).toBe('stated');
  });

  test('folds white space', () => {
    expect(verdict('we are all\r\n  done here', 'contains', 'all done')).toBe('stated');
  });

  test('is literal and case-sensitive', () => {
    expect(verdict('complete', 'contains')).toBe('absent');
  });
});

describe("an echo of ralph's own texts", () => {
  const reminder: PromptText = {
    kind: 'sentence-wise',
    text: `The task is NOT yet complete. Please continue and ensure '${TAG}' is satisfied.`,
  };
  const note: PromptText = {
    kind: 'sentence-wise',
    text: `You run in a loop. When the task is truly complete, end with the statement ${TAG} on a line by itself. Nobody answers.`,
  };
  const block: PromptText = {
    kind: 'whole',
    text: `===== BEGIN DATA =====\nAll done.\n${TAG}\n===== END DATA =====`,
  };
  const own = [block, reminder, note];
  const rules: readonly MatchRule[] = ['statement', 'tag', 'contains'];

  test.for(rules)('of the whole prompt is nothing under %s', (rule) => {
    const echo = `Do it.\n\n${own.map(({ text }) => text).join('\n\n')}\n`;
    expect(verdict(echo, rule, 'COMPLETE', own)).toBe('absent');
  });

  test.for(rules)('of half a reminder is nothing under %s', (rule) => {
    expect(verdict(`I shall ensure '${TAG}' is satisfied`, rule, 'COMPLETE', own)).toBe('absent');
    expect(verdict(`Please continue and ensure \`${TAG}\``, rule, 'COMPLETE', own)).toBe('absent');
  });

  test.for(rules)('does not hide a statement under %s', (rule) => {
    const message = `${reminder.text}\n${TAG}`;
    expect(judgePromise(message, 'COMPLETE', rule, own).kind).toBe('stated');
  });

  test('of a block does not stop the agent from truthfully repeating a part', () => {
    expect(verdict(`All done.\n${TAG}`, 'statement', 'COMPLETE', own)).toBe('stated');
  });

  test('does not lead to what is behind it', () => {
    const own = [{ kind: 'whole', text: `The note: ${TAG} it is` }] as const;
    expect(verdict(`All pass, The note: ${TAG} it is ${TAG}`, 'tag', 'COMPLETE', own)).toBe(
      'in-a-sentence',
    );
  });

  test('does not make a sentence of the rest of its line', () => {
    const own = [{ kind: 'whole', text: `The note: ${TAG} it is` }] as const;
    const message = `The note: ${TAG} it is COMPLETE`;
    expect(verdict(message, 'statement', 'COMPLETE', own)).toBe('in-a-sentence');
  });
});

describe('evidence', () => {
  test('is the line, as it stands in the message', () => {
    expect(judgePromise(`All.\n  **${TAG}** \n`, 'COMPLETE', 'statement', [])).toEqual({
      kind: 'stated',
      line: `**${TAG}**`,
    });
    expect(judgePromise(`a\nUse \`${TAG}\` then\nb`, 'COMPLETE', 'statement', [])).toEqual({
      kind: 'near-miss',
      why: 'in-code',
      line: `Use \`${TAG}\` then`,
    });
  });

  test('is one line, of at most 200 characters that show the promise', () => {
    const messages = [
      `${'🙂'.repeat(400)}. ${TAG}${'🙂'.repeat(400)}`,
      `${'🙂'.repeat(400)}! ${TAG}?`,
      `${'🙂'.repeat(400)}!${TAG}?`,
      `a ${'x'.repeat(999)} COMPLETE`,
      `<promise>\n\nCOMPLETE\n</promise>`,
    ];
    for (const message of messages) {
      const judged = judgePromise(message, 'COMPLETE', 'statement', []);
      if (judged.kind === 'absent') throw new Error('expected the promise to be seen');
      expect(judged.line.length).toBeLessThanOrEqual(200);
      expect(judged.line).toContain('COMPLETE');
      expect(judged.line).not.toMatch(/\n|^[\udc00-\udfff]|[\ud800-\udbff]…$/);
    }
  });

  test('of mentions shows the last one', () => {
    const message = `Not ${TAG} yet.\nStill not ${TAG} at all.\nNot COMPLETE so far.`;
    expect(judgePromise(message, 'COMPLETE', 'statement', [])).toMatchObject({
      line: 'Not COMPLETE so far.',
    });
  });

  test('shows no trace of what was removed or masked', () => {
    const own = [{ kind: 'sentence-wise', text: `Please ensure ${TAG} holds` }] as const;
    const message = `Please ensure ${TAG} holds, not COMPLETE`;
    expect(judgePromise(message, 'COMPLETE', 'statement', own)).toMatchObject({
      line: '…, not COMPLETE',
    });
  });

  test('private-use characters of the message do not count as a mask', () => {
    expect(verdict(`\uE002 ${TAG}`)).toBe('decorated');
    expect(verdict('\uE010COMPLETE\u200b')).toBe('decorated');
  });

  test('shows no invisible characters', () => {
    expect(judgePromise('<promise>COM\u200bPLETE</promise>', 'COMPLETE', 'tag', [])).toEqual({
      kind: 'in-doubt',
      where: 'veiled',
      line: TAG,
    });
  });

  test('an echo stays one although the promise has invisible characters itself', () => {
    const own = [{ kind: 'sentence-wise', text: 'Please ensure DO\u200cNE is said.' }] as const;
    expect(
      judgePromise('Please ensure DO\u200cNE is said.', 'DO\u200cNE', 'contains', own).kind,
    ).toBe('absent');
  });
});

test('a phrase is stated as a promise is, or as the closing sentence', () => {
  const own = [{ kind: 'sentence-wise', text: 'Say I AM STUCK when stuck.' }] as const;
  expect(statesPhrase('I tried. I AM STUCK.', 'I AM STUCK', own)).toBe(true);
  expect(statesPhrase('I tried.\n\n<promise>I AM STUCK</promise>', 'I AM STUCK', own)).toBe(true);
  expect(statesPhrase('I tried\nI AM STUCK', 'I AM STUCK', own)).toBe(true);
  expect(statesPhrase('I tried all I know\n\nI AM STUCK', 'I AM STUCK', own)).toBe(true);
  expect(statesPhrase('<promise>I AM STUCK</promise>\nmore', 'I AM STUCK', own)).toBe(false);
  expect(statesPhrase('If it goes on I shall say:\nI AM STUCK', 'I AM STUCK', own)).toBe(false);
  expect(statesPhrase('I will not say I AM STUCK', 'I AM STUCK', own)).toBe(false);
  expect(statesPhrase('Say I AM STUCK when stuck.', 'I AM STUCK', own)).toBe(false);
});
