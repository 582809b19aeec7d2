import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reopenTask } from '../../../src/compose/git-commands/reopen.ts';
import { readStateFile } from '../../../src/effects/state/state-file.ts';
import { inHistory, taskPaths } from '../../../src/effects/state/task-folder.ts';
import { keepTask } from '../../helpers/kept-task.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { ownSeal } from '../../helpers/test-seal.ts';

test('a completed task that is opened again has lost its proof', async () => {
  const vault = await tempFolder();
  const stateDir = join(vault, '.ralph_state');
  keepTask(stateDir, { taskId: 't', tree: null, startDir: vault });
  const paths = taskPaths(stateDir, 't');
  writeFileSync(join(inHistory(paths, 't').folder, 'proof.json'), '{}');
  const seal = ownSeal(stateDir);
  const found = readStateFile(inHistory(paths, 't').stateFile, seal);
  if (found.kind !== 'task') throw new Error('the task cannot be read');
  expect(await reopenTask(paths, found.state, { seal, vault })).toBeNull();
  expect(existsSync(join(paths.folder, 'prompt.md'))).toBe(true);
  expect(existsSync(join(paths.folder, 'proof.json'))).toBe(false);
});
