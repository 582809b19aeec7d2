import { describe, expect, test } from 'vitest';
import { NOTHING_SEEN } from '../../../src/core/completion/sightings.ts';
import type { ApprovalAnswer } from '../../../src/core/machine/loop-event.ts';
import { timeLeftMs } from '../../../src/core/task/clock-gap.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { laterBy, msBetween } from '../../../src/core/task/task-state.ts';
import { answered, errorReport } from '../../helpers/attempt-facts.ts';
import { checks } from '../../helpers/checks.ts';
import { type Loop, OVERLOADED, WORK } from '../../helpers/loop-events.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';
import { newTask, START } from '../../helpers/new-task.ts';

// The wall clock jumps while something is asked for: the machine sleeps, or somebody sets its clock.

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TASK_MS = 30 * 60_000;
const CLAIM = answered('<promise>DONE</promise>');
const FAILED = { command: 'npm test', exitCode: 1, timedOut: false, output: '' };
const APPROVED: ApprovalAnswer = { kind: 'approved', file: 'Approved/x.md', reason: null };
const LIMITED = errorReport("You've hit your limit", 429, {
  rateLimit: { status: 'rejected', resetsAt: laterBy(START, HOUR), type: 'x', utilization: 1 },
});

/** What is asked for, and how it goes on with the clock jumping in its midst. */
const ASKED: readonly [
  what: string,
  policy: Partial<Policy>,
  reach: (loop: Loop) => void,
  goOn: (loop: Loop, jumpMs: number) => void,
][] = [
  [
    'the agent',
    {},
    () => {},
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.iterate({ ...WORK, durationMs: 60_000 });
    },
  ],
  [
    'the look',
    { watchGlobs: ['out/*.md'] },
    (loop) => loop.iterate(WORK),
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.pass(2_000);
      loop.look(NOTHING_SEEN);
    },
  ],
  [
    '--verify',
    { verify: checks('npm test') },
    (loop) => loop.iterate(CLAIM),
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.pass(2_000);
      loop.verified(FAILED);
    },
  ],
  [
    '--after',
    { after: './sync' },
    (loop) => loop.iterate(WORK),
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.followed(2_000);
    },
  ],
  [
    'a delay',
    { delayMs: 10_000 },
    (loop) => loop.iterate(WORK),
    (loop, jumpMs) => loop.wait(0, jumpMs),
  ],
  ['a back-off', {}, (loop) => loop.iterate(OVERLOADED), (loop, jumpMs) => loop.wait(0, jumpMs)],
  ['a usage limit', {}, (loop) => loop.iterate(LIMITED), (loop, jumpMs) => loop.wait(0, jumpMs)],
  [
    'the request for an approval',
    {},
    (loop) => loop.iterate(answered('<approval id="a">go on</approval>')),
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.requested();
      loop.answered(APPROVED);
    },
  ],
  [
    'an approval',
    {},
    (loop) => {
      loop.iterate(answered('<approval id="a">go on</approval>'));
      loop.requested();
    },
    (loop, jumpMs) => {
      loop.jump(jumpMs);
      loop.pass(60_000);
      loop.answered(APPROVED);
    },
  ],
];

/** What is left of the task's time, and where it stands, after the clock has jumped. */
function standing([, policy, reach, goOn]: (typeof ASKED)[number], jumpMs: number, heldUpMs = 0) {
  const loop = loopInHand({ delayMs: 0, ...policy }, TASK_MS);
  loop.start();
  reach(loop);
  loop.holdUp(heldUpMs);
  goOn(loop, jumpMs);
  const { status, timeout_at, current_iteration, attempt } = loop.state().task;
  return { status, leftMs: msBetween(loop.now(), timeout_at), current_iteration, attempt };
}

describe.for(ASKED)('while %s takes its time', (asked) => {
  test.for([
    ['the machine sleeps for ten hours', 10 * HOUR],
    ['the clock is set forward by 400 days', 400 * DAY],
    ['the clock is set back by two days', -2 * DAY],
    ['the clock is set back by ten seconds', -10_000],
  ] as const)('%s: the task has the time that it had', ([, jumpMs]) => {
    expect(standing(asked, jumpMs)).toEqual(standing(asked, 0));
    expect(standing(asked, jumpMs).status).toBe('running');
  });

  test('ralph is stopped for an hour: the task has the time that it had', () => {
    const { leftMs, ...rest } = standing(asked, 0, HOUR);
    const { leftMs: wouldBeLeftMs, ...same } = standing(asked, 0);
    expect(rest).toEqual(same);
    // A delay may have passed meanwhile.
    expect(leftMs - wouldBeLeftMs).toBe(asked[0] === 'a delay' ? 10_000 : 0);
  });

  test.for([4_000, -4_000])('the clock is set by %i ms: nobody notices', (jumpMs) => {
    const { leftMs } = standing(asked, 0);
    expect(standing(asked, jumpMs).leftMs).toBe(leftMs - jumpMs);
  });
});

test('only the part of a delay counts in which ralph was not suspended', () => {
  const loop = loopInHand({ delayMs: 10_000 }, TASK_MS);
  loop.start();
  loop.iterate(WORK);
  const leftMs = (): number => msBetween(loop.now(), loop.state().task.timeout_at);
  const beforeMs = leftMs();
  loop.pass(3_000);
  loop.holdUp(HOUR);
  loop.wait();
  expect(leftMs()).toBe(beforeMs - 3_000);
});

test('time in which ralph was suspended beside the agent does not count', () => {
  const loop = loopInHand({ delayMs: 0 }, TASK_MS);
  loop.start();
  loop.iterate({ ...WORK, durationMs: HOUR, heldUpMs: HOUR - 60_000 });
  const { status, timeout_at } = loop.state().task;
  expect(status).toBe('running');
  expect(msBetween(loop.now(), timeout_at)).toBe(TASK_MS - 60_000);
});

test.for([
  ['the same limit', { oldMs: TASK_MS, newMs: TASK_MS }, TASK_MS - 60_000],
  ['a longer one', { oldMs: TASK_MS, newMs: TASK_MS + HOUR }, TASK_MS - 60_000 + HOUR],
] as const)(
  'a resumed task has the time that its last driver left, with %s',
  ([, limits, leftMs]) => {
    const task = { ...newTask(), timeout_at: laterBy(START, TASK_MS) };
    expect(timeLeftMs(task, laterBy(START, 60_000), limits)).toBe(leftMs);
  },
);
