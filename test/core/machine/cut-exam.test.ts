import { expect, test } from 'vitest';
import { answered } from '../../helpers/attempt-facts.ts';
import { checks, rawResult } from '../../helpers/checks.ts';
import { decidersSeen, loopInHand } from '../../helpers/loop-in-hand.ts';

const ENDED = { command: 'sh check.sh', exitCode: 0, timedOut: false, output: '' };
const CUT = {
  kind: 'ran',
  results: [rawResult({ ...ENDED, exitCode: null })],
  folder: null,
} as const;

test('an old exam that a stop cut off says nothing against the claim', () => {
  const settings = { proof: 'hold', baseline: false, delayMs: 0 } as const;
  const loop = loopInHand({ ...settings, verify: checks('sh check.sh') }, undefined, {
    examines: true,
  });
  loop.start();
  loop.iterate(answered('All good. <promise>DONE</promise>'));
  loop.verified(ENDED);
  const bent = [{ kind: 'file', path: 'check.sh', change: 'changed' }] as const;
  expect(loop.examined(decidersSeen({ bent, tree: 'a'.repeat(40) })).actions).toEqual([
    'examine oldExam',
  ]);
  loop.stop('SIGINT');
  const turn = loop.examined({ oldExam: CUT });
  expect(turn.actions).toEqual(['task_iterated', 'stop:stopped']);
  expect(loop.resume().addition ?? '').not.toContain('was not accepted');
});
