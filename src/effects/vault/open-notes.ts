import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { OpenNote, OpenRequest } from '../../core/task/briefing.ts';
import { leadsOut } from '../files/real-path.ts';

const NOTE = /^RALPH_([A-Z]+)_(.+)_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.md$/;

/** Returns ralph's notes that are still in the vault, oldest first. Never throws. */
export function openNotes(vault: string): readonly OpenNote[] {
  return filesIn(vault, 'Needs_Action').flatMap(({ name, file }) => {
    const [, reason, taskId, year, month, day, hour, minute, second] = NOTE.exec(name) ?? [];
    if (reason === undefined || taskId === undefined) return [];
    const at = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
    return Number.isNaN(Date.parse(at)) ? [] : [{ file, reason, taskId, at }];
  });
}

/** Returns the requests that nobody has answered yet. Never throws. */
export function openRequests(vault: string): readonly OpenRequest[] {
  return filesIn(vault, 'Pending_Approval').flatMap(({ name, file }) => {
    const changed = lstatSync(file, { throwIfNoEntry: false })?.mtime;
    if (changed === undefined) return [];
    const taskId = /^APPROVAL_(.+)_[^_]+\.md$/.exec(name)?.[1] ?? null;
    return [{ file, taskId, at: changed.toISOString() }];
  });
}

function filesIn(vault: string, folder: string): readonly { name: string; file: string }[] {
  const whole = path.join(vault, folder);
  if (leadsOut(whole, vault)) return [];
  let entries: readonly Dirent[] = [];
  try {
    entries = readdirSync(whole, { withFileTypes: true });
  } catch {
    // No such folder: nothing was ever written there.
  }
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => ({ name, file: path.join(whole, name) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
