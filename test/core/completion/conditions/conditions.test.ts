import { describe, expect, test } from 'vitest';
import type { CountedOutcome } from '../../../../src/core/agent/outcome.ts';
import type { Claim } from '../../../../src/core/completion/claim.ts';
import type { IterationView } from '../../../../src/core/completion/conditions/condition.ts';
import {
  CONDITIONS,
  describeCompletion,
  doneWhen,
  findClaims,
  judgeMessage,
} from '../../../../src/core/completion/conditions/conditions.ts';
import type { PromiseVerdict } from '../../../../src/core/completion/promise.ts';
import { NOTHING_SEEN, type Sightings } from '../../../../src/core/completion/sightings.ts';
import { EMPTY_HANDOVER } from '../../../../src/core/prompt/handover.ts';
import { promptTexts } from '../../../../src/core/prompt/prompt.ts';
import type { Policy } from '../../../../src/core/task/policy.ts';
import { checks } from '../../../helpers/checks.ts';
import { loopPolicy } from '../../../helpers/loop-policy.ts';

const STATED: PromiseVerdict = { kind: 'stated', line: '<promise>DONE</promise>' };
const MISSED: PromiseVerdict = { kind: 'near-miss', line: 'DONE?', why: 'decorated' };
const ABSENT: PromiseVerdict = { kind: 'absent' };

const MATCHED: Sightings = { ...NOTHING_SEEN, watchMatches: ['out/b.md', 'out/a.md'] };
const MOVED: Sightings = { ...NOTHING_SEEN, movedFile: 'Done/x.md' };
const BOTH: Sightings = { ...MATCHED, movedFile: 'Done/x.md' };

const OUTCOMES: Readonly<Record<string, CountedOutcome>> = {
  answered: { kind: 'answered' },
  'max-turns': { kind: 'bounded', by: 'max-turns' },
  'max-budget': { kind: 'bounded', by: 'max-budget' },
  'timed out': { kind: 'timed-out', limit: 'iteration' },
  silent: { kind: 'timed-out', limit: 'idle' },
  'out of time': { kind: 'timed-out', limit: 'task' },
  errored: { kind: 'errored', message: 'boom' },
};

/** The claims of an iteration that answered, with all there is to claim by, but for what is given. */
function claimsOf(changes: Partial<IterationView>): readonly Claim[] {
  return findClaims({
    outcome: { kind: 'answered' },
    verdict: STATED,
    sightings: BOTH,
    signalsInARow: 0,
    policy: loopPolicy({ watchGlobs: ['out/*.md'], watchFile: 'x.md' }),
    ...changes,
  });
}

describe('the claims of an iteration', () => {
  const everything = ['file-moved', 'watch-glob', 'promise'];

  test.for<[ended: string, expected: readonly string[]]>([
    ['answered', everything],
    // Its own bound cut it: it worked, but its words complete nothing.
    ['max-turns', ['file-moved', 'watch-glob']],
    ['max-budget', ['file-moved', 'watch-glob']],
    // Cut off, it may have left half a file; a file that was moved was whole.
    ['timed out', ['file-moved']],
    ['silent', ['file-moved']],
    ['out of time', ['file-moved']],
    ['errored', ['file-moved']],
  ])('that %s, with all there is to claim by', ([ended, expected]) => {
    const outcome = OUTCOMES[ended] ?? { kind: 'answered' };
    const claims = claimsOf({ outcome });
    expect(claims.map(({ evidence }) => evidence.kind)).toEqual(expected);
  });

  test.for<[verdict: PromiseVerdict, sightings: Sightings, expected: readonly string[]]>([
    [STATED, NOTHING_SEEN, ['promise']],
    [MISSED, NOTHING_SEEN, []],
    [ABSENT, NOTHING_SEEN, []],
    [ABSENT, MATCHED, ['watch-glob']],
    [ABSENT, MOVED, ['file-moved']],
    [MISSED, BOTH, ['file-moved', 'watch-glob']],
    [STATED, MATCHED, ['watch-glob', 'promise']],
  ])('%#: %o', ([verdict, sightings, expected]) => {
    const claims = claimsOf({ verdict, sightings });
    expect(claims.map(({ evidence }) => evidence.kind)).toEqual(expected);
  });

  test.for(['timed out', 'silent', 'out of time', 'errored'])(
    'that %s claims by a file at once where a command vouches for it',
    (ended) => {
      const outcome = OUTCOMES[ended] ?? { kind: 'answered' };
      const policy = loopPolicy({ watchGlobs: ['out/*.md'], verify: checks('npm test') });
      const claims = claimsOf({ outcome, sightings: MATCHED, policy });
      expect(claims.map(({ evidence }) => evidence.kind)).toEqual(['watch-glob']);
    },
  );

  test('name their evidence, and which of them are words', () => {
    const claims = claimsOf({});
    expect(claims).toEqual([
      { evidence: { kind: 'file-moved', detail: 'Done/x.md' }, byWords: false },
      { evidence: { kind: 'watch-glob', detail: 'out/b.md' }, byWords: false },
      { evidence: { kind: 'promise', detail: '<promise>DONE</promise>' }, byWords: true },
    ]);
  });
});

const NPM_TEST = { name: 'npm test', command: 'npm test' };

describe('the completion rule', () => {
  const rows: readonly [changes: Partial<Policy>, words: string][] = [
    [{}, `'<promise>DONE</promise>' is satisfied`],
    [
      { promise: null, watchFile: 'x.md', doneFolder: 'Erledigt' },
      `'x.md' has been moved to 'Erledigt'`,
    ],
    [{ promise: null, watchGlobs: ['a'] }, `a new or changed file matches 'a'`],
    [{ promise: null, watchGlobs: ['a', 'b'] }, `a new or changed file matches 'a' or 'b'`],
    [{ promise: null, until: 'test -f ok' }, `the command 'test -f ok' succeeds`],
    [{ promise: null, planFile: 'PLAN.md' }, `every box in 'PLAN.md' is ticked`],
    [{ promise: null, signals: ['A', 'B'] }, `you state 'A' or 'B' in two iterations in a row`],
    [
      { watchGlobs: ['a'] },
      `'<promise>DONE</promise>' is satisfied, or a new or changed file matches 'a'`,
    ],
  ];

  test.for(rows)('of %o in words: %s', ([changes, words]) => {
    const policy = loopPolicy(changes);
    expect(describeCompletion(policy)).toBe(words);
  });

  test.for<[changes: Partial<Policy>, words: string]>([
    [{}, 'the agent states DONE'],
    [{ verify: [NPM_TEST] }, 'the agent states DONE and npm test passes'],
    [
      { watchGlobs: ['a'], verify: [NPM_TEST, { name: 'lint', command: 'make lint' }] },
      `the agent states DONE, or a new or changed file matches 'a'; and then npm test and make lint pass`,
    ],
    [{ promise: null, signals: ['A'] }, `the agent states 'A' in two iterations in a row`],
  ])('of %o for a person: %s', ([changes, words]) => {
    expect(doneWhen(loopPolicy(changes))).toBe(words);
  });

  test('has each condition once', () => {
    const kinds = CONDITIONS.map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});

describe('the final message', () => {
  const TAG = '<promise>DONE</promise>';

  test.for<[name: string, message: string | null, changes: Partial<Policy>, verdict: string]>([
    ['stated', `Fine.\n${TAG}`, {}, 'stated'],
    ['bare', 'Fine.\nDONE', {}, 'stated'],
    ['bare, where tags are asked for', 'Fine.\nDONE', { match: 'tag' }, 'near-miss'],
    ['contained', 'It is DONE, is it?', { match: 'contains' }, 'stated'],
    ['contained, where it must be stated', 'It is DONE, is it?', {}, 'near-miss'],
    ['absent', 'Fine.', {}, 'absent'],
    ['empty', '', {}, 'absent'],
    ['no message', null, {}, 'absent'],
    ['no promise to keep', TAG, { promise: null, watchGlobs: ['a'] }, 'absent'],
  ])('%s', ([, message, changes, verdict]) => {
    expect(judgeMessage(message, loopPolicy(changes), []).kind).toBe(verdict);
  });

  test.for(['statement', 'tag', 'contains'] as const)(
    'that repeats what ralph wrote states nothing by the rule %s',
    (match) => {
      const policy = loopPolicy({ match });
      const carry = {
        ...EMPTY_HANDOVER,
        output: `I wrote:\n${TAG}`,
        missing: [{ kind: 'near-miss' as const, line: TAG, why: 'in-code' }],
      };
      const own = promptTexts(policy, carry, 2);
      for (const { text } of own) {
        expect(judgeMessage(text, policy, own).kind).toBe('absent');
      }
      expect(
        judgeMessage(`${own.map(({ text }) => text).join('\n')}\n\n${TAG}`, policy, own),
      ).toEqual(expect.objectContaining({ kind: 'stated' }));
    },
  );
});
