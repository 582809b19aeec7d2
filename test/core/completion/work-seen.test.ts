import { expect, test } from 'vitest';
import { addWork, NO_WORK } from '../../../src/core/completion/work-seen.ts';
import { refusedTool } from '../../helpers/attempt-facts.ts';

const NO_TOOLS = { tools: 0, refused: [] };
const git = (commits: number, filesChanged: number, onlyPlan?: boolean) => ({
  git: { commits, filesChanged, ...(onlyPlan === undefined ? {} : { onlyPlan }) },
});

test.for<[what: string, progress: Parameters<typeof addWork>[1], changed: boolean | null]>([
  ['nothing', git(0, 0), false],
  ['a file', git(0, 1), true],
  ['a commit of what was there', git(1, 0), true],
  ['the plan alone', git(0, 1, true), false],
  ['the plan alone, committed', git(1, 1, true), false],
  ['what nobody can see', { git: null }, null],
])('an iteration that changed %s', ([, progress, changed]) => {
  expect(addWork(NO_WORK, progress, NO_TOOLS).changed).toBe(changed);
});

test('work of an earlier iteration counts, and what could not be seen stays unknown', () => {
  const seen = (...each: readonly Parameters<typeof addWork>[1][]) =>
    each.reduce((work, progress) => addWork(work, progress, NO_TOOLS), NO_WORK).changed;
  expect(seen(git(0, 1), git(0, 0))).toBe(true);
  expect(seen(git(0, 1), { git: null })).toBe(true);
  expect(seen({ git: null }, git(0, 0))).toBeNull();
  expect(seen({ git: null }, git(0, 1))).toBe(true);
});

test('a tool counts that was not refused, in any iteration', () => {
  const used = (tools: number, refused: number) =>
    addWork(NO_WORK, git(0, 0), {
      tools,
      refused: Array.from({ length: refused }, () => refusedTool('Bash', 'ls')),
    });
  expect(used(0, 0).usedTools).toBe(false);
  expect(used(2, 2).usedTools).toBe(false);
  expect(used(2, 1).usedTools).toBe(true);
  expect(addWork(used(1, 0), git(0, 0), NO_TOOLS).usedTools).toBe(true);
});
