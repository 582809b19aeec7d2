import { lstatSync } from 'node:fs';
import type { OpenNote, OpenRequest } from '../../core/task/briefing-sources.ts';
import { filesIn, NEEDS_ACTION, PENDING } from './vault-folders.ts';

const NOTE = /^RALPH_([A-Z]+)_(.+)_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.md$/;

/** Returns the notes by ralph that are still in `Needs_Action`, sorted by name. Never throws. */
export function openNotes(vault: string): readonly OpenNote[] {
  return filesIn(vault, NEEDS_ACTION).flatMap(({ name, file }) => {
    const [, reason, taskId, year, month, day, hour, minute, second] = NOTE.exec(name) ?? [];
    if (reason === undefined || taskId === undefined) return [];
    const at = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
    return Number.isNaN(Date.parse(at)) ? [] : [{ file, reason, taskId, at }];
  });
}

/** Returns the requests for an approval that are not answered yet. Never throws. */
export function openRequests(vault: string): readonly OpenRequest[] {
  return filesIn(vault, PENDING).flatMap(({ name, file }) => {
    const changed = lstatSync(file, { throwIfNoEntry: false })?.mtime;
    if (changed === undefined) return [];
    const taskId = /^APPROVAL_(.+)_[^_]+\.md$/.exec(name)?.[1] ?? null;
    return [{ file, taskId, at: changed.toISOString() }];
  });
}
