import { describe, expect, test } from 'vitest';
import type { CheckResult } from '../../../../src/core/completion/check-result.ts';
import type { Claim } from '../../../../src/core/completion/claim.ts';
import { askGates, type ClaimView } from '../../../../src/core/completion/claims/gates.ts';
import type { Examination, Rerun } from '../../../../src/core/completion/examination.ts';
import { NOTHING_SEEN } from '../../../../src/core/completion/sightings.ts';
import { NO_WORK } from '../../../../src/core/completion/work-seen.ts';
import type { ChangedDecider } from '../../../../src/core/proof/findings.ts';
import type { Policy } from '../../../../src/core/task/policy.ts';
import { refusedTool } from '../../../helpers/attempt-facts.ts';
import { checkResult, checks, measuredResult, rawResult } from '../../../helpers/checks.ts';
import { decidersSeen } from '../../../helpers/loop-in-hand.ts';
import { loopPolicy } from '../../../helpers/loop-policy.ts';

const BY_WORDS: Claim = { evidence: { kind: 'promise', detail: 'DONE' }, byWords: true };
const BY_FILE: Claim = { evidence: { kind: 'watch-glob', detail: 'a.md' }, byWords: false };

const COMMAND = { command: 'npm test', timedOut: false, output: '' };
const PASSED = [checkResult({ ...COMMAND, exitCode: 0 })];
const FAILED = [checkResult({ ...COMMAND, exitCode: 1, output: '1 failed' })];
const CUT = [checkResult({ ...COMMAND, exitCode: null, timedOut: true })];
const CHANGED = { ...NOTHING_SEEN, protectedChanged: ['test/a.test.ts'] };
const PUSH = refusedTool('Bash', 'git push');

const NOT_EXAMINED = { checksAtStart: null, work: NO_WORK, examination: null };

/** What holds a claim; `passed` or `ask-verify` where nothing does. */
function held(changes: Partial<ClaimView> & { settings?: Partial<Policy> } = {}): string {
  const { settings = {}, ...view } = changes;
  const answer = askGates({
    claim: BY_WORDS,
    iteration: 3,
    refused: [],
    stoppedSubAgents: 0,
    sightings: NOTHING_SEEN,
    verified: null,
    ...NOT_EXAMINED,
    confirmations: 1,
    policy: loopPolicy(settings),
    ...view,
  });
  return answer.kind === 'held' ? answer.held.gate : answer.kind;
}

test('without a gate a claim passes', () => {
  expect(held()).toBe('passed');
});

describe('the gates, each by itself', () => {
  test.for<[iteration: number, minIterations: number, answer: string]>([
    [1, 1, 'passed'],
    [1, 2, 'min-iterations'],
    [2, 3, 'min-iterations'],
    [3, 3, 'passed'],
    [4, 3, 'passed'],
  ])('iteration %i of at least %i: %s', ([iteration, minIterations, answer]) => {
    expect(held({ iteration, settings: { minIterations } })).toBe(answer);
    expect(held({ iteration, claim: BY_FILE, settings: { minIterations } })).toBe(answer);
  });

  test.for<[name: string, changes: Partial<ClaimView>, settings: Partial<Policy>, answer: string]>([
    ['words', {}, {}, 'refused-tools'],
    ['a file', { claim: BY_FILE }, {}, 'passed'],
    ['words, nothing to verify them yet', {}, { verify: checks('npm test') }, 'ask-verify'],
    ['words, verified', { verified: PASSED }, { verify: checks('npm test') }, 'passed'],
    ['words, not verified', { verified: FAILED }, { verify: checks('npm test') }, 'refused-tools'],
    [
      'words, not verified in time',
      { verified: CUT },
      { verify: checks('npm test') },
      'refused-tools',
    ],
    ['words, meant', {}, { acceptRefused: ['Bash(git push:*)'] }, 'passed'],
    ['words, all meant', {}, { acceptRefused: ['*'] }, 'passed'],
    ['words, another one meant', {}, { acceptRefused: ['Write'] }, 'refused-tools'],
    [
      'words, one of two meant',
      { refused: [PUSH, refusedTool('Write', 'a')] },
      { acceptRefused: ['Bash'] },
      'refused-tools',
    ],
    [
      'words, both meant',
      { refused: [PUSH, refusedTool('Write', 'a')] },
      { acceptRefused: ['Bash', 'Write'] },
      'passed',
    ],
  ])('refused tools and %s', ([, changes, settings, answer]) => {
    expect(held({ refused: [PUSH], ...changes, settings })).toBe(answer);
  });

  test('only the refusals that the user did not intend are named', () => {
    const answer = askGates({
      claim: BY_WORDS,
      iteration: 1,
      refused: [PUSH, refusedTool('Write', 'a')],
      stoppedSubAgents: 0,
      sightings: NOTHING_SEEN,
      verified: null,
      ...NOT_EXAMINED,
      confirmations: 1,
      policy: loopPolicy({ acceptRefused: ['Bash'] }),
    });
    expect(answer).toEqual({
      kind: 'held',
      held: { gate: 'refused-tools', tools: [refusedTool('Write', 'a')], failed: [] },
    });
  });

  test.for<[verified: readonly CheckResult[] | null, settings: Partial<Policy>, answer: string]>([
    [null, {}, 'stopped-subagents'],
    [null, { confirm: 2 }, 'stopped-subagents'],
    [null, { acceptRefused: ['*'] }, 'stopped-subagents'],
    [null, { verify: checks('npm test') }, 'ask-verify'],
    [PASSED, { verify: checks('npm test') }, 'passed'],
    [FAILED, { verify: checks('npm test') }, 'verify'],
  ])('sub-agents that the system stopped, %o, %o: %s', ([verified, settings, answer]) => {
    for (const claim of [BY_WORDS, BY_FILE]) {
      expect(held({ claim, verified, settings, stoppedSubAgents: 1 })).toBe(answer);
    }
  });

  test.for([[BY_WORDS], [BY_FILE]] as const)(
    'a protected file that changed holds %o',
    ([claim]) => {
      expect(held({ claim, sightings: CHANGED })).toBe('protect');
      // The judge that says so may be the file that was changed.
      expect(held({ claim, sightings: CHANGED, verified: PASSED })).toBe('protect');
    },
  );

  test.for<[verified: readonly CheckResult[] | null, answer: string]>([
    [null, 'ask-verify'],
    [PASSED, 'passed'],
    [FAILED, 'verify'],
    [CUT, 'verify'],
  ])('%o: %s', ([verified, answer]) => {
    const settings = { verify: checks('npm test') };
    expect(held({ verified, settings })).toBe(answer);
    expect(held({ verified, settings, claim: BY_FILE })).toBe(answer);
  });

  test.for<[confirmations: number, confirm: number, answer: string]>([
    [1, 1, 'passed'],
    [1, 2, 'confirm'],
    [2, 2, 'passed'],
    [2, 3, 'confirm'],
    [3, 3, 'passed'],
  ])('the claim number %i of %i: %s', ([confirmations, confirm, answer]) => {
    expect(held({ confirmations, settings: { confirm } })).toBe(answer);
    expect(held({ confirmations, claim: BY_FILE, settings: { confirm } })).toBe(answer);
  });
});

describe('the gates in their order', () => {
  const settings = { minIterations: 4, verify: checks('npm test'), confirm: 2 };
  const all = { iteration: 3, refused: [PUSH], sightings: CHANGED, verified: FAILED, settings };
  const enough = { ...settings, minIterations: 1 };

  test('min-iterations, before anything is verified', () => {
    expect(held(all)).toBe('min-iterations');
    expect(held({ ...all, verified: null })).toBe('min-iterations');
  });

  test('refused tools', () => {
    expect(held({ ...all, settings: enough })).toBe('refused-tools');
  });

  test('protected files, before they can be run to verify', () => {
    expect(held({ ...all, refused: [], settings: enough })).toBe('protect');
    expect(held({ ...all, refused: [], verified: null, settings: enough })).toBe('protect');
  });

  test('verification', () => {
    const view = { ...all, refused: [], sightings: NOTHING_SEEN, settings: enough };
    expect(held(view)).toBe('verify');
    expect(held({ ...view, verified: null })).toBe('ask-verify');
  });

  test('confirmation, last', () => {
    const view = { ...all, refused: [], sightings: NOTHING_SEEN, verified: PASSED };
    expect(held({ ...view, settings: enough })).toBe('confirm');
    expect(held({ ...view, settings: enough, confirmations: 2 })).toBe('passed');
  });
});

describe('a claim that is looked into', () => {
  const verify = checks('npm test');
  const HOLD = { proof: 'hold', verify, verifyClean: true } as const;
  const BENT: ChangedDecider = { kind: 'file', path: 'check.sh', change: 'changed' };
  const sound = decidersSeen({ tree: 'tree' });
  const bent = decidersSeen({ tree: 'tree', bent: [BENT] });
  const ran = (exitCode: number, folder: string | null = null): Rerun => ({
    kind: 'ran',
    results: [rawResult({ ...COMMAND, exitCode })],
    folder,
  });
  const NOT_MADE: Rerun = { kind: 'not-made', why: 'no space', setup: null, folder: null };

  /** The answer, and which part of the claim is asked for. */
  function answer(
    examination: Examination,
    settings: Partial<Policy> = {},
    more: Partial<ClaimView> = {},
  ) {
    const answered = askGates({
      ...{ claim: BY_WORDS, iteration: 3, refused: [], stoppedSubAgents: 0 },
      ...{ sightings: NOTHING_SEEN, verified: PASSED, ...NOT_EXAMINED, confirmations: 1 },
      ...{ examination, policy: loopPolicy({ ...HOLD, ...settings }), ...more },
    });
    if (answered.kind === 'ask-examine') return `ask ${answered.part}`;
    return answered.kind === 'held' ? answered.held.gate : answered.kind;
  }

  test('asks for one part after the other, as each is needed', () => {
    expect(answer({})).toBe('ask deciders');
    expect(answer(sound)).toBe('ask cleanCheckout');
    expect(answer(bent)).toBe('ask oldExam');
    expect(answer({ ...bent, oldExam: ran(0) })).toBe('ask cleanCheckout');
    expect(answer({ ...bent, oldExam: ran(1) })).toBe('bent-judge');
    expect(answer({ ...bent, oldExam: NOT_MADE })).toBe('bent-judge');
    expect(answer({ ...sound, cleanCheckout: ran(1) })).toBe('clean-checkout');
    expect(answer({ ...sound, cleanCheckout: NOT_MADE })).toBe('clean-checkout');
    expect(answer({ ...sound, cleanCheckout: ran(0) }, { confirm: 2 })).toBe('confirm');
    expect(answer({ ...sound, cleanCheckout: ran(0) })).toBe('passed');
  });

  test('asks for nothing before its checks passed, and for nothing without checks', () => {
    expect(answer({}, {}, { verified: FAILED })).toBe('verify');
    expect(answer({}, {}, { sightings: CHANGED })).toBe('protect');
    expect(answer({}, {}, { verified: null })).toBe('ask-verify');
    expect(answer({}, { verify: [] }, { verified: null })).toBe('passed');
  });

  test('takes the command that decided for a check', () => {
    const claim: Claim = { evidence: { kind: 'until', detail: 'make' }, byWords: false };
    const commands = { until: measuredResult({ ...COMMAND, command: 'make', exitCode: 0 }) };
    const sightings = { ...NOTHING_SEEN, commands };
    const settings = { verify: [], until: 'make' };
    expect(answer({}, settings, { claim, sightings, verified: null })).toBe('ask deciders');
    expect(answer(sound, settings, { claim, sightings, verified: null })).toBe('ask cleanCheckout');
  });

  test('is not asked for an old exam, or held, where findings are only told', () => {
    const settings = { proof: 'tell', verifyClean: false } as const;
    expect(answer({}, settings)).toBe('ask deciders');
    expect(answer(bent, settings)).toBe('passed');
  });

  test('names all findings that hold it, the first as its gate, and what failed in the old exam', () => {
    const held = askGates({
      ...{ claim: BY_WORDS, iteration: 3, refused: [], stoppedSubAgents: 0 },
      ...{ sightings: NOTHING_SEEN, verified: PASSED, ...NOT_EXAMINED, confirmations: 1 },
      examination: { ...bent, oldExam: ran(1) },
      policy: loopPolicy({ ...HOLD, acceptEmpty: false }),
    });
    expect(held).toMatchObject({
      kind: 'held',
      held: {
        gate: 'empty-work',
        findings: [{ finding: 'empty-work' }, { finding: 'bent-judge', deciders: [BENT] }],
        failed: [{ command: 'npm test', exitCode: 1 }],
      },
    });
  });

  test('that fails in a clean checkout says where that is kept', () => {
    const held = askGates({
      ...{ claim: BY_WORDS, iteration: 3, refused: [], stoppedSubAgents: 0 },
      ...{ sightings: NOTHING_SEEN, verified: PASSED, ...NOT_EXAMINED, confirmations: 1 },
      examination: { ...sound, cleanCheckout: ran(1, '/r.ralph/t.clean') },
      policy: loopPolicy(HOLD),
    });
    expect(held).toMatchObject({
      held: { gate: 'clean-checkout', why: null, folder: '/r.ralph/t.clean', failed: [{}] },
    });
  });

  test('stopped sub-agents come before findings, and checks that pass outweigh them', () => {
    const stopped = { stoppedSubAgents: 1 };
    const without = { verify: [], acceptEmpty: false };
    expect(answer({}, without, { ...stopped, verified: null })).toBe('stopped-subagents');
    expect(answer({}, without, { verified: null })).toBe('empty-work');
    expect(answer(bent, {}, stopped)).toBe('ask oldExam');
  });
});
