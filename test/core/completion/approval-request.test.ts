import { describe, expect, test } from 'vitest';
import {
  hasMalformedRequest,
  readApprovalRequest,
} from '../../../src/core/completion/approval-request.ts';
import { protocolNote } from '../../../src/core/prompt/prompt.ts';
import { expectLinear, SHORT } from '../../helpers/growth.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { nightly } from '../../helpers/nightly.ts';

const ASKED = '<approval id="deploy">deploy to production</approval>';
const DEPLOY = { id: 'deploy', what: 'deploy to production', file: null };

describe('a request in a final message', () => {
  test.for([
    ['alone', ASKED],
    ['at the end', `All is ready.\n\n${ASKED}`],
    ['inside a sentence', `Before that, ${ASKED} please.`],
    ['with words behind it', `${ASKED}\n\nI wait for the answer.`],
    ['with single quotes', ASKED.replaceAll('"', "'")],
    ['with spaces in its tags', '<approval  id = "deploy" >deploy to production</approval >'],
    ['over several lines', ASKED.replace('to production', '\n  to\tproduction\r\n')],
    ['in a list item', `- ${ASKED}`],
    ['in a heading', `## ${ASKED}`],
    ['in colour', ASKED.replace('production', '\u001b[31mproduction\u001b[0m')],
    ['behind an opening that is none', `<approval id="other"> or rather ${ASKED}`],
    ['behind another one: the last counts', `<approval id="a">one</approval>\n${ASKED}`],
    ['before one that only shows how', `${ASKED}\n\n    \`<approval id="x">y</approval>\``],
  ] as const)('is read: %s', ([, message]) => {
    expect(readApprovalRequest(message)).toEqual(DEPLOY);
  });

  test.for([
    ['nothing of the kind', 'Shall I deploy?'],
    ['inline code', `Write \`${ASKED}\` to ask.`],
    ['a fence', `\`\`\`\n${ASKED}\n\`\`\``],
    ['a quote', `> ${ASKED}`],
    ['a comment', `<!-- ${ASKED} -->`],
    ['no id', '<approval>deploy</approval>'],
    ['an empty id', '<approval id="">deploy</approval>'],
    ['an id of other characters', '<approval id="De_ploy">deploy</approval>'],
    ['an id that leads elsewhere', '<approval id="../x">deploy</approval>'],
    ['an id that is too long', `<approval id="${'a'.repeat(41)}">deploy</approval>`],
    ['quotes that do not match', `<approval id="deploy'>deploy</approval>`],
    ['nothing asked', '<approval id="deploy"> \n </approval>'],
    ['nothing but control characters', '<approval id="deploy">\u0007\u001b[0m</approval>'],
    ['no end', '<approval id="deploy">deploy'],
    ['its end only', 'deploy</approval>'],
  ] as const)('is no request: %s', ([, message]) => {
    expect(readApprovalRequest(message)).toBeNull();
  });

  test('the longest id there may be', () => {
    const id = 'a'.repeat(40);
    expect(readApprovalRequest(`<approval id="${id}">go</approval>`)?.id).toBe(id);
  });

  test('is one line of limited length, without what could act on a terminal', () => {
    const what = readApprovalRequest(
      `<approval id="x">a\u001b]0;title\u0007\n${'b'.repeat(3_000)}`.concat('</approval>'),
    )?.what;
    expect(what).toMatch(/^a b+…$/);
    expect(what).toHaveLength(1_000);
  });

  test('an example is ignored, even as the last one', () => {
    const text = protocolNote(loopPolicy());
    const own = [{ kind: 'sentence-wise' as const, text }];
    const example = readApprovalRequest(text)?.what ?? '';
    expect(example).toBe('what you want to do');
    const echo = `<approval id="short-id">${example}</approval>`;
    expect(readApprovalRequest(echo, own)).toBeNull();
    expect(readApprovalRequest(`${ASKED}\n\n${echo}`, own)).toEqual(DEPLOY);
  });

  test('the time that a message of nothing but openings takes grows with its length', () => {
    const read = (bulk: string) => expect(readApprovalRequest(`${bulk}</approval`)).toBeNull();
    expectLinear(read, ['<approval id="a">'], nightly([SHORT], [SHORT, 1 << 20]));
  });
});

describe('a malformed request', () => {
  test.for([
    '<approval id="Deploy_Prod">deploy</approval>',
    '<approval>deploy</approval>',
    `<approval id="${'x'.repeat(41)}">deploy</approval>`,
    '<approval id="a"></approval>',
  ])('is reported to the agent: %s', (text) => {
    expect(readApprovalRequest(text)).toBeNull();
    expect(hasMalformedRequest(`Before I go on:\n${text}`)).toBe(true);
  });

  test.for([
    '<approval id="deploy">deploy</approval>',
    'Nothing to ask.',
    'Write `<approval>x</approval>`.',
    '```\n<approval>x</approval>\n```',
  ])('is not reported: %j', (text) => {
    expect(hasMalformedRequest(text)).toBe(false);
  });
});
