import { type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { oneLine } from '../core/material.ts';
import { PENDING } from './approval-desk.ts';
import { MB, readTextWithin } from './bounded-read.ts';
import { splitFrontMatter } from './task-file.ts';
import { leadsOut } from './vault-folders.ts';

const LARGEST_BYTES = MB;
const LONGEST_WHAT = 300;

/**
 * The regular files in `Pending_Approval` that name a task: by the `task_id` of their front matter, or,
 * where that has none, in their name or their text.
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

/** What a request asks for, as far as its text says: its first line of prose. */
export function describeRequest(vault: string, name: string): string {
  const text = splitFrontMatter(read(path.join(vault, PENDING, name))).body;
  const line = text.split('\n').find((each) => each.trim() !== '') ?? name;
  return oneLine(line.replace(/^#+\s*/, ''), LONGEST_WHAT) || name;
}

/** Whose request it is says its front matter first: that of another task may well speak of this one. */
function isAbout(taskId: string, name: string, text: string): boolean {
  const front = splitFrontMatter(text).frontMatter ?? '';
  const [, owner] =
    /^task_id:[ \t]*["']?([A-Za-z0-9._-]+)["']?[ \t\r]*(?:#.*)?$/im.exec(front) ?? [];
  if (owner !== undefined) return owner === taskId;
  return isNamedBy(name, taskId, '[A-Za-z0-9]') || isNamedBy(text, taskId, '[A-Za-z0-9_-]');
}

/**
 * Whether the id stands there as a word of its own: `t` is not named by `test`, nor `nightly` by
 * `nightly-2` or `nightly.2`. In a file's name an underscore may part it from the rest.
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
  try {
    return readTextWithin(file, LARGEST_BYTES);
  } catch {
    return '';
  }
}
