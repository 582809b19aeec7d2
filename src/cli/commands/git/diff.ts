import { randomUUID } from 'node:crypto';
import {
  filesOfIterations,
  type ShownIterations,
  showChanges,
} from '../../../compose/git-commands/show-snapshots.ts';
import { safeJson } from '../../../core/text/safe-json.ts';
import { UsageError } from '../../../errors.ts';
import { existingTask } from '../../tasks/find-task.ts';
import { type FolderOptions, foldersOf } from '../../tasks/named-folders.ts';
import { iterationNumber, shownTask } from '../../tasks/named-task.ts';
import { standardOutlet } from '../../terminal/outlet.ts';

export interface DiffOptions extends FolderOptions {
  readonly stat?: boolean;
  readonly json?: boolean;
}

/** `ralph diff [ID] [N|N..M]`: shows what iterations changed, as `git diff` does. */
export async function diff(
  word: string | undefined,
  range: string | undefined,
  options: DiffOptions,
): Promise<number> {
  if (options.stat && options.json) {
    throw new UsageError(['ralph diff expects --stat or --json; found both.']);
  }
  const iterations = range === undefined ? null : iterationsOf(range);
  const place = foldersOf(options);
  const task = existingTask(shownTask(word, place), place);
  const runId = randomUUID();
  if (!options.json) return showChanges(task, runId, iterations, options.stat ?? false);
  const files = await filesOfIterations(task, runId, iterations);
  await standardOutlet().write(`${safeJson(files, 2)}\n`);
  return 0;
}

function iterationsOf(range: string): ShownIterations {
  const [first = '', last = first, ...more] = range.split('..');
  if (more.length > 0) {
    throw new UsageError([`ralph diff expects N or N..M, two iterations; found '${range}'.`]);
  }
  const iterations = {
    first: iterationNumber(first, 'ralph diff'),
    last: iterationNumber(last, 'ralph diff'),
  };
  if (iterations.first <= iterations.last) return iterations;
  throw new UsageError([`ralph diff expects N..M with N up to M; found '${range}'.`]);
}
