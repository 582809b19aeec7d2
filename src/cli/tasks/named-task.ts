import { isTaskId } from '../../core/task/task-id.ts';
import { askedText, oneLine } from '../../core/text/untrusted-text.ts';
import {
  findTaskEntry,
  listTasks,
  type TaskEntry,
  taskIdsIn,
} from '../../effects/state/task-list.ts';
import { UsageError } from '../../errors.ts';
import { TaskNotFoundError } from '../../task-errors.ts';
import { say } from '../terminal/outlet.ts';
import { standingOf } from './find-task.ts';
import type { TaskFolders } from './named-folders.ts';

/*
 * How a person may name a task of one machine: by its id, as `last`, or by the beginning of its id.
 *
 * A script that stops `nightly` must not stop `nightly-2` after `nightly` was pruned. So commands that change something
 * accept the beginning of an id only from a person at a terminal.
 */

type Place = Pick<TaskFolders, 'stateDir'>;

/** The shortest beginning of an id that is accepted, in characters. */
const SHORTEST = 3;

const LISTED_AT_MOST = 10;

/**
 * Returns the id of the task that a command shows; without a word the newest. A word that fits no task is returned
 * unchanged. Throws a `UsageError` if it fits several ids, and a `TaskNotFoundError` if there is no task at all.
 */
export function shownTask(word: string | undefined, place: Place): string {
  if (word !== undefined) return idFor(word, place, true);
  const newest = newestTask(place);
  say(`the newest task: ${newest}`);
  return newest;
}

/** Returns the id of a task that machines share. It must be the whole id. Throws a `UsageError` if none was given. */
export function requireId(word: string | undefined, command: string): string {
  if (word !== undefined) return word;
  throw new UsageError([`ralph ${command} expects the id of a task of the fleet; found none.`]);
}

/** Returns the id of the task that a command is to change. Throws as `shownTask` does. */
export function steeredTask(word: string, place: Place): string {
  return idFor(word, place, process.stdin.isTTY === true);
}

function idFor(word: string, place: Place, mayBePart: boolean): string {
  const { stateDir } = place;
  if (isTaskId(word) && findTaskEntry(stateDir, word) !== null) return word;
  if (word === 'last') return newestTask(place);
  if (!mayBePart || word.length < SHORTEST) return word;
  const fitting = taskIdsIn(stateDir).filter((id) => id.startsWith(word));
  const [only = word, ...others] = fitting;
  if (others.length === 0) return only;
  const lines = fitting.slice(0, LISTED_AT_MOST).map((id) => `${id}${aboutTask(id, stateDir)}`);
  const more = fitting.length - lines.length;
  throw new UsageError([
    `'${word}' is the beginning of several ids; name one of them:`,
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ]);
}

function aboutTask(id: string, stateDir: string): string {
  const found = findTaskEntry(stateDir, id)?.found;
  if (found?.kind !== 'task') return '';
  return `  ${standingOf(found.state)}  ${oneLine(askedText(found.state.task_prompt), 60)}`;
}

/** How many ended tasks are read to find the newest: the task that started last is almost certainly among them. */
const ENDED_READ = 10;

/** Returns the id of the task that started last. */
function newestTask({ stateDir }: Place): string {
  const { open, ended } = listTasks(stateDir, ENDED_READ);
  const [newest] = [...open, ...ended].flatMap(startOf).sort((one, other) => other.ms - one.ms);
  if (newest !== undefined) return newest.id;
  throw new TaskNotFoundError('last', stateDir, `there is no task in ${stateDir}`);
}

function startOf({ found }: TaskEntry): readonly { readonly id: string; readonly ms: number }[] {
  if (found.kind !== 'task') return [];
  return [{ id: found.state.task_id, ms: Date.parse(found.state.started_at) }];
}

/** Reads the number of an iteration. Throws a `UsageError`. */
export function iterationNumber(text: string, command: string): number {
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError([`${command} expects the number of an iteration, from 1; found '${text}'.`]);
}
