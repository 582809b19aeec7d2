import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeBaseline } from '../../../src/effects/workspace/baseline.ts';
import { createObserver } from '../../../src/effects/workspace/observer.ts';
import { observerRequest } from '../../fixtures/observer-request.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

test('what a check writes before the first iteration completes nothing, what the agent writes does', async () => {
  const cwd = await tempFolder();
  const request = observerRequest({ cwd, globs: ['out/*', '*.md'] });
  const observer = createObserver(request, await takeBaseline(request));
  writeFileSync(join(cwd, 'report.md'), 'by the check');
  await observer.beginAgain();
  await observer.mark();
  expect((await observer.look()).watchMatches).toEqual([]);
  await observer.mark();
  writeFileSync(join(cwd, 'report.md'), 'by the agent, longer');
  expect((await observer.look()).watchMatches).toEqual(['report.md']);
});
