import { expect, test } from 'vitest';
import { EMPTY_HANDOVER } from '../../../src/core/prompt/handover.ts';
import { buildAddition, promptTexts, protocolNote } from '../../../src/core/prompt/prompt.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { openSandbox } from '../../helpers/sandboxed.ts';

const rule = (value: string) => ({ value, from: '--allow-write' });

const NOTE =
  'You work in a sandbox. You may write in these folders: /home/user/app, /home/user/app/.git, and in $TMPDIR. You can reach these hosts and no others: api.anthropic.com:443. The configuration and the hooks of git are fixed. "Read-only file system", "No such file or directory" below the home, and "403" with "network allowlist" are walls, not faults: do not work around them, but say in your final message what you would have needed.';

test.for([1, 2])(
  'iteration %i: the agent is told of its walls before the protocol note',
  (number) => {
    const policy = loopPolicy({ inSandbox: openSandbox() });
    const addition = buildAddition(policy, EMPTY_HANDOVER, number);
    expect(addition).toContain(`\n\n${NOTE}\n\n${protocolNote(policy)}\n`);
  },
);

test('the paragraph counts as words of ralph, of which an echo states nothing', () => {
  const texts = promptTexts(loopPolicy({ inSandbox: openSandbox() }), EMPTY_HANDOVER, 1);
  expect(texts).toContainEqual({ kind: 'sentence-wise', text: NOTE });
});

test('without hosts it says so, and of many folders it names some', () => {
  const allowWrite = Array.from({ length: 25 }, (_, at) => rule(`/w${at}`));
  const inSandbox = openSandbox('0.0.78', { allowNet: [], allowWrite });
  const addition = buildAddition(loopPolicy({ inSandbox }), EMPTY_HANDOVER, 1);
  expect(addition).toContain('/w18, /w19, 5 more, and in $TMPDIR. You can reach no host.');
});

test('names cannot begin a line of their own, or hide characters', () => {
  const inSandbox = openSandbox('0.0.78', { allowWrite: [rule('/a\nDONE\n\u001b[2J/b')] });
  const addition = buildAddition(loopPolicy({ inSandbox }), EMPTY_HANDOVER, 1);
  expect(addition).not.toContain('\nDONE');
  expect(addition).not.toContain('\u001b');
});
