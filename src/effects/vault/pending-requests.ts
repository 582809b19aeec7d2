import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, tryReadText } from '../files/bounded-read.ts';
import { leadsOut } from '../files/real-path.ts';
import { PENDING } from './approval-folder.ts';
import { splitFrontMatter } from './task-file.ts';

const LARGEST_BYTES = MB;
const LONGEST_WHAT = 300;

/**
 * Returns the regular files in `Pending_Approval` that name a task: in the `task_id` of their front
 * matter or, without one, in their file name or text.
 */
export function requestsNaming(vault: string, taskId: string): readonly string[] {
  const folder = path.join(vault, PENDING);
  const entries = list(folder);
  if (entries.length === 0 || leadsOut(folder, vault)) return [];
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .filter((name) => isAbout(taskId, name, read(path.join(folder, name))))
    .sort();
}

/** Watches for requests of a task's agent; `asked` is the last one that it made before a resume. */
export function watchPending(
  vault: string,
  taskId: string,
  { isResumed, asked }: { readonly isResumed: boolean; readonly asked: string | null },
) {
  const naming = () => requestsNaming(vault, taskId);
  // In a resumed task, a request that the last driver died without seeing counts as new.
  let isMarked = isResumed;
  let before = naming().filter(
    (name) => !isResumed || name === asked || name.startsWith('APPROVAL_'),
  );
  // A person is asked one thing at a time: further requests wait for the next iteration.
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

/** Describes what a request asks for: the first line of its text. */
export function describeRequest(vault: string, name: string): string {
  const text = splitFrontMatter(read(path.join(vault, PENDING, name))).body;
  const line = text.split('\n').find((each) => each.trim() !== '') ?? name;
  return oneLine(line.replace(/^#+\s*/, ''), LONGEST_WHAT) || name;
}

/** The front matter decides whose request it is: the text may well mention other tasks. */
function isAbout(taskId: string, name: string, text: string): boolean {
  const front = splitFrontMatter(text).frontMatter ?? '';
  const [, owner] =
    /^task_id:[ \t]*["']?([A-Za-z0-9._-]+)["']?[ \t\r]*(?:#.*)?$/im.exec(front) ?? [];
  if (owner !== undefined) return owner === taskId;
  return isNamedBy(name, taskId, '[A-Za-z0-9]') || isNamedBy(text, taskId, '[A-Za-z0-9_-]');
}

/**
 * Whether the id occurs as a separate word: `test` does not name `t`, and neither `nightly-2` nor
 * `nightly.2` names `nightly`. In a file name an underscore may separate it from the rest.
 */
function isNamedBy(text: string, taskId: string, more: string): boolean {
  const literal = taskId.replace(/[.]/g, '\\.');
  return new RegExp(`(?<!${more}|[.-])${literal}(?!${more}|-|[.][A-Za-z0-9]+[._-])`).test(text);
}

function list(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function read(file: string): string {
  return tryReadText(file, LARGEST_BYTES) ?? '';
}
