import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../../src/core/completion/command-result.ts';
import type { Examination, Rerun } from '../../../src/core/completion/examination.ts';
import { NOTHING_SEEN, type Sightings } from '../../../src/core/completion/sightings.ts';
import type { ChangedDecider } from '../../../src/core/proof/findings.ts';
import type { Policy } from '../../../src/core/task/policy.ts';
import { answered } from '../../helpers/attempt-facts.ts';
import { checks, measuredResult, rawResult } from '../../helpers/checks.ts';
import { decidersSeen, loopInHand, type Turn } from '../../helpers/loop-in-hand.ts';

const DONE = answered('All good. <promise>DONE</promise>');
const WORK = answered('I have begun.');
const BENT: ChangedDecider = { kind: 'file', path: 'check.sh', change: 'changed' };
const SOUND = decidersSeen({ tree: 'tree' });
const BENT_JUDGE = decidersSeen({ tree: 'tree', bent: [BENT] });
const HOLD = { proof: 'hold', baseline: false, verify: checks('npm test') } as const;

function result(exitCode: number | null, output = ''): CommandResult {
  return { command: 'npm test', exitCode, timedOut: false, output };
}

function rerun(exitCode: number, output = '', folder: string | null = null): Rerun {
  return { kind: 'ran', results: [rawResult(result(exitCode, output))], folder };
}

/** A loop whose test says itself what is found out about each claim. */
function started(changes: Partial<Policy> = {}) {
  const loop = loopInHand({ ...HOLD, delayMs: 0, ...changes }, undefined, { examines: true });
  loop.start();
  return {
    ...loop,
    /** A claim whose check passes, and what is found out about it. */
    claim(...found: readonly Examination[]): Turn {
      loop.iterate(DONE);
      let turn = loop.verified(result(0));
      for (const each of found) turn = loop.examined(each);
      return turn;
    },
  };
}

/** The events of a turn about the claim, in short. */
function told(turn: Turn): readonly string[] {
  return turn.told.flatMap((body) => {
    if (body.event === 'finding') return [`finding ${body.finding} ${body.held}`];
    return body.event === 'claim_held' ? [`held ${body.gate}`] : [];
  });
}

describe('a claim whose checks passed', () => {
  test('is looked into part by part: judges, old exam, clean checkout, and then confirmed', () => {
    const loop = started({ verifyClean: true, confirm: 2 });
    loop.iterate(DONE);
    expect(loop.verified(result(0)).actions).toEqual(['check_ended', 'examine deciders']);
    expect(loop.state().step).toMatchObject({ kind: 'examining', part: 'deciders' });
    expect(loop.examined(BENT_JUDGE).actions).toEqual(['examine oldExam']);
    expect(loop.examined({ oldExam: rerun(0) }).actions).toEqual(['examine cleanCheckout']);
    const turn = loop.examined({ cleanCheckout: rerun(0) });
    expect(turn.actions).toEqual([
      ...['task_iterated', 'finding', 'claim_held', 'iteration_started', 'start-agent 2.1'],
    ]);
    expect(told(turn)).toEqual(['finding bent-judge false', 'held confirm']);
  });

  test('has its proof in the evidence, and in the state', () => {
    const { ending, state } = started().claim(SOUND);
    const proof = { proven: true, text: 'npm test', findings: [] };
    expect(ending?.evidence).toMatchObject({ kind: 'promise', proof });
    expect(state.proof).toMatchObject({ tree: 'tree', evidence: proof });
  });

  test('completes under tell although a judge is bent, and that is told', () => {
    const turn = started({ proof: 'tell' }).claim(BENT_JUDGE);
    expect(turn.ending?.status).toBe('completed');
    expect(told(turn)).toEqual(['finding bent-judge false']);
    expect(turn.ending?.evidence).toMatchObject({
      proof: { proven: false, text: 'check.sh changed', findings: ['check.sh changed'] },
    });
  });

  test('is not examined after a check has failed, and nothing is without a claim', () => {
    const loop = started({ verifyEach: true });
    loop.iterate(DONE);
    expect(loop.verified(result(1)).actions).toContain('start-agent 2.1');
    loop.iterate(WORK);
    expect(loop.verified(result(0)).actions).toContain('start-agent 3.1');
  });

  test('by --until is examined without a check of --verify', () => {
    const until = measuredResult({ ...result(0), command: 'sh check.sh' });
    const sightings: Sightings = { ...NOTHING_SEEN, commands: { until } };
    const loop = started({ verify: [], until: 'sh check.sh' });
    expect(loop.iterate(WORK, sightings).actions).toEqual(['examine deciders']);
    expect(loop.state().step).toMatchObject({ checks: [{ command: 'sh check.sh' }] });
    expect(loop.examined(BENT_JUDGE).actions).toEqual(['examine oldExam']);
    expect(told(loop.examined({ oldExam: rerun(1) }))).toContain('held bent-judge');
  });

  test('an examination that was not asked for changes nothing', () => {
    const loop = started();
    const before = loop.state();
    expect(loop.examined(SOUND)).toMatchObject({ actions: [], state: before });
  });
});

describe('a claim that a finding holds', () => {
  test('is named to the agent with the flag that accepts it, and with the output of the old exam', () => {
    const turn = started().claim(BENT_JUDGE, { oldExam: rerun(1, 'adds up: red') });
    expect(told(turn)).toEqual(['finding bent-judge true', 'held bent-judge']);
    expect(turn.told).toContainEqual({
      ...{ event: 'claim_held', iteration: 1, gate: 'bent-judge' },
      detail:
        'check.sh changed; --accept-changed check.sh accepts it; with the old version, npm test exited with 1',
    });
    expect(turn.addition).toContain('this was found: check.sh changed');
    expect(turn.addition).toContain('--accept-changed check.sh accepts it');
    expect(turn.addition).toContain('Only the person who started this can set a flag.');
    expect(turn.addition).toContain('=====\nadds up: red\n=====');
  });

  test('stalls the task the second time running, and the note names what was found', () => {
    const loop = started();
    loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    const { ending } = loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    expect(ending).toMatchObject({ status: 'stalled', exitReason: 'unproven', note: 'STALLED' });
    expect(ending?.error).toMatch(/twice, and both times this was found: check.sh changed/);
  });

  test.for<[what: string, between: (loop: ReturnType<typeof started>) => unknown]>([
    ['an iteration without a claim', (loop) => loop.iterate(WORK)],
    [
      'a claim whose check failed',
      (loop) => {
        loop.iterate(DONE);
        loop.verified(result(1));
      },
    ],
    [
      'a claim that another finding held',
      (loop) => {
        loop.iterate(DONE);
        loop.verified(result(0), { tests: 0 });
        loop.examined(SOUND);
        expect(told(loop.examined({ oldExam: rerun(1) }))).toContain('held fewer-tests');
      },
    ],
  ])('is counted again after %s', ([, between]) => {
    const loop = started();
    loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    between(loop);
    const again = loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    expect(again.ending).toBeNull();
    expect(loop.claim(BENT_JUDGE, { oldExam: rerun(1) }).ending?.exitReason).toBe('unproven');
  });

  test('counts again once a person has resumed the stalled task', () => {
    const loop = started();
    loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    loop.claim(BENT_JUDGE, { oldExam: rerun(1) });
    loop.resume();
    expect(loop.claim(BENT_JUDGE, { oldExam: rerun(1) }).ending).toBeNull();
    loop.resume({ acceptChanged: ['check.sh'] });
    expect(loop.claim(SOUND).ending?.status).toBe('completed');
  });

  test('of empty work needs no check', () => {
    const loop = started({ verify: [], acceptEmpty: false });
    const idle: Sightings = {
      ...NOTHING_SEEN,
      progress: { git: { commits: 0, filesChanged: 0 }, watched: null },
    };
    const turn = loop.iterate(DONE, idle);
    expect(told(turn)).toEqual(['finding empty-work true', 'held empty-work']);
    expect(turn.addition).toContain('Do the work itself');
    expect(loop.iterate(DONE, idle).ending?.exitReason).toBe('unproven');
  });

  test('work of an earlier iteration is work, also over a resume', () => {
    const loop = started({ verify: [], acceptEmpty: false });
    const git = (filesChanged: number): Sightings => ({
      ...NOTHING_SEEN,
      progress: { git: { commits: 0, filesChanged }, watched: null },
    });
    loop.iterate(WORK, git(1));
    loop.resume();
    expect(loop.iterate(DONE, git(0)).ending?.status).toBe('completed');
  });
});

describe('a clean checkout', () => {
  const CLEAN = { verifyClean: true, proof: 'tell' } as const;

  test('that fails holds the claim, and says where it is kept', () => {
    const loop = started(CLEAN);
    const turn = loop.claim(SOUND, { cleanCheckout: rerun(1, 'no out.js', '/r.ralph/t.clean') });
    expect(turn.told).toContainEqual({
      ...{ event: 'claim_held', iteration: 1, gate: 'clean-checkout' },
      detail: 'in a clean checkout npm test exited with 1 (it is kept in /r.ralph/t.clean)',
    });
    expect(turn.addition).toContain('=====\nno out.js\n=====');
    expect(turn.addition).toContain('Make the checks pass from the files that git keeps.');
    // It is a failed check like any other: no finding.
    expect(loop.claim(SOUND, { cleanCheckout: rerun(1) }).ending).toBeNull();
  });

  test('whose set-up command fails shows what that printed', () => {
    const setup = { ...result(2, 'no such package'), command: 'npm ci' };
    const turn = started(CLEAN).claim(SOUND, {
      cleanCheckout: {
        ...{ kind: 'not-made', why: 'its set-up command failed', setup, folder: null },
      },
    });
    expect(told(turn)).toEqual(['held clean-checkout']);
    expect(turn.addition).toContain('its set-up command failed. What was printed stands above.');
    expect(turn.addition).toContain('=====\nno such package\n=====');
  });

  test('allows known failures', () => {
    const loop = loopInHand(
      { ...HOLD, ...CLEAN, delayMs: 0, baseline: true, knownFailures: 'allow' },
      undefined,
      { examines: true },
    );
    loop.start();
    const red = { tests: 9, failed: ['adds'] };
    loop.verified(result(1), red);
    loop.iterate(DONE);
    loop.verified(result(1), red);
    loop.examined(SOUND);
    const rerun = (failed: readonly string[]): Examination => ({
      cleanCheckout: {
        kind: 'ran',
        results: [rawResult(result(1), { tests: 9, failed })],
        folder: null,
      },
    });
    expect(told(loop.examined(rerun(['adds', 'divides'])))).toContain('held clean-checkout');
    loop.iterate(DONE);
    loop.verified(result(1), red);
    loop.examined(SOUND);
    expect(loop.examined(rerun(['adds'])).ending?.status).toBe('completed');
  });
});

describe('a driver that dies while a claim is examined', () => {
  test('has all checks run again, and the claim examined from its beginning', () => {
    const loop = started();
    loop.claim(BENT_JUDGE);
    expect(loop.state().step).toMatchObject({ kind: 'examining', part: 'oldExam' });
    const turn = loop.resume();
    expect(turn.actions).toEqual(['task_resumed', 'verify npm test']);
    expect(turn.kept).toMatchObject([{ kind: 'keep-tree', as: 'missing-end' }]);
    expect(loop.verified(result(0)).actions).toEqual(['check_ended', 'examine deciders']);
    expect(loop.examined(SOUND).ending?.status).toBe('completed');
  });

  test('has the files observed again where a command decided, since they may have changed', () => {
    const until = measuredResult({ ...result(0), command: 'sh check.sh' });
    const sightings: Sightings = { ...NOTHING_SEEN, commands: { until } };
    const loop = started({ verify: [], until: 'sh check.sh' });
    loop.iterate(WORK, sightings);
    expect(loop.resume().actions).toEqual(['task_resumed', 'look']);
    expect(loop.look(sightings).actions).toEqual(['examine deciders']);
  });

  test('a stop while it is examined comes before what was found', () => {
    const loop = started();
    loop.claim(BENT_JUDGE);
    loop.stop('SIGINT');
    expect(loop.examined({ oldExam: rerun(1) }).ending?.status).toBe('stopped');
  });
});
