import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useFleetSite } from '../helpers/fleet-test.ts';

// Workers on an older Node than pg-boss is made for.

const makeScene = useFleetSite(1);

test('a worker on an older Node says so in one line, and another one does not', async () => {
  const scene = await makeScene();
  const warned = async (version: string): Promise<number> => {
    const file = join(scene.folder, 'version.cjs');
    const versions = `{ ...process.versions, node: '${version}' }`;
    writeFileSync(file, `Object.defineProperty(process, 'versions', { value: ${versions} });\n`);
    const env = { NODE_OPTIONS: `--require ${file}` };
    const end = await scene.ralph(['worker', '--until-empty'], { env }, scene.host(1));
    expect([end.exitCode, end.stderr]).toEqual([0, expect.stringContaining('worker host1-')]);
    return end.stderr.match(/^.*expects Node 22\.12 or newer.*$/gm)?.length ?? 0;
  };
  expect(await warned('20.20.2')).toBe(1);
  expect(await warned('22.11.0')).toBe(1);
  expect(await warned('22.12.0')).toBe(0);
  expect(await warned('24.1.0')).toBe(0);
  // The one on which it really runs.
  const { node } = process.versions;
  expect(await warned(node)).toBe(/^(?:\d|1\d|2[01])\.|^22\.(?:\d|1[01])\./.test(node) ? 1 : 0);
});
