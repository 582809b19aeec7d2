import { describe, expect, test } from 'vitest';
import { summaryLine } from '../../../src/core/machine/settling.ts';
import type { Settlement } from '../../../src/core/snapshots/settlement.ts';
import { answered, cut } from '../../helpers/attempt-facts.ts';
import { loopInHand } from '../../helpers/loop-in-hand.ts';

const COMMITTED = { kind: 'committed', commit: 'c0ffee', branch: 'work', files: 2 } as const;
const REFUSED: Settlement = { kind: 'refused', why: 'git commit ended with 1', output: 'no tabs' };

describe('when an iteration is settled', () => {
  test('after it is judged, and before --after', () => {
    const loop = loopInHand({ commit: true, after: './sync', delayMs: 0 });
    loop.start();
    const judged = loop.iterate(answered('Renamed the parser.'));
    expect(judged.actions).toEqual(['task_iterated', 'commit 1']);
    expect(loop.settled(COMMITTED).actions).toEqual(['iteration_committed', 'run-after ./sync']);
    expect(loop.followed().actions).toEqual(['iteration_started', 'start-agent 2.1']);
  });

  test('before the task ends, also after a stop', () => {
    const done = loopInHand({ commit: true });
    done.start();
    expect(done.iterate(answered('All good.\n\n<promise>DONE</promise>')).actions).toContain(
      'commit 1',
    );
    expect(done.settled(COMMITTED).actions).toEqual(['iteration_committed', 'stop:completed']);
    const stopped = loopInHand({ commit: true });
    stopped.start();
    stopped.stop('SIGTERM');
    expect(stopped.iterate(answered('On it.')).actions).toEqual(['task_iterated', 'commit 1']);
    expect(stopped.settled(COMMITTED).actions).toEqual(['iteration_committed', 'stop:stopped']);
  });

  test('not where nobody asks for it', () => {
    const loop = loopInHand({ delayMs: 0 });
    loop.start();
    expect(loop.iterate(answered('On it.')).actions).toContain('start-agent 2.1');
  });

  test('an iteration that was cut is taken back, any other is committed', () => {
    const loop = loopInHand({ commit: true, revertFailed: true, delayMs: 0 });
    loop.start();
    expect(loop.iterate(cut('iteration-timeout')).actions).toContain('revert 1');
    loop.settled({ kind: 'reverted', files: 1, kept: [], diff: '' });
    expect(loop.iterate(answered('On it.')).actions).toContain('commit 2');
  });

  test('a cut iteration is committed without --revert-failed', () => {
    const loop = loopInHand({ commit: true });
    loop.start();
    expect(loop.iterate(cut('iteration-timeout')).actions).toContain('commit 1');
  });

  test('an answer that belongs to another step changes nothing', () => {
    const loop = loopInHand({ commit: true });
    loop.start();
    expect(loop.settled(COMMITTED).actions).toEqual([]);
  });
});

test('a driver that dies in the step repeats it', () => {
  const loop = loopInHand({ commit: true, delayMs: 0 });
  loop.start();
  loop.iterate(answered('On it.'));
  const resumed = loop.resume();
  expect(resumed.actions).toEqual(['task_resumed', 'commit 1 again']);
  expect(resumed.kept).toMatchObject([{ as: 'missing-end', iteration: 1 }]);
  expect(loop.settled(COMMITTED).actions).toContain('start-agent 2.1');
  expect(loop.resume({ commit: false }).actions).not.toContain('commit 2 again');
});

test('a resume without the flag does not repeat it', () => {
  const loop = loopInHand({ commit: true, delayMs: 0 });
  loop.start();
  loop.iterate(answered('On it.'));
  expect(loop.resume({ commit: false }).actions).toContain('start-agent 2.1');
});

describe('what the next prompt says', () => {
  test('the words of a failing hook', () => {
    const loop = loopInHand({ commit: true, delayMs: 0 });
    loop.start();
    loop.iterate(answered('On it.'));
    const { addition, told } = loop.settled(REFUSED);
    expect(addition).toContain('no tabs');
    expect(addition).toContain('could not be committed, because git commit ended with 1.');
    expect(told).toContainEqual({
      event: 'commit_failed',
      iteration: 1,
      why: 'git commit ended with 1',
    });
  });

  test('what was taken back, within 4,000 characters, and what stays', () => {
    const loop = loopInHand({ revertFailed: true, delayMs: 0 });
    loop.start();
    loop.iterate(cut('iteration-timeout'));
    const diff = `+wrong way\n${'x'.repeat(5_000)}`;
    const { addition, told } = loop.settled({ kind: 'reverted', files: 3, kept: ['k'], diff });
    expect(addition).toContain('+wrong way');
    expect(addition).not.toContain('x'.repeat(4_000));
    expect(addition).toContain('3 files are as before it');
    expect(addition).toContain('they stay as they are: k.');
    expect(told).toContainEqual({
      event: 'iteration_reverted',
      iteration: 1,
      files: 3,
      kept: ['k'],
    });
  });

  test('nothing of what the agent cannot fix', () => {
    const loop = loopInHand({ commit: true, delayMs: 0 });
    loop.start();
    loop.iterate(answered('On it.'));
    const { addition, told } = loop.settled({ kind: 'not-committed', why: 'a merge is under way' });
    expect(addition).not.toContain('merge');
    expect(told).toContainEqual({
      event: 'commit_failed',
      iteration: 1,
      why: 'a merge is under way',
    });
  });
});

test('an agent that changes branches is told where its work is', () => {
  const loop = loopInHand({ commit: true, delayMs: 0 });
  loop.start();
  const commitOn = (branch: string) => {
    loop.iterate(answered('On it.'));
    return loop.settled({ ...COMMITTED, branch });
  };
  expect(commitOn('ralph/t').addition).not.toContain('branch');
  expect(commitOn('ralph/t').addition).not.toContain('branch');
  const { addition, state } = commitOn('ralph/t-2');
  expect(addition).toContain('what you did last is on ralph/t-2, which is checked out');
  expect(addition).toContain('what you did before on ralph/t. Stay on ralph/t-2:');
  expect(state.task.git.branches).toEqual(['ralph/t', 'ralph/t-2']);
  expect(commitOn('ralph/t-2').addition).not.toContain('branch');
});

test('what could not be committed is handed on when the task ends', () => {
  const loop = loopInHand({ commit: true, delayMs: 0, maxIterations: 3 });
  loop.start();
  for (const settlement of [COMMITTED, REFUSED]) {
    loop.iterate(answered('On it.'));
    loop.settled(settlement);
  }
  loop.iterate(answered('Tidied up.'));
  expect(loop.settled(REFUSED).left).toEqual({
    ...{ since: 2, iteration: 3, outcome: 'answered', summary: 'Tidied up.', again: true },
  });
});

test('what could not be committed goes into the next commit', () => {
  const loop = loopInHand({ commit: true, delayMs: 0 });
  loop.start();
  const sinceOf = () => {
    const { step, streaks } = loop.iterate(answered('On it.')).state;
    return step.kind === 'settling' ? (streaks.uncommitted ?? 0) : null;
  };
  expect(sinceOf()).toBe(0);
  loop.settled(REFUSED);
  expect(sinceOf()).toBe(1);
  loop.settled({ kind: 'nothing' });
  expect(sinceOf()).toBe(2);
  loop.settled(COMMITTED);
  expect(sinceOf()).toBe(0);
});

test.for<[string, string]>([
  ['Renamed the parser.\n\n<promise>TASK_COMPLETE</promise>', 'Renamed the parser.'],
  ['Renamed the parser.\n\nTASK_COMPLETE', 'Renamed the parser.'],
  ['# Summary\n\n- Fixed **all** tests\n\n```sh\nnpm test now\n```\n', 'Fixed all tests'],
  ['Fixed it all.\n<progress done="1" total="2">the next step</progress>', 'Fixed it all.'],
  ['One.', 'One.'],
  ['Task_complete!', ''],
  ['```\n---', ''],
  ['', ''],
])('the summary of %j', ([message, expected]) => {
  expect(summaryLine(message, ['TASK_COMPLETE', null])).toBe(expected);
});
