import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/core/rescue/decide.ts';
import type { FileAction, FileFacts } from '../../../src/core/rescue/vault-files.ts';
import { fileFacts, fileTask, minutesAgo, NOW } from '../../helpers/vault-facts.ts';

const RULES = { now: NOW, stuckAfterMs: 20 * 60_000 };

/** The action in few words: `leave fresh`, `resume stuck_letter`, `rescue stuck_letter`. */
function words(action: FileAction): string {
  switch (action.kind) {
    case 'leave':
      return `leave ${action.reason}`;
    case 'to-human':
      return `to-human ${action.why}`;
    case 'resume':
    case 'rescue':
    case 'start-new':
    case 'finish':
      return `${action.kind} ${action.taskId}`;
    default:
      return action.kind;
  }
}

const decided = (facts: FileFacts): string => words(decide(facts, RULES));

const awaiting = (expiresInMinutes: number, isAnswered = false) =>
  fileTask('paused_awaiting_approval', {
    approval: { file: 'APPROVAL_x.md', expiresAt: minutesAgo(-expiresInMinutes), isAnswered },
  });

describe('a file in In_Progress', () => {
  test('that is stuck is rescued, and the action says for how long it was stuck', () => {
    expect(decide(fileFacts(), RULES)).toEqual({
      kind: 'rescue',
      taskId: 'stuck_letter',
      stuckForMs: 25 * 60_000,
    });
  });

  test.for([
    ['f\\xff.md', 'In_Progress', 'leave unnamed'],
    ['f\\xff.md', 'Needs_Action', 'leave unnamed'],
    ['f\\xff.pdf', 'Needs_Action', 'leave no-task'],
    ['.f\\xff.md', 'In_Progress', 'leave no-task'],
  ] as const)('whose name is no text: %s in %s', ([name, folder, expected]) => {
    expect(decided(fileFacts({ file: { name, folder, kind: 'unnamed', text: null } }))).toBe(
      expected,
    );
  });

  test.for([
    ['for 20 min', 20, 25, 'rescue stuck_letter'],
    ['for 19 min', 19, 25, 'leave fresh'],
    ['until a time to come, since the clock was set back', -5, -5, 'leave fresh'],
    ['until a time to come that was set by hand', -60_000, 25, 'rescue stuck_letter'],
  ] as const)('untouched %s', ([, touched, changed, expected]) => {
    const file = { touchedAt: minutesAgo(touched), changedAt: minutesAgo(changed) };
    expect(decided(fileFacts({ file }))).toBe(expected);
  });

  test.for([
    ['RALPH_EXHAUSTED_x_20260101T000000Z.md', 'leave own-note'],
    ['.letter.md', 'leave no-task'],
    ['~letter.md', 'leave no-task'],
    ['letter.md~', 'leave no-task'],
    ['letter.md.part', 'leave no-task'],
    ['letter.tmp', 'leave no-task'],
    ['letter.eml', 'rescue stuck_letter'],
    ['payment_acme.md', 'to-human payment'],
    ['2026-payments-ACME.md', 'to-human payment'],
    ['PaymentAcme.md', 'to-human payment'],
    ['repayment.md', 'rescue stuck_repayment'],
  ] as const)('named %s', ([name, expected]) => {
    expect(decided(fileFacts({ file: { name } }))).toBe(expected);
  });

  test.for([
    ['a type that is a payment', { frontMatter: { type: 'payment', problem: null } }],
    ['a type with that word', { frontMatter: { type: 'Vendor-Payments', problem: null } }],
    ['a line that says so', { text: 'Hello.\n**Type:** payment\n' }],
    ['a task type in a list', { text: '- task_type: "payment_approval"\n' }],
  ] as const)('with %s goes to a human', ([, file]) => {
    expect(decided(fileFacts({ file }))).toBe('to-human payment');
  });

  test('that only mentions a payment is rescued', () => {
    expect(decided(fileFacts({ file: { text: 'Their type of payment is odd.' } }))).toBe(
      'rescue stuck_letter',
    );
  });

  test.for([
    ['a link', { kind: 'link' as const }, 'leave link'],
    ['a folder', { kind: 'other' as const }, 'leave no-task'],
    ['no text', { text: null }, 'leave no-text'],
    ['empty', { text: ' \n' }, 'leave empty'],
    ['too large', { sizeBytes: 2_000_000, text: null }, 'to-human too-large'],
    [
      'a note of ralph’s by its type',
      { frontMatter: { type: 'ralph_failed', problem: null } },
      'leave own-note',
    ],
    [
      'not understood',
      { frontMatter: { type: null, problem: 'it ends early' } },
      'to-human front-matter',
    ],
    ['of an id that is taken', { hasNamesake: true }, 'leave namesake'],
  ] as const)('that is %s', ([, file, expected]) => {
    expect(decided(fileFacts({ file }))).toBe(expected);
  });

  test.for([
    ['live', fileTask('live'), 'leave live'],
    ['interrupted', fileTask('interrupted'), 'resume letter'],
    ['paused', fileTask('paused'), 'leave held'],
    ['stopped', fileTask('stopped', { exitReason: 'stopped:SIGINT' }), 'leave held'],
    ['limited', fileTask('usage_limited'), 'leave held'],
    ['corrupt', fileTask('corrupt'), 'leave unreadable-state'],
    ['newer', fileTask('newer ralph'), 'leave unreadable-state'],
    ['a program’s', fileTask('running', { isKeptByProgram: true }), 'leave held'],
    ['exhausted, its note gone', fileTask('max_iterations_reached'), 'rescue stuck_letter'],
    ['failed, its note gone', fileTask('failed'), 'rescue stuck_letter'],
    ['asking', awaiting(5), 'needs-approval'],
    ['asking for too long', awaiting(-5), 'overdue-approval'],
    ['answered, begun by a person', awaiting(5, true), 'leave held'],
  ] as const)('whose own task is %s', ([, own, expected]) => {
    expect(decided(fileFacts({ own }))).toBe(expected);
  });

  test('whose own task has left a note is left to a person', () => {
    const own = fileTask('max_iterations_reached');
    expect(decided(fileFacts({ own, ownNote: 'RALPH_EXHAUSTED_letter_x.md' }))).toBe('leave noted');
    expect(decided(fileFacts({ ownNote: 'RALPH_EXHAUSTED_letter_x.md' }))).toBe('leave noted');
  });

  test.for([
    ['interrupted', fileTask('interrupted'), 'resume letter'],
    ['limited', fileTask('usage_limited'), 'resume letter'],
    [
      'without a login',
      fileTask('failed', { exitReason: 'failed:not-logged-in' }),
      'resume letter',
    ],
    [
      'stopped by a signal',
      fileTask('stopped', { exitReason: 'stopped:SIGTERM' }),
      'resume letter',
    ],
    ['stopped on request', fileTask('stopped', { exitReason: 'stopped:request' }), 'leave fresh'],
    ['asking', awaiting(5), 'needs-approval'],
    ['answered', awaiting(5, true), 'resume letter'],
  ] as const)('whose own task a pass began, fresh, and %s', ([, own, expected]) => {
    const file = { touchedAt: minutesAgo(1) };
    expect(decided(fileFacts({ own, file, isOurs: true }))).toBe(expected);
  });

  test.for([
    ['live', fileTask('live'), 'leave live'],
    ['interrupted', fileTask('interrupted'), 'resume stuck_letter'],
    ['limited', fileTask('usage_limited'), 'resume stuck_letter'],
    [
      'stopped by a signal',
      fileTask('stopped', { exitReason: 'stopped:SIGINT' }),
      'resume stuck_letter',
    ],
    ['stopped on request', fileTask('stopped', { exitReason: 'stopped:request' }), 'leave held'],
    ['paused', fileTask('paused'), 'leave held'],
    ['out of money', fileTask('budget_spent'), 'leave held'],
    [
      'without a login',
      fileTask('failed', { exitReason: 'failed:not-logged-in' }),
      'resume stuck_letter',
    ],
    [
      'refused for its options',
      fileTask('failed', { exitReason: 'failed:bad-option' }),
      'rescue stuck_letter',
    ],
    ['exhausted', fileTask('max_iterations_reached'), 'rescue stuck_letter'],
    ['aborted', fileTask('failed', { exitReason: 'failed:aborted' }), 'rescue stuck_letter'],
    [
      'rejected at its start',
      fileTask('failed', { exitReason: 'failed:aborted', isRejected: true }),
      'leave rejected',
    ],
    ['corrupt', fileTask('corrupt'), 'rescue stuck_letter'],
    ['newer', fileTask('newer ralph'), 'leave unreadable-state'],
    ['asking', awaiting(5), 'needs-approval'],
    ['answered', awaiting(5, true), 'resume stuck_letter'],
  ] as const)('whose rescue is %s', ([, rescue, expected]) => {
    expect(decided(fileFacts({ rescue }))).toBe(expected);
  });

  test('is moved to quarantine after three failed rescues, and not before', () => {
    const rescue = fileTask('max_iterations_reached');
    expect(decided(fileFacts({ rescue, failedRescues: 2 }))).toBe('rescue stuck_letter');
    expect(decided(fileFacts({ rescue, failedRescues: 3 }))).toBe('quarantine');
  });

  test('is only moved if its task was completed after the last change', () => {
    const over = fileTask('completed', { finishedAt: minutesAgo(20) });
    expect(decided(fileFacts({ own: over }))).toBe('finish letter');
    expect(decided(fileFacts({ rescue: over }))).toBe('finish stuck_letter');
    const again = { changedAt: minutesAgo(10) };
    expect(decided(fileFacts({ rescue: over, file: again }))).toBe('rescue stuck_letter');
  });
});

describe('a file in Needs_Action', () => {
  const file = { folder: 'Needs_Action' as const };

  test.for([
    ['letter.md', 'start-new letter'],
    ['letter.TXT', 'start-new letter'],
    ['letter.pdf', 'leave no-task'],
    ['letter.md.part', 'leave no-task'],
    ['.letter.md', 'leave no-task'],
    ['RALPH_plan.md', 'leave own-note'],
    ['payment.md', 'to-human payment'],
  ] as const)('named %s', ([name, expected]) => {
    expect(decided(fileFacts({ file: { ...file, name } }))).toBe(expected);
  });

  test.for([
    ['written', { touchedAt: minutesAgo(1 / 60) }],
    ['moved here', { changedAt: minutesAgo(1 / 60) }],
  ] as const)('that was %s a second ago is not settled', ([, times]) => {
    expect(decided(fileFacts({ file: { ...file, ...times } }))).toBe('leave unsettled');
  });

  test('that came with a time to come is started', () => {
    const touchedAt = minutesAgo(-60_000);
    expect(decided(fileFacts({ file: { ...file, touchedAt } }))).toBe('start-new letter');
  });

  test.for([
    ['interrupted', fileTask('interrupted'), 'resume letter'],
    ['paused', fileTask('paused'), 'leave held'],
    [
      'completed before it came',
      fileTask('completed', { finishedAt: minutesAgo(60) }),
      'start-new letter',
    ],
    ['completed since', fileTask('completed', { finishedAt: minutesAgo(5) }), 'leave completed'],
    ['exhausted, its note gone', fileTask('max_iterations_reached'), 'start-new letter'],
  ] as const)('whose own task is %s', ([, own, expected]) => {
    expect(decided(fileFacts({ file, own }))).toBe(expected);
  });

  test('whose own task has left a note is left to a person', () => {
    expect(decided(fileFacts({ file, ownNote: 'RALPH_FAILED_letter_x.md' }))).toBe('leave noted');
  });
});
