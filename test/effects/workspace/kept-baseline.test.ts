import { renameSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Baseline,
  type BaselineRequest,
  takeBaseline,
} from '../../../src/effects/workspace/baseline.ts';
import {
  baselineJson,
  fitBaseline,
  type KeptBaseline,
  readBaseline,
} from '../../../src/effects/workspace/kept-baseline.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

/** A folder with these files, and a request that looks at it. */
async function folderWith(
  files: readonly string[],
  changes: Partial<BaselineRequest> = {},
): Promise<BaselineRequest> {
  const cwd = join(await tempFolder(), 'work');
  for (const file of files) {
    await mkdir(dirname(join(cwd, file)), { recursive: true });
    await writeFile(join(cwd, file), `content of ${file}`);
  }
  const none = {
    ...{ globs: [], existing: false, donePath: null, protect: [] },
    ...{ isOwn: () => false, planFile: null, planSections: [] },
  };
  return { cwd, ...none, ...changes };
}

/** Takes a baseline, and keeps it. */
async function keptOf(request: BaselineRequest) {
  const baseline = await takeBaseline(request);
  return { kept: await readBack(baseline, request), baseline };
}

/** Writes a baseline as it is kept beside the state, and reads it again. */
async function readBack(baseline: Baseline, request: BaselineRequest): Promise<KeptBaseline> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'baseline.json'), baselineJson(baseline, request));
  const kept = readBaseline(folder);
  if (kept === null) throw new Error('the baseline cannot be read back');
  return kept;
}

describe('a baseline', () => {
  test('names files of the folder relative to it, and fits it as it was', async () => {
    const request = await folderWith(['a/b.md', 'c.ts'], { globs: ['**/*.md'], protect: ['c.ts'] });
    const { kept, baseline } = await keptOf(request);
    expect(Object.keys(kept.watched)).toEqual(['a/b.md']);
    expect(Object.keys(kept.protected)).toEqual(['c.ts']);
    const fitted = await fitBaseline(kept, request);
    expect(fitted).toEqual({ baseline });
  });

  test('names files outside by absolute path', async () => {
    const request = await folderWith(['x.md', '../out/y.md'], { globs: ['x.md', '../out/*'] });
    const { kept } = await keptOf(request);
    const outside = join(dirname(request.cwd), 'out/y.md');
    expect(Object.keys(kept.watched).sort()).toEqual([outside, 'x.md'].sort());
    const fitted = await fitBaseline(kept, request);
    expect(fitted).toMatchObject({ baseline: { watched: { [outside]: {} } } });
  });

  test('moves with its folder', async () => {
    const request = await folderWith(['a.md'], { globs: ['*.md'] });
    const { kept } = await keptOf(request);
    const cwd = `${request.cwd}-moved`;
    renameSync(request.cwd, cwd);
    const fitted = await fitBaseline(kept, { ...request, cwd });
    expect(fitted).toMatchObject({ baseline: { watched: { [join(cwd, 'a.md')]: {} } } });
  });

  test.for<[patterns: Partial<BaselineRequest>]>([
    [{ globs: ['../a.md'] }],
    [{ globs: ['/tmp/a.md'] }],
    [{ globs: ['a/../../b'] }],
    [{ globs: ['{x,/tmp/a.md}'] }],
    [{ globs: ['{x,../a.md}'] }],
    [{ protect: ['..'] }],
  ])('does not move where a pattern reaches outside: %j', async ([patterns]) => {
    const request = await folderWith(['a.md'], patterns);
    const { kept } = await keptOf(request);
    const moved = await folderWith(['a.md'], patterns);
    const fitted = await fitBaseline(kept, moved);
    expect(fitted).toMatchObject({ misfit: expect.stringContaining('reaches out') });
  });

  test.for([['a..b/*.md'], ['..a/*.md'], ['a/..b']] as const)(
    '%s reaches nowhere outside',
    async ([glob]) => {
      const request = await folderWith(['a.md'], { globs: [glob] });
      const { kept } = await keptOf(request);
      const moved = await folderWith(['a.md'], { globs: [glob] });
      expect(await fitBaseline(kept, moved)).toHaveProperty('baseline');
    },
  );

  test('in another place, with --watch-existing, is asked nothing of what matches', async () => {
    const request = await folderWith(['a.md'], { globs: ['*.md'], existing: true });
    const { kept } = await keptOf(request);
    const moved = await folderWith(['b.md'], { globs: ['*.md'], existing: true });
    expect(await fitBaseline(kept, moved)).toHaveProperty('baseline');
  });

  test('keeps the marks of the start for files that new patterns match too', async () => {
    const request = await folderWith(['a.md', 'b.md', 'c.md'], { globs: ['a.md'] });
    const { kept } = await keptOf(request);
    await writeFile(join(request.cwd, 'a.md'), 'changed');
    const fitted = await fitBaseline(kept, { ...request, globs: ['[ab].md'] });
    if ('misfit' in fitted) throw new Error(fitted.misfit);
    const { watched } = fitted.baseline;
    expect(watched[join(request.cwd, 'a.md')]).toEqual(kept.watched['a.md']);
    expect(Object.keys(watched)).toHaveLength(2);
  });

  test('forgets files outside as soon as no pattern reaches out, and fits ever after', async () => {
    const request = await folderWith(['in/a.md', '../out/old.md'], { globs: ['../out/*.md'] });
    const { kept } = await keptOf(request);
    const inside = { ...request, globs: ['in/*.md'] };
    const fitted = await fitBaseline(kept, inside);
    if ('misfit' in fitted) throw new Error(fitted.misfit);
    expect(Object.keys(fitted.baseline.watched)).toEqual([join(request.cwd, 'in/a.md')]);
    const again = await readBack(fitted.baseline, inside);
    expect(await fitBaseline(again, inside)).toEqual(fitted);
  });

  test('protects no more what is not to be protected any more', async () => {
    const request = await folderWith(['a.md', 'b.md'], { protect: ['a.md'] });
    const { kept } = await keptOf(request);
    const fitted = await fitBaseline(kept, { ...request, protect: ['b.md'] });
    if ('misfit' in fitted) throw new Error(fitted.misfit);
    expect(Object.keys(fitted.baseline.protected)).toEqual([join(request.cwd, 'b.md')]);
  });

  test.for<[protect: readonly string[], keeps: boolean]>([
    [['tests/**'], true],
    [['tests'], true],
    [['tests/'], true],
    [['./tests/*.test'], true],
    [['tests/a.test'], true],
    [['**/*.test'], true],
    [['{tests,judge}/*'], true],
    [['other/*', 'tests/*'], true],
    [['judge.sh'], false],
    [['test'], false],
    [['other/**'], false],
    [['tests/b.test'], false],
  ])(
    'protects a file that is gone as long as a new pattern may stand for it: %j',
    async ([protect, keeps]) => {
      const request = await folderWith(['tests/a.test', 'judge.sh'], {
        protect: ['tests/**', 'judge.sh'],
      });
      const { kept } = await keptOf(request);
      await rm(join(request.cwd, 'tests'), { recursive: true });
      const fitted = await fitBaseline(kept, { ...request, protect });
      if ('misfit' in fitted) throw new Error(fitted.misfit);
      const file = join(request.cwd, 'tests/a.test');
      expect(fitted.baseline.protected[file]).toEqual(
        keeps ? kept.protected['tests/a.test'] : undefined,
      );
    },
  );

  test('that is damaged is none', async () => {
    const folder = await tempFolder();
    for (const text of ['', '{}', '{"watched":{},"done":null,"protected":{},"taken":{}}']) {
      await writeFile(join(folder, 'baseline.json'), text);
      expect(readBaseline(folder)).toBeNull();
    }
  });
});
