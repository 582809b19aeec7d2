import { expect, test } from 'vitest';
import { SIGN_NAMES, type SignFound, type SignName } from '../../../src/core/agent/sign.ts';
import { limitsOf } from '../../../src/core/supervisor/signs.ts';
import { type AgentDeed, createSupervisor } from '../../../src/core/supervisor/supervisor.ts';
import { QUIET_LISTENER, QUIET_SIGNS } from '../../../src/effects/agents/agent.ts';
import { createClaudeStream } from '../../../src/effects/claude/stream.ts';
import { loopPolicy } from '../../helpers/loop-policy.ts';
import { deedsIn } from '../../helpers/trace-deeds.ts';
import { readTraces, streamJson, type Trace } from '../../helpers/traces.ts';

const DEFAULTS = limitsOf(loopPolicy(), 'claude', null);

const HONEST = readTraces('honest');
const RUNAWAY = readTraces('runaway');

interface Played {
  readonly told: readonly SignName[];
  /** With the number of calls that had been made. */
  readonly cuts: readonly (SignFound & { readonly calls: number })[];
}

function play(trace: Trace): Played {
  const supervisor = createSupervisor({ ...DEFAULTS, ...trace.limits });
  let calls = 0;
  const found = deedsIn(streamJson(trace)).flatMap((deed) => {
    if (deed.kind === 'called') calls += 1;
    const sign = supervisor.observe(deed);
    return sign === null ? [] : [{ ...sign, calls }];
  });
  return {
    told: found.filter(({ action }) => action === 'told').map(({ sign }) => sign),
    cuts: found.filter(({ action }) => action === 'cut'),
  };
}

test('there are enough traces, and each sign ends one of them', () => {
  expect(HONEST.length).toBeGreaterThanOrEqual(30);
  expect(RUNAWAY.length).toBeGreaterThanOrEqual(20);
  expect(new Set(RUNAWAY.map(({ cutBy }) => cutBy))).toEqual(new Set(SIGN_NAMES));
});

test.for(HONEST.map((trace) => [trace.name, trace] as const))('not cut: %s', ([, trace]) => {
  const { told, cuts } = play(trace);
  expect(cuts).toEqual([]);
  if (trace.tells !== undefined) expect(told).toEqual(trace.tells);
});

test.for(RUNAWAY.map((trace) => [trace.name, trace] as const))('cut: %s', ([, trace]) => {
  const { told, cuts } = play(trace);
  expect(cuts.map(({ sign }) => sign)).toEqual([trace.cutBy]);
  expect(cuts[0]?.calls).toBeLessThanOrEqual(trace.atMost ?? 0);
  if (trace.tells !== undefined) expect(told).toEqual(trace.tells);
});

test.for([...HONEST, ...RUNAWAY].map((trace) => [trace.name, trace] as const))(
  'is read as what the agent did: %s',
  ([, trace]) => {
    const lines = streamJson(trace);
    const deeds = deedsIn(lines);
    const told: AgentDeed[] = [];
    const stream = createClaudeStream(
      { ...QUIET_LISTENER, did: (deed) => told.push(deed) },
      QUIET_SIGNS,
    );
    for (const line of lines) stream.push(Buffer.from(`${line}\n`));
    stream.end();
    // `claude` tells its cost at its end only.
    const whileItWorks = deeds.filter(({ kind }) => kind !== 'spent');
    expect(told.toSorted(byKind)).toEqual(whileItWorks.toSorted(byKind));
    const facts = stream.facts();
    const refused = deeds.filter((deed) => deed.kind === 'answered' && deed.how === 'refused');
    expect(facts).toMatchObject({ brokenLines: 0, skippedLines: 0 });
    expect(facts.result?.isError).toBe(false);
    expect(facts.tools).toBe(deeds.filter(({ kind }) => kind === 'called').length);
    expect(facts.refused).toHaveLength(refused.length);
  },
);

/** Tokens are told in another place of the same message. */
function byKind(one: AgentDeed, other: AgentDeed): number {
  return Number(one.kind === 'used') - Number(other.kind === 'used');
}
