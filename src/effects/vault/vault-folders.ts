import path from 'node:path';
import { fileNamesIn } from '../files/folder.ts';
import { leadsOut } from '../files/real-path.ts';

export const NEEDS_ACTION = 'Needs_Action';
export const IN_PROGRESS = 'In_Progress';
/** A person answers a request by moving it from `PENDING` to `APPROVED` or `REJECTED`. */
export const PENDING = 'Pending_Approval';
export const APPROVED = 'Approved';
export const REJECTED = 'Rejected';
export const QUARANTINE = 'Quarantine';

/** The folders of a vault, which holds a user's task files. Changes in them do not count as the agent's progress. */
export const VAULT_FOLDERS = [
  ...[NEEDS_ACTION, IN_PROGRESS, PENDING, APPROVED, REJECTED],
  ...['Done', QUARANTINE],
];

/** Returns the absolute paths of the folders in which changes are not the agent's work. */
export function uncountedFolders(vault: string, stateDir: string): readonly string[] {
  return [...VAULT_FOLDERS.map((name) => path.join(vault, name)), stateDir];
}

/** Returns a test for the absolute paths of ralph's own files: states, logs, notes and requests. */
export function ownFiles(vault: string, stateDir: string): (file: string) => boolean {
  const states = `${stateDir}${path.sep}`;
  const notes = path.join(vault, NEEDS_ACTION);
  const requests = [PENDING, APPROVED, REJECTED].map((name) => path.join(vault, name));
  return (file) =>
    file.startsWith(states) ||
    (path.dirname(file) === notes && /^RALPH_[A-Z]+_.+\.md$/.test(path.basename(file))) ||
    (requests.includes(path.dirname(file)) && /^APPROVAL_.+_.+\.md$/.test(path.basename(file)));
}

/** Returns a folder's visible regular files, sorted; none if it leads out of the vault. Never throws. */
export function filesIn(vault: string, folder: string): readonly { name: string; file: string }[] {
  const whole = path.join(vault, folder);
  if (leadsOut(whole, vault)) return [];
  return fileNamesIn(whole)
    .filter((name) => !name.startsWith('.'))
    .map((name) => ({ name, file: path.join(whole, name) }));
}
