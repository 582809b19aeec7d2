import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type BaselineRequest, takeBaseline } from '../../../src/effects/workspace/baseline.ts';
import {
  baselineJson,
  fitBaseline,
  readBaseline,
} from '../../../src/effects/workspace/kept-baseline.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('boxes are compared with those of the same plan and headings', async () => {
  const cwd = await tempFolder();
  writeFileSync(join(cwd, 'PLAN.md'), '## A\n- [ ] one\n## B\n- [ ] two\n');
  writeFileSync(join(cwd, 'OTHER.md'), '- [x] three\n');
  const request: BaselineRequest = {
    ...{ cwd, globs: [], existing: false, donePath: null, protect: [], isOwn: () => false },
    ...{ planFile: join(cwd, 'PLAN.md'), planSections: [] },
  };
  writeFileSync(join(cwd, 'baseline.json'), baselineJson(await takeBaseline(request), request));
  const planOnResume = async (changes: Partial<BaselineRequest>) => {
    const kept = readBaseline(cwd);
    if (kept === null) throw new Error('the baseline cannot be read back');
    const fitted = await fitBaseline(kept, { ...request, ...changes });
    return 'baseline' in fitted ? fitted.baseline.plan : fitted;
  };
  writeFileSync(join(cwd, 'PLAN.md'), '## A\n- [x] one\n');
  expect(await planOnResume({})).toEqual({ open: 2, done: 0 });
  expect(await planOnResume({ planSections: ['a'] })).toEqual({ open: 0, done: 1 });
  expect(await planOnResume({ planFile: join(cwd, 'OTHER.md') })).toEqual({ open: 0, done: 1 });
});
