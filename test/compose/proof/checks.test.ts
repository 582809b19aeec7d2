import { describe, expect, test } from 'vitest';
import { rememberingChecks } from '../../../src/compose/proof/checks.ts';
import { checks, rawResult } from '../../helpers/checks.ts';

const [UNIT = { name: '', command: '' }] = checks('npm test');

interface Look {
  /** Null where the tree is not known. */
  readonly tree: string | null;
  readonly exitCode?: number | null;
  readonly timedOut?: boolean;
  readonly forClaim?: boolean;
  readonly command?: string;
}

/** Runs a check on these trees, each in an iteration of its own, beginning before the first one. */
async function runOn(looks: readonly Look[], hasKeeper = true) {
  let now: Look = { tree: null };
  let iteration = -1;
  let runs = 0;
  const verify = rememberingChecks(
    hasKeeper ? { knownTree: () => now.tree } : null,
    async ({ command }) => {
      runs += 1;
      const { exitCode = 0, timedOut = false } = now;
      return rawResult({ command, exitCode, timedOut, output: `run ${runs}` });
    },
    () => iteration,
  );
  const said: string[] = [];
  for (const look of looks) {
    now = look;
    iteration += 1;
    const { forClaim = false, command = UNIT.command } = look;
    const { output, isReused, failedIn } = await verify({ ...UNIT, command }, forClaim);
    const failed = failedIn === undefined ? '' : `, failed in ${failedIn}`;
    said.push(`${output}${isReused ? ' reused' : ''}${failed}`);
  }
  return said;
}

describe('the result of a check', () => {
  test('is reused on the same tree, also after another one', async () => {
    const trees = ['a', 'a', 'b', 'a'].map((tree) => ({ tree }));
    expect(await runOn(trees)).toEqual(['run 1', 'run 1 reused', 'run 2', 'run 1 reused']);
    for (const how of [{ exitCode: 1 }, { exitCode: null, timedOut: true }]) {
      expect(await runOn([1, 2].map(() => ({ tree: 'a', ...how })))).toEqual([
        ...['run 1', 'run 1 reused'],
      ]);
    }
  });

  test('is never reused on a claim', async () => {
    const claim = { tree: 'a', forClaim: true };
    expect(await runOn([claim, claim])).toEqual(['run 1', 'run 2']);
    expect(await runOn([{ tree: 'a' }, claim, { tree: 'a' }])).toEqual([
      ...['run 1', 'run 2', 'run 2 reused'],
    ]);
  });

  test('is not reused where the tree is not known, or a stop cut it off', async () => {
    const unknown = { tree: null };
    expect(await runOn([unknown, unknown])).toEqual(['run 1', 'run 2']);
    expect(await runOn([{ tree: 'a' }, { tree: 'a' }], false)).toHaveLength(2);
    const cut = { tree: 'a', exitCode: null };
    expect(await runOn([cut, cut])).toEqual(['run 1', 'run 2']);
  });

  test('is that of the same check only', async () => {
    const other = { tree: 'a', command: 'npm run lint' };
    expect(await runOn([{ tree: 'a' }, other])).toEqual(['run 1', 'run 2']);
  });

  test('says when the check failed on the same tree', async () => {
    const red = { tree: 'a', exitCode: 1, forClaim: true };
    const claim = { tree: 'a', forClaim: true };
    expect(await runOn([red, claim])).toEqual(['run 1', 'run 2, failed in 0']);
    expect(await runOn([{ tree: 'b' }, red, red, claim])).toEqual([
      ...['run 1', 'run 2', 'run 3', 'run 4, failed in 1'],
    ]);
    expect(await runOn([red, { ...claim, tree: 'b' }])).toEqual(['run 1', 'run 2']);
    expect(await runOn([red, { ...claim, command: 'npm run lint' }])).toEqual(['run 1', 'run 2']);
    expect(await runOn([{ ...red, exitCode: null }, claim])).toEqual(['run 1', 'run 2']);
  });
});
