import { describe, expect, test } from 'vitest';
import { LegFailed } from '../../../src/fleet/leg/leg-failed.ts';
import { createLegPatience, type Stage } from '../../../src/fleet/leg/patience.ts';
import { WorkerSick } from '../../../src/fleet/leg/worker-sick.ts';
import { NO_SIGNAL } from '../../helpers/leg.ts';

type End =
  | { readonly kind: 'no-repository' | 'no-ref' | 'away' | 'refused'; readonly why: string }
  | { readonly kind: 'not-kept'; readonly why: string; readonly isFull: boolean }
  | { readonly kind: 'pushed' };

const PUSHED: End = { kind: 'pushed' };

/** Calls an origin that gives these answers, and the last of them again and again. */
async function ask(stage: Stage, answers: readonly End[], ms = 600_000) {
  let calls = 0;
  const said: string[] = [];
  const patience = createLegPatience({
    ...{ ms, dropped: NO_SIGNAL, over: NO_SIGNAL },
    tell: (sentence) => said.push(sentence),
  });
  const end = await patience(stage, async () => {
    calls += 1;
    return answers[Math.min(calls, answers.length) - 1] ?? PUSHED;
  }).catch((error: unknown) => error);
  return { end, calls, said };
}

const NO_REPOSITORY: End = { kind: 'no-repository', why: 'The login is refused.' };

describe('a repository that may not be read', () => {
  test('ends a task at once that knows nothing of it', async () => {
    const { end, calls } = await ask('first-contact', [NO_REPOSITORY, PUSHED]);
    expect([end, calls]).toEqual([new LegFailed('failed:repository', NO_REPOSITORY.why), 1]);
  });

  test.for(['tree', 'work'] as const)('is away for a task that has begun: %s', async (stage) => {
    expect(await ask(stage, [NO_REPOSITORY, PUSHED])).toEqual({
      ...{ end: PUSHED, calls: 2 },
      said: ['The login is refused. Trying again for up to 10m.'],
    });
    const { end } = await ask(stage, [NO_REPOSITORY], 0);
    expect(end).toMatchObject({ exitReason: 'failed:origin', keepsTree: stage === 'work' });
  });
});

describe('the first push', () => {
  test('ends the task at once if it is refused', async () => {
    const { end, calls } = await ask('first-push', [{ kind: 'refused', why: 'No.' }, PUSHED]);
    expect(end).toMatchObject({ exitReason: 'failed:origin', keepsTree: false });
    expect(calls).toBe(1);
  });

  test('waits for an origin that is away', async () => {
    const { end, calls } = await ask('first-push', [{ kind: 'away', why: 'Gone.' }, PUSHED]);
    expect([end, calls]).toEqual([PUSHED, 2]);
  });
});

describe('a work tree that cannot be kept', () => {
  const broken: End = { kind: 'not-kept', why: 'It is broken.', isFull: false };

  test('is tried three times, and stays', async () => {
    const { end, calls } = await ask('work', [broken]);
    expect(end).toMatchObject({ exitReason: 'failed:repository', keepsTree: true });
    expect(calls).toBe(3);
  });

  test('ends no task if it can be kept the next time', async () => {
    expect(await ask('first-push', [broken, PUSHED])).toMatchObject({ end: PUSHED, calls: 2 });
  });

  test('sends the task to another worker if the disk is full', async () => {
    const { end, calls } = await ask('work', [{ ...broken, isFull: true }, PUSHED]);
    expect([end, calls]).toEqual([new WorkerSick('It is broken.'), 1]);
    expect(end).toBeInstanceOf(WorkerSick);
  });
});
