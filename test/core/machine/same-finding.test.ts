import { expect, test } from 'vitest';
import type { Rerun } from '../../../src/core/completion/examination.ts';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { checks, rawResult } from '../../helpers/checks.ts';
import { decidersSeen, loopInHand } from '../../helpers/loop-in-hand.ts';

const DONE = answered('All good. <promise>DONE</promise>');
const BENT = decidersSeen({ bent: [{ kind: 'file', path: 'check.sh', change: 'changed' }] });
const ENDED = { command: 'sh check.sh', exitCode: 0, timedOut: false, output: '' };

/** A claim with a bent judge, and with so many boxes in the plan, which had two. */
function claim(loop: ReturnType<typeof loopInHand>, boxes: number) {
  loop.iterate(DONE, {
    ...NOTHING_SEEN,
    plan: { open: 1, done: boxes - 1 },
    planAtStart: { open: 2, done: 0 },
  });
  loop.verified(ENDED);
  return loop.examined(BENT);
}

test('a finding that holds two claims running ends the task, whatever else is found', () => {
  const settings = { proof: 'hold', baseline: false, planFile: 'PLAN.md', delayMs: 0 } as const;
  const loop = loopInHand({ ...settings, verify: checks('sh check.sh') }, undefined, {
    examines: true,
  });
  loop.start();
  expect(claim(loop, 1).ending).toBeNull();
  expect(claim(loop, 2).ending).toMatchObject({ status: 'stalled', exitReason: 'unproven' });
});

test('another finding counts for itself', () => {
  const settings = { proof: 'hold', baseline: false, planFile: 'PLAN.md', delayMs: 0 } as const;
  const loop = loopInHand(settings, undefined, { examines: true });
  loop.start();
  const fewer = { ...NOTHING_SEEN, plan: { open: 1, done: 0 }, planAtStart: { open: 2, done: 0 } };
  const seen = { ...fewer, progress: { git: { commits: 0, filesChanged: 1 }, watched: null } };
  expect(loop.iterate(DONE, seen).ending).toBeNull();
  expect(loop.iterate(answered('Not yet.'), seen).ending).toBeNull();
  expect(loop.iterate(DONE, seen).ending).toBeNull();
});

test('a clean checkout that cannot be made twice running ends the task, one whose checks fail does not', () => {
  const settings = { verify: checks('sh check.sh'), verifyClean: true, delayMs: 0 } as const;
  const loop = loopInHand(settings, undefined, { examines: true });
  const judged = (cleanCheckout: Rerun) => {
    loop.iterate(DONE);
    loop.verified(ENDED);
    loop.examined(decidersSeen());
    return loop.examined({ cleanCheckout });
  };
  const notMade = {
    kind: 'not-made',
    why: 'no room on the disk',
    setup: null,
    folder: null,
  } as const;
  const red = {
    kind: 'ran',
    results: [rawResult({ ...ENDED, exitCode: 1 })],
    folder: null,
  } as const;
  loop.start();
  expect(judged(notMade).ending).toBeNull();
  expect(judged(red).ending).toBeNull();
  expect(judged(red).ending).toBeNull();
  expect(judged(notMade).ending).toBeNull();
  const { ending } = judged(notMade);
  expect(ending).toMatchObject({ status: 'stalled', exitReason: 'unproven' });
  expect(ending?.error).toContain('no room on the disk');
});
