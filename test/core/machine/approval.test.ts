import { describe, expect, test } from 'vitest';
import { NOTHING_SEEN, type Sightings } from '../../../src/core/completion/sightings.ts';
import type { ApprovalAnswer, LoopEvent } from '../../../src/core/machine/loop-event.ts';
import { protocolNote } from '../../../src/core/prompt/prompt.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { lastWorkAt, laterBy } from '../../../src/core/task/task-state.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { checks } from '../../helpers/checks.ts';
import { type Loop, nonstop, OVERLOADED, TAG, WORK } from '../../helpers/loop-events.ts';
import { A_DAY_MS, loopInHand, type Turn } from '../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { START } from '../../helpers/new-task.ts';

const ASKED = '<approval id="deploy">deploy to production</approval>';
const ASKING = answered(`All is ready.\n\n${ASKED}`);
const FILE = 'APPROVAL_task-1_deploy.md';
const HOUR_MS = 3_600_000;
const APPROVED: ApprovalAnswer = { kind: 'approved', file: `Approved/${FILE}`, reason: null };
const REJECTED: ApprovalAnswer = {
  kind: 'rejected',
  file: `Rejected/${FILE}`,
  reason: 'Not on a Friday.',
};
const NOBODY = { approved: null, rejected: null };

/** The agent has asked, and the request lies there. */
function waiting(changes: Partial<Policy> = {}, taskTimeoutMs?: number): Loop {
  const loop = nonstop(changes, taskTimeoutMs);
  loop.iterate(ASKING);
  loop.requested();
  return loop;
}

describe('asking', () => {
  test('starts nothing, writes the request first, and announces it then', () => {
    const loop = nonstop();
    expect(loop.iterate(ASKING).actions).toEqual(['task_iterated', 'request-approval deploy']);
    const turn = loop.requested();
    expect(turn.actions).toEqual(['task_paused', 'await-approval deploy']);
    expect(turn.told[0]).toEqual({
      event: 'task_paused',
      approval_id: 'deploy',
      what: 'deploy to production',
      file: FILE,
    });
  });

  test('puts the whole request into the state', () => {
    const { state } = nonstop().iterate(ASKING);
    const at = laterBy(START, 1_000);
    expect(state.step).toEqual({ kind: 'approving' });
    expect(state.task).toMatchObject({
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
      wait: null,
      finished_at: null,
      exit_reason: null,
      metrics: { iterations: 1 },
      approval: {
        id: 'deploy',
        what: 'deploy to production',
        file: FILE,
        by_agent: false,
        requested_at: at,
        expires_at: laterBy(at, A_DAY_MS),
        there_before: null,
        decision: null,
        answered_at: null,
        answer_file: null,
        reason: null,
      },
    });
  });

  test('waits after the request is written, and stores which files were there before', () => {
    const loop = nonstop();
    loop.iterate(ASKING);
    const turn = loop.requested({ approved: 'old', rejected: null });
    expect(turn.actions).toEqual(['task_paused', 'await-approval deploy']);
    expect(turn.state.task.approval?.there_before).toEqual({ approved: 'old', rejected: null });
  });

  test('a credential in the request is masked', () => {
    const secret = 'sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789';
    const loop = nonstop();
    const { state } = loop.iterate(answered(`<approval id="x">use ${secret}</approval>`));
    expect(state.task.approval?.what).not.toContain(secret);
    expect(state.task.approval?.what).toMatch(/^use /);
  });

  test('with --no-wait only checks once for an answer', () => {
    const loop = nonstop({ noWait: true });
    loop.iterate(ASKING);
    expect(loop.requested().actions).toEqual(['task_paused', 'await-approval deploy not waiting']);
  });

  test('a request that could not be written ends the run, and the task can be resumed', () => {
    const loop = nonstop();
    loop.iterate(ASKING);
    const turn = loop.answered({ kind: 'none', why: 'not-waited' });
    expect(turn.actions).toEqual(['stop:paused_awaiting_approval']);
    expect(loop.resume().actions).toEqual(['task_resumed', 'request-approval deploy']);
  });
});

describe('what comes before and after a request in the same message', () => {
  const say = (words: string, changes: Partial<Policy> = {}): readonly string[] =>
    nonstop(changes).iterate(answered(words)).actions;

  test('a promise: an agent that asks for an approval is not done', () => {
    expect(say(`${ASKED}\n\n${TAG}`).at(-1)).toBe('request-approval deploy');
    expect(nonstop().iterate(answered(`${ASKED}\n\n${TAG}`)).state.task.status).not.toBe(
      'completed',
    );
  });

  test('nor is the check run', () => {
    expect(say(`${ASKED}\n\n${TAG}`, { verify: checks('npm test') }).at(-1)).toBe(
      'request-approval deploy',
    );
  });

  test('the abort promise comes first', () => {
    const actions = say(`${ASKED}\n\n<promise>IMPOSSIBLE</promise>`, {
      abortPromise: 'IMPOSSIBLE',
    });
    expect(actions.at(-1)).toBe('stop:failed');
  });

  test('the command that follows an iteration runs first', () => {
    const loop = nonstop({ after: './sync' });
    expect(loop.iterate(ASKING).actions).toEqual(['task_iterated', 'run-after ./sync']);
    expect(loop.followed().actions).toEqual(['request-approval deploy']);
  });

  test.for<[name: string, changes: Partial<Policy>]>([
    ['the money is spent', { maxCostUsd: 0.01 }],
    ['the circuit breaker is about to open', { noProgressLimit: 1 }],
    ['the iterations are used up', { maxIterations: 1 }],
  ])('a person is asked although %s', ([, changes]) => {
    const loop = nonstop({ ...changes });
    const turn = loop.iterate(ASKING);
    expect(turn.actions.at(-1)).toBe('request-approval deploy');
  });

  test('an echo of the example in the prompt asks for nothing', () => {
    expect(say(protocolNote(loopPolicy())).at(-1)).toBe('start-agent 2.1');
    const example = '<approval id="short-id">what you want to do</approval>';
    expect(say(`I could have said ${example}.`).at(-1)).toBe('start-agent 2.1');
    expect(say(`${ASKED}\n\nI was told: ${example}`).at(-1)).toBe('request-approval deploy');
  });
});

describe('a file of the agent in Pending_Approval', () => {
  const seen = (name: string): Sightings => ({
    ...NOTHING_SEEN,
    approvalFile: { name, what: 'Send the mail to Anna?' },
  });

  test.for([
    ['Send Mail.md', 'send-mail'],
    ['MAIL_t.txt', 'mail-t'],
    ['---.md', 'request'],
    ['Überweisung für Jürgen.md', 'berweisung-f-r-j-rgen'],
    [`${'x'.repeat(60)}.md`, 'x'.repeat(40)],
  ] as const)('%s is the request, with the id %s', ([name, id]) => {
    const loop = nonstop();
    expect(loop.attempt(WORK).actions).toEqual(['look']);
    const turn = loop.look(seen(name));
    expect(turn.actions).toEqual(['task_iterated', `request-approval ${id}`]);
    expect(turn.state.task.approval).toMatchObject({
      id,
      what: 'Send the mail to Anna?',
      file: name,
      by_agent: true,
    });
  });

  test('comes before a request in words, and before a promise', () => {
    const loop = nonstop();
    loop.attempt(answered(`${ASKED}\n\n${TAG}`));
    expect(loop.look(seen('mail.md')).actions.at(-1)).toBe('request-approval mail');
  });

  test('has no name that could act on a terminal', () => {
    const loop = nonstop();
    loop.attempt(WORK);
    loop.look(seen('a\u001b[2Jb\nc.md'));
    const { told, state } = loop.requested();
    expect(told[0]).toMatchObject({ event: 'task_paused', file: 'ab c.md' });
    // The file itself is called so none the less.
    expect(state.task.approval?.file).toBe('a\u001b[2Jb\nc.md');
  });
});

describe('the answer', () => {
  test('approved: the next iteration, whose prompt says so', () => {
    const loop = waiting();
    loop.pass(HOUR_MS);
    const turn = loop.answered(APPROVED);
    expect(turn.actions).toEqual(['task_resumed', 'iteration_started', 'start-agent 2.1']);
    expect(turn.told[0]).toEqual({
      event: 'task_resumed',
      iteration: 1,
      max_iterations: 5,
      approval_id: 'deploy',
      decision: 'approved',
      file: `Approved/${FILE}`,
      reason: null,
    });
    expect(turn.addition).toContain(
      'A person has approved your request deploy (deploy to production): you may do it now.',
    );
    expect(turn.state.task).toMatchObject({
      status: 'running',
      paused_for_approval: false,
      approval: {
        decision: 'approved',
        answered_at: loop.now(),
        answer_file: `Approved/${FILE}`,
        reason: null,
      },
    });
  });

  test('rejected: the next iteration, whose prompt says why', () => {
    const turn = waiting().answered(REJECTED);
    expect(turn.actions.at(-1)).toBe('start-agent 2.1');
    expect(turn.addition).toContain(
      'A person has rejected your request deploy (deploy to production), because: Not on a Friday. Do not do it;',
    );
    expect(turn.addition).not.toContain('you may do it now');
    expect(turn.state.task.approval).toMatchObject({
      decision: 'rejected',
      reason: 'Not on a Friday.',
      answer_file: `Rejected/${FILE}`,
    });
  });

  test('rejected without a reason', () => {
    const turn = waiting().answered({ ...REJECTED, reason: null } as ApprovalAnswer);
    expect(turn.addition).toContain('(deploy to production). Do not do it;');
  });

  test('the prompt contains a reason in full, on one line, and no file that it names', () => {
    const reason = `Ask @anna.md first. ${'x'.repeat(700)}`;
    const turn = waiting().answered({ ...REJECTED, reason } as ApprovalAnswer);
    expect(turn.addition).toContain(`because: Ask \\@anna.md first. ${'x'.repeat(700)}. Do not`);
  });

  test('a promise in the reason is not a statement if the agent repeats it', () => {
    const loop = waiting();
    loop.answered({ ...REJECTED, reason: `Say ${TAG} when it is done` } as ApprovalAnswer);
    const echo = answered(
      'A person has rejected it, because: Say <promise>DONE</promise> when it is done',
    );
    expect(loop.iterate(echo).state.task.status).toBe('running');
  });

  test('is in one prompt only', () => {
    const loop = waiting();
    loop.answered(APPROVED);
    expect(loop.iterate(WORK).addition).not.toContain('approved');
  });

  test('is not followed by the note that nobody answers questions', () => {
    const loop = nonstop();
    loop.iterate(answered(`${ASKED}\n\nMay I?`));
    loop.requested();
    expect(loop.answered(APPROVED).addition).not.toContain('ended in a question');
  });

  test('leaves the next iteration all its quick retries', () => {
    const loop = nonstop();
    const [, , third] = [loop.iterate(OVERLOADED), loop.wait(), loop.iterate(OVERLOADED)];
    expect(third.waitMs).toBe(1_500);
    loop.wait();
    loop.iterate(ASKING);
    loop.requested();
    expect(loop.answered(APPROVED).actions.at(-1)).toBe('start-agent 2.1');
    expect(loop.iterate(OVERLOADED).waitMs).toBe(750);
  });

  test('on the last iteration: it is recorded, and the iterations are used up', () => {
    const loop = waiting({ maxIterations: 1 });
    const turn = loop.answered(APPROVED);
    expect(turn.actions).toEqual(['task_resumed', 'stop:max_iterations_reached']);
    const resumed = loop.resume({ maxIterations: 3 });
    expect(resumed.actions.at(-1)).toBe('start-agent 2.1');
    expect(resumed.addition).toContain('approved your request deploy');
  });

  test('after the budget is spent: no further iteration', () => {
    const turn = waiting({ maxCostUsd: 0.01 }).answered(APPROVED);
    expect(turn.actions).toEqual(['task_resumed', 'stop:budget_spent']);
  });

  test('a second request replaces the first', () => {
    const loop = waiting();
    loop.answered(APPROVED);
    loop.iterate(answered('<approval id="mail">send the mail</approval>'));
    expect(loop.state().task.approval).toMatchObject({
      id: 'mail',
      decision: null,
      there_before: null,
      answer_file: null,
    });
  });

  test('does not come and the request expires: the run ends with 6, and resume asks again', () => {
    const loop = waiting({ approvalTimeoutMs: HOUR_MS });
    loop.pass(HOUR_MS);
    const turn = loop.answered({ kind: 'none', why: 'expired' });
    expect(turn.actions).toEqual(['stop:paused_awaiting_approval']);
    expect(turn.ending).toMatchObject({
      exitReason: 'approval-expired',
      event: 'task_paused',
      note: null,
    });
    expect(turn.state.task).toMatchObject({
      status: 'paused_awaiting_approval',
      paused_for_approval: true,
      approval: { decision: null, answered_at: null },
    });
    const resumed = loop.resume();
    expect(resumed.actions).toEqual(['task_resumed', 'request-approval deploy']);
    expect(resumed.state.task.approval?.expires_at).toBe(laterBy(loop.now(), HOUR_MS));
  });

  test('that is not waited for: the run ends with 6', () => {
    const turn = waiting({ noWait: true }).answered({ kind: 'none', why: 'not-waited' });
    expect(turn.ending).toMatchObject({
      status: 'paused_awaiting_approval',
      exitReason: 'approval-pending',
    });
  });

  test('is ignored if nobody was asked', () => {
    const loop = nonstop();
    const before = loop.state().step;
    expect(loop.answered(APPROVED)).toMatchObject({ actions: [] });
    expect(loop.requested()).toMatchObject({ actions: [] });
    expect(loop.state().step).toEqual(before);
  });
});

describe('somebody asks for an end while it waits', () => {
  test('stop', () => {
    const loop = waiting();
    loop.stop('SIGTERM');
    const turn = loop.answered({ kind: 'none', why: 'interrupted' });
    expect(turn.actions).toEqual(['stop:stopped']);
    expect(turn.state.task).toMatchObject({
      exit_reason: 'stopped:SIGTERM',
      paused_for_approval: true,
    });
    expect(loop.resume().actions).toEqual(['task_resumed', 'request-approval deploy']);
  });

  test('pause', () => {
    const loop = waiting();
    loop.pause();
    const turn = loop.answered({ kind: 'none', why: 'interrupted' });
    expect(turn.actions).toEqual(['stop:paused']);
    expect(loop.resume().actions).toEqual(['task_resumed', 'request-approval deploy']);
  });

  test.for<['stop' | 'pause', string]>([
    ['stop', 'stop:stopped'],
    ['pause', 'stop:paused'],
  ])('%s, and the answer comes at the same moment: it is left for the resume', ([what, ending]) => {
    const loop = waiting();
    if (what === 'stop') loop.stop('request');
    else loop.pause();
    expect(loop.answered(APPROVED).actions).toEqual(['task_resumed', ending]);
    const resumed = loop.resume();
    expect(resumed.actions.at(-1)).toBe('start-agent 2.1');
    expect(resumed.addition).toContain('approved your request deploy');
  });

  test('a signal that came while the agent asked: the request is made, and not waited for', () => {
    const loop = nonstop({ after: './sync' });
    loop.iterate(ASKING);
    loop.stop('SIGINT');
    expect(loop.followed().actions.at(-1)).toBe('request-approval deploy');
    loop.requested();
    expect(loop.answered({ kind: 'none', why: 'interrupted' }).actions).toEqual(['stop:stopped']);
  });
});

describe('the time of the whole task', () => {
  test.for<[name: string, answer: ApprovalAnswer]>([
    ['approved', APPROVED],
    ['rejected', REJECTED],
    ['expired', { kind: 'none', why: 'expired' }],
    ['stopped', { kind: 'none', why: 'interrupted' }],
  ])('moves on by the wait: %s', ([, answer]) => {
    const loop = waiting();
    if (answer.kind === 'none' && answer.why === 'interrupted') loop.stop('SIGINT');
    const { timeout_at } = loop.state().task;
    loop.pass(5 * HOUR_MS);
    expect(loop.answered(answer).state.task.timeout_at).toBe(laterBy(timeout_at, 5 * HOUR_MS));
  });

  test('also if the wait is far longer than the time of the task', () => {
    const loop = waiting({}, 60_000);
    loop.pass(20 * HOUR_MS);
    expect(loop.answered(APPROVED).actions.at(-1)).toBe('start-agent 2.1');
  });

  test('a driver that was killed while it waited has used none of it', () => {
    const loop = waiting();
    const { task } = loop.state();
    const asked = loop.now();
    // It went on beating.
    const beating = {
      ...task,
      driver: task.driver && { ...task.driver, beat_at: laterBy(asked, HOUR_MS) },
    };
    expect(lastWorkAt(beating)).toBe(asked);
    expect(lastWorkAt({ ...beating, paused_for_approval: false })).toBe(laterBy(asked, HOUR_MS));
  });
});

describe('a driver dies', () => {
  test('before the request was made: it is made', () => {
    const loop = nonstop();
    loop.iterate(ASKING);
    expect(loop.resume().actions).toEqual(['task_resumed', 'request-approval deploy']);
    expect(loop.state().task).toMatchObject({
      status: 'paused_awaiting_approval',
      metrics: { iterations: 1 },
    });
  });

  test('while it waited: the request is repeated with a new expiry, and the files from before are still known', () => {
    const loop = nonstop();
    loop.iterate(ASKING);
    loop.requested({ approved: 'old', rejected: null });
    const turn = loop.resume();
    expect(turn.actions).toEqual(['task_resumed', 'request-approval deploy']);
    expect(turn.state.task.approval).toMatchObject({
      requested_at: laterBy(START, 1_000),
      expires_at: laterBy(loop.now(), A_DAY_MS),
      there_before: { approved: 'old', rejected: null },
    });
    expect(loop.answered(APPROVED).actions.at(-1)).toBe('start-agent 2.1');
  });

  test('resumed with --no-wait: it only checks once for an answer', () => {
    const loop = waiting();
    loop.resume({ noWait: true });
    expect(loop.requested().actions).toEqual(['task_paused', 'await-approval deploy not waiting']);
  });

  test('after the answer: it is not asked again, and the next prompt says the answer', () => {
    const loop = waiting();
    loop.answered(REJECTED);
    const turn = loop.resume();
    expect(turn.actions.at(-1)).toBe('start-agent 2.2');
    expect(turn.addition).toContain('Not on a Friday.');
  });
});

describe('approval_required', () => {
  const policy = { approvalRequired: 'work on Needs_Action/x.md' };
  const file = 'APPROVAL_task-1_start.md';

  test('asks before the first iteration', () => {
    const loop = loopInHand(policy);
    const turn = loop.start();
    expect(turn.actions).toEqual(['task_started', 'request-approval start']);
    expect(turn.state.task).toMatchObject({
      current_iteration: 0,
      approval: { id: 'start', what: 'work on Needs_Action/x.md', file },
    });
  });

  test('approved: the first iteration, whose prompt says so', () => {
    const loop = loopInHand(policy);
    loop.start();
    loop.requested();
    const turn = loop.answered(APPROVED);
    expect(turn.actions).toEqual(['task_resumed', 'iteration_started', 'start-agent 1.1']);
    expect(turn.addition).toContain('A person has approved your request start');
    expect(loop.iterate(answered(TAG)).actions.at(-1)).toBe('stop:completed');
  });

  test('rejected: nothing is started, and the task has failed with the reason', () => {
    const loop = loopInHand(policy);
    loop.start();
    loop.requested();
    const turn = loop.answered(REJECTED);
    expect(turn.actions).toEqual(['task_resumed', 'stop:failed']);
    expect(turn.ending).toMatchObject({
      exitReason: 'failed:aborted',
      error: 'a person has rejected the task: Not on a Friday.',
      note: 'FAILED',
    });
  });

  test('rejected and resumed: a person is asked again, before anything is started', () => {
    const loop = loopInHand(policy);
    loop.start();
    loop.requested();
    loop.answered(REJECTED);
    const turn = loop.resume();
    expect(turn.actions).toEqual(['task_resumed', 'request-approval start']);
    expect(turn.state.task.approval).toMatchObject({
      what: 'work on Needs_Action/x.md',
      decision: null,
      reason: null,
      there_before: null,
      requested_at: loop.now(),
    });
    loop.requested();
    expect(loop.answered(APPROVED).actions.at(-1)).toBe('start-agent 1.1');
  });

  test('stopped while it waits, and resumed: it is still asked for', () => {
    const loop = loopInHand(policy);
    loop.start();
    loop.requested();
    loop.stop('request');
    loop.answered({ kind: 'none', why: 'interrupted' });
    expect(loop.resume().actions).toEqual(['task_resumed', 'request-approval start']);
  });

  test('is asked for once', () => {
    const loop = loopInHand({ ...policy, delayMs: 0 });
    loop.start();
    loop.requested();
    loop.answered(APPROVED);
    expect(loop.iterate(WORK).actions.at(-1)).toBe('start-agent 2.1');
  });
});

describe('a long task', () => {
  test('twenty requests, with different answers', () => {
    const loop = loopInHand({ delayMs: 0, maxIterations: 100 });
    let turn: Turn = loop.start();
    for (let number = 1; number <= 20; number += 1) {
      loop.iterate(answered(`<approval id="step-${number}">do step ${number}</approval>`));
      const events: Extract<LoopEvent, { kind: 'approval-answered' }>['answer'] =
        number % 2 === 0 ? APPROVED : REJECTED;
      loop.requested(NOBODY);
      turn = loop.answered(events);
      expect(turn.agent?.iteration).toBe(number + 1);
      expect(turn.addition).toContain(`request step-${number} (do step ${number})`);
    }
    expect(loop.iterate(answered(TAG)).actions.at(-1)).toBe('stop:completed');
    expect(loop.state().task.metrics.iterations).toBe(21);
  });
});
