import { expect, test } from 'vitest';
import type { SignFound } from '../../../src/core/agent/sign.ts';
import { watchAttempt } from '../../../src/effects/agents/watch.ts';
import type { SilentCall } from '../../../src/loop/ports.ts';
import { NO_LIMITS } from '../../helpers/no-limits.ts';

/** A watched attempt whose timers are let run out by hand. */
function watched(limits = NO_LIMITS, isCause = true) {
  const found: SignFound[] = [];
  const silent: SilentCall[] = [];
  const causes: string[] = [];
  const timers = new Map<() => void, number>();
  const watch = watchAttempt(
    {
      activity() {},
      retry() {},
      text() {},
      found: (sign) => found.push(sign),
      silentTool: (call) => silent.push(call),
    },
    limits,
    {
      hopeless: (cause) => {
        causes.push(cause);
        return isCause;
      },
    },
    (callback, ms) => {
      timers.set(callback, ms);
      return () => timers.delete(callback);
    },
  );
  const runOut = (): void => {
    const due = [...timers.keys()];
    timers.clear();
    for (const callback of due) callback();
  };
  const call = (id: string, command: string): void =>
    watch.listener.did({ kind: 'called', id, by: null, tool: 'Bash', input: { command } });
  const answer = (id: string): void => watch.listener.did({ kind: 'answered', id, how: 'failed' });
  return { watch, found, silent, causes, timers, runOut, call, answer };
}

test('ends the agent at a cut, and says by which sign', () => {
  const { watch, found, causes, call, answer } = watched({ ...NO_LIMITS, sameFailing: 1 });
  for (const id of ['a', 'b']) {
    expect(watch.cutBy()).toBeNull();
    call(id, 'make');
    answer(id);
  }
  expect(causes).toEqual(['supervisor']);
  expect(found).toMatchObject([{ sign: 'same-failing-call', action: 'cut' }]);
  expect(watch.cutBy()).toEqual(found[0]);
});

test('says nothing of a cut where the agent has ended otherwise', () => {
  const { watch, found, call, answer } = watched({ ...NO_LIMITS, sameFailing: 1 }, false);
  for (const id of ['a', 'b']) {
    call(id, 'make');
    answer(id);
  }
  expect(found).toEqual([]);
  expect(watch.cutBy()).toBeNull();
});

test('names a tool that has not answered for ten minutes, once', () => {
  const { silent, timers, runOut, call, answer } = watched();
  call('a', 'sleep   9999\nls');
  call('b', 'ls');
  expect([...timers.values()]).toEqual([60_000]);
  answer('b');
  for (let minute = 1; minute <= 10; minute += 1) runOut();
  expect(silent).toEqual([]);
  runOut();
  expect(silent).toEqual([{ tool: 'Bash', target: 'sleep 9999 ls', minutes: 10 }]);
  expect(timers.size).toBe(0);
});

test('leaves no timer behind', () => {
  const { watch, timers, call } = watched();
  for (let id = 0; id < 1_000; id += 1) call(String(id), 'ls');
  expect(timers.size).toBe(1);
  watch.stop();
  expect(timers.size).toBe(0);
});
