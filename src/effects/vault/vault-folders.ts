import path from 'node:path';
import { fileNamesIn } from '../files/folder.ts';
import { leadsOut } from '../files/real-path.ts';

export const NEEDS_ACTION = 'Needs_Action';
export const IN_PROGRESS = 'In_Progress';
/** Where requests are placed, and where they are moved to as an answer. */
export const PENDING = 'Pending_Approval';
export const APPROVED = 'Approved';
export const REJECTED = 'Rejected';
export const QUARANTINE = 'Quarantine';

/** The vault's own folders; what ralph moves there does not count as the agent's progress. */
export const VAULT_FOLDERS = [
  ...[NEEDS_ACTION, IN_PROGRESS, PENDING, APPROVED, REJECTED],
  ...['Done', QUARANTINE],
];

/** Matches files that ralph itself writes: states, logs, and the notes and requests of any loop. */
export function ownFiles(vault: string, stateDir: string): (file: string) => boolean {
  const states = `${stateDir}${path.sep}`;
  const notes = path.join(vault, NEEDS_ACTION);
  const requests = [PENDING, APPROVED, REJECTED].map((name) => path.join(vault, name));
  return (file) =>
    file.startsWith(states) ||
    (path.dirname(file) === notes && /^RALPH_[A-Z]+_.+\.md$/.test(path.basename(file))) ||
    (requests.includes(path.dirname(file)) && /^APPROVAL_.+_.+\.md$/.test(path.basename(file)));
}

/** Returns the regular files in a folder of the vault, sorted; none if it leads out of it. Never throws. */
export function filesIn(vault: string, folder: string): readonly { name: string; file: string }[] {
  const whole = path.join(vault, folder);
  if (leadsOut(whole, vault)) return [];
  return fileNamesIn(whole)
    .filter((name) => !name.startsWith('.'))
    .map((name) => ({ name, file: path.join(whole, name) }));
}
