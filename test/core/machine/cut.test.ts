import { describe, expect, test } from 'vitest';
import type { SignName } from '../../../src/core/agent/sign.ts';
import { cut } from '../../helpers/attempt-facts.ts';
import { type Loop, WORK } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

function cutBy(sign: SignName) {
  return cut('supervisor', { cutBy: { sign, action: 'cut', count: 20, detail: 'Bash: make' } });
}

function started(): Loop {
  const loop = loopInHand({ delayMs: 0, sameErrorLimit: 0 });
  loop.start();
  return loop;
}

describe('iterations that ralph cut', () => {
  test('end the task if the same sign cuts two in a row', () => {
    const loop = started();
    expect(loop.iterate(cutBy('same-call')).ending).toBeNull();
    expect(loop.iterate(cutBy('same-call')).ending).toMatchObject({
      status: 'stalled',
      exitReason: 'supervisor:same-call',
    });
  });

  test.for<[string, Parameters<Loop['iterate']>[0]]>([
    ['after one by another sign', cutBy('tokens')],
    ['with an iteration in between', WORK],
  ])('do not end it %s', ([, between]) => {
    const loop = started();
    loop.iterate(cutBy('same-call'));
    loop.iterate(between);
    expect(loop.iterate(cutBy('same-call')).ending).toBeNull();
  });

  test('are in a row, too, if the driver died in between', () => {
    const loop = started();
    loop.iterate(cutBy('refused'));
    loop.resume();
    expect(loop.iterate(cutBy('refused')).ending?.exitReason).toBe('supervisor:refused');
  });

  test('are counted from the start again once a person has resumed the stalled task', () => {
    const loop = started();
    loop.iterate(cutBy('same-call'));
    loop.iterate(cutBy('same-call'));
    loop.resume();
    expect(loop.iterate(cutBy('same-call')).ending).toBeNull();
    expect(loop.iterate(cutBy('same-call')).ending?.status).toBe('stalled');
  });
});
