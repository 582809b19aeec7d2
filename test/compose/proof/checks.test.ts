import { describe, expect, test } from 'vitest';
import { reusingChecks } from '../../../src/compose/proof/checks.ts';
import { checks, rawResult } from '../../helpers/checks.ts';

const [UNIT = { name: '', command: '' }] = checks('npm test');

/** Runs a check on these trees one after another; null where the tree is not known. */
async function runOn(
  trees: readonly (string | null)[],
  { exitCode = 0 as number | null, again = true, timedOut = false } = {},
) {
  let tree: string | null = null;
  let runs = 0;
  const verify = reusingChecks({ knownTree: () => tree }, async ({ command }) => {
    runs += 1;
    return rawResult({ command, exitCode, timedOut, output: `run ${runs}` });
  });
  const said: string[] = [];
  for (const each of trees) {
    tree = each;
    const { output, isReused } = await verify(UNIT, again);
    said.push(isReused ? `${output} reused` : output);
  }
  return said;
}

describe('the result of a check', () => {
  test('is reused if it passed on the same tree, also before another one', async () => {
    expect(await runOn(['a', 'a', 'b', 'a'])).toEqual([
      ...['run 1', 'run 1 reused', 'run 2', 'run 1 reused'],
    ]);
  });

  test('is never reused where the tree is not known', async () => {
    expect(await runOn([null, null])).toEqual(['run 1', 'run 2']);
    const verify = reusingChecks(null, async ({ command }) =>
      rawResult({ command, exitCode: 0, timedOut: false, output: '' }),
    );
    expect([await verify(UNIT, true), await verify(UNIT, true)]).toMatchObject([
      { isReused: false },
      { isReused: false },
    ]);
  });

  test('is reused if it failed only where no claim is checked', async () => {
    expect(await runOn(['a', 'a'], { exitCode: 1 })).toEqual(['run 1', 'run 2']);
    expect(await runOn(['a', 'a'], { exitCode: 1, again: false })).toEqual([
      ...['run 1', 'run 1 reused'],
    ]);
    const late = { exitCode: null, timedOut: true, again: false };
    expect(await runOn(['a', 'a'], late)).toEqual(['run 1', 'run 1 reused']);
  });

  test('is not reused if a stop cut it off', async () => {
    const cut = { exitCode: null, again: false };
    expect(await runOn(['a', 'a'], cut)).toEqual(['run 1', 'run 2']);
  });

  test('is that of the same check only', async () => {
    const verify = reusingChecks({ knownTree: () => 'a' }, async ({ command }) =>
      rawResult({ command, exitCode: 0, timedOut: false, output: '' }),
    );
    await verify(UNIT, true);
    expect(await verify({ ...UNIT, command: 'npm run lint' }, true)).toMatchObject({
      isReused: false,
    });
  });
});
