import { expect, test } from 'vitest';
import type { LoopState } from '../../../src/core/machine/loop-state.ts';
import type { Approval, Wait } from '../../../src/core/task/task-state.ts';
import { laterBy } from '../../../src/core/task/task-state.ts';
import { parkingOf, restUntil } from '../../../src/fleet/core/parking.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

const NOW = '2026-03-01T12:00:00.000Z';
const OPEN = { now: NOW, isAnswered: false };

function waiting(kind: Wait['kind'], ms: number): LoopState {
  const { task, ...state } = loopInHand().state();
  return {
    ...state,
    step: { kind: 'waiting' },
    task: { ...task, wait: { kind, until: laterBy(NOW, ms) } },
  };
}

test.for<Wait['kind']>(['outage', 'back-off'])(
  'a wait of more than a minute parks the leg, by the clock of the fleet: %s',
  (kind) => {
    const until = laterBy(NOW, 60_001);
    expect(parkingOf(waiting(kind, 60_001), OPEN)).toEqual({
      ...{ kind: 'wait', until, inMs: 60_001, account: false },
    });
  },
);

test('a usage limit rests its account until the instant that the service has named', () => {
  expect(parkingOf(waiting('usage-limit', 60_001), OPEN)).toEqual({
    ...{ kind: 'wait', until: laterBy(NOW, 60_001), account: true },
  });
});

test('a usage limit without a reset rests its account for half an hour, however short the wait', () => {
  const { task, ...state } = waiting('usage-limit', 30_000);
  const wait = { kind: 'usage-limit', until: laterBy(NOW, 30_000), is_guess: true } as const;
  expect(parkingOf({ ...state, task: { ...task, wait } }, OPEN)).toEqual({
    ...{ kind: 'wait', until: laterBy(NOW, 1_800_000), inMs: 1_800_000, account: true },
  });
});

test.for([
  ['unknown', null, 1_800_000],
  ['over', laterBy(NOW, -1), 1_800_000],
  ['very near', laterBy(NOW, 1), 60_000],
  ['further than any limit', laterBy(NOW, 8 * 86_400_000), 7 * 86_400_000],
] as const)(
  'an account rests by the clock of the fleet if its reset is %s',
  ([, resetsAt, inMs]) => {
    expect(restUntil(resetsAt, NOW)).toEqual({ until: laterBy(NOW, inMs), inMs });
  },
);

test('a shorter wait is waited out', () => {
  expect(parkingOf(waiting('usage-limit', 60_000), OPEN)).toBeNull();
  expect(parkingOf(waiting('usage-limit', -5), OPEN)).toBeNull();
});

test('a task that works is not parked', () => {
  const state = waiting('usage-limit', 3_600_000);
  expect(parkingOf({ ...state, step: { kind: 'working', resumed: false } }, OPEN)).toBeNull();
});

const ASKED: Approval = {
  ...{ id: 'a', what: 'deploy', file: 'APPROVAL_t_a.md', by_agent: false },
  ...{ requested_at: NOW, expires_at: laterBy(NOW, 86_400_000) },
  ...{ there_before: { approved: null, rejected: null }, decision: null },
  ...{ answered_at: null, answer_file: null, reason: null },
};

function asking(approval: Approval): LoopState {
  const { task, ...state } = loopInHand().state();
  return { ...state, step: { kind: 'approving' }, task: { ...task, approval } };
}

test('a task that waits for a person is parked until the request expires', () => {
  const until = ASKED.expires_at;
  expect(parkingOf(asking(ASKED), OPEN)).toEqual({ kind: 'approval', until, inMs: 86_400_000 });
});

test.for([
  {
    name: 'the request is not written yet',
    approval: { ...ASKED, there_before: null },
    isAnswered: false,
  },
  { name: 'it is answered', approval: ASKED, isAnswered: true },
  {
    name: 'the answer is in the state',
    approval: { ...ASKED, decision: 'approved' as const },
    isAnswered: false,
  },
])('a task that waits for a person goes on once $name', ({ approval, isAnswered }) => {
  expect(parkingOf(asking(approval), { now: NOW, isAnswered })).toBeNull();
});
