import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countPlan } from '../../../src/effects/workspace/plan-count.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('counts the boxes of a plan, or those under its headings', async () => {
  const planFile = join(await tempFolder(), 'PLAN.md');
  writeFileSync(planFile, '- [ ] a\n\n## Now\n\n- [x] b\n- [ ] c\n\n## Later\n\n- [ ] d\n');
  expect(countPlan({ planFile, planSections: [] })).toEqual({ open: 3, done: 1 });
  expect(countPlan({ planFile, planSections: ['now'] })).toEqual({ open: 1, done: 1 });
});

test('counts nothing without a plan, without its file, and in one that is too large', async () => {
  const planFile = join(await tempFolder(), 'PLAN.md');
  expect(countPlan({ planFile: null, planSections: [] })).toBeNull();
  expect(countPlan({ planFile, planSections: [] })).toBeNull();
  writeFileSync(planFile, `- [x] a\n${' '.repeat(1_100_000)}`);
  expect(countPlan({ planFile, planSections: [] })).toBeNull();
});
