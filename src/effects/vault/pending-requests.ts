import path from 'node:path';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { splitFrontMatter } from './task-file.ts';
import { filesIn, PENDING } from './vault-folders.ts';

const LONGEST_WHAT = 300;

/**
 * Returns the names of the files in `Pending_Approval` that belong to a task. The `task_id` in the
 * front matter decides; without one, the file's name or text must contain the task id.
 */
export function requestsNaming(vault: string, taskId: string): readonly string[] {
  return filesIn(vault, PENDING)
    .filter(({ name, file }) => isAbout(taskId, name, read(file)))
    .map(({ name }) => name);
}

/**
 * Finds the requests that a task's agent makes after each `mark`. `asked` is the file name of the
 * request that a resumed task's state already records; null if it records none.
 */
export function watchPending(
  vault: string,
  taskId: string,
  { isResumed, asked }: { readonly isResumed: boolean; readonly asked: string | null },
) {
  const naming = () => requestsNaming(vault, taskId);
  // In a resumed task, a request counts as new if the last process died before it saw the request.
  let isMarked = isResumed;
  let before = naming().filter(
    (name) => !isResumed || name === asked || name.startsWith('APPROVAL_'),
  );
  // Only one request at a time is shown to a person: the others wait for the next iteration.
  let notAskedYet: readonly string[] = [];
  return {
    mark() {
      if (!isMarked) before = naming().filter((name) => !notAskedYet.includes(name));
      isMarked = false;
    },
    made() {
      const [name, ...more] = naming().filter((each) => !before.includes(each));
      notAskedYet = more;
      return name === undefined ? null : { name, what: describeRequest(vault, name) };
    },
  };
}

/** Returns what a request asks for: the first line of its text, or its file name if it has no text. */
export function describeRequest(vault: string, name: string): string {
  const text = splitFrontMatter(read(path.join(vault, PENDING, name))).body;
  const line = text.split('\n').find((each) => each.trim() !== '') ?? name;
  return oneLine(line.replace(/^#+\s*/, ''), LONGEST_WHAT) || name;
}

/** Whether a request belongs to a task. Front matter comes first: the text may mention other tasks. */
function isAbout(taskId: string, name: string, text: string): boolean {
  const front = splitFrontMatter(text).frontMatter ?? '';
  const [, owner] =
    /^task_id:[ \t]*["']?([A-Za-z0-9._-]+)["']?[ \t\r]*(?:#.*)?$/im.exec(front) ?? [];
  if (owner !== undefined) return owner === taskId;
  return isNamedBy(name, taskId, '[A-Za-z0-9]') || isNamedBy(text, taskId, '[A-Za-z0-9_-]');
}

/**
 * Whether the text contains the task id as a separate word: `test` does not contain `t`, and neither `nightly-2` nor
 * `nightly.2` contains `nightly`. A file ending may follow, as in `nightly.md`. `more` matches the characters that
 * continue a word.
 */
function isNamedBy(text: string, taskId: string, more: string): boolean {
  const literal = taskId.replace(/[.]/g, '\\.');
  return new RegExp(`(?<!${more}|[.-])${literal}(?!${more}|-|[.](?:[0-9]|[A-Za-z0-9]+[._-]))`).test(
    text,
  );
}

function read(file: string): string {
  return tryReadText(file, MB) ?? '';
}
