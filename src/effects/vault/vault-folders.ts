import path from 'node:path';

/** The vault's own folders; what ralph moves there does not count as the agent's progress. */
export const VAULT_FOLDERS = [
  'Needs_Action',
  'In_Progress',
  'Pending_Approval',
  'Approved',
  'Rejected',
  'Done',
  'Quarantine',
];

/** Matches files that ralph itself writes: states, logs, and the notes and requests of any loop. */
export function ownFiles(vault: string, stateDir: string): (file: string) => boolean {
  const states = `${stateDir}${path.sep}`;
  const notes = path.join(vault, 'Needs_Action');
  const requests = ['Pending_Approval', 'Approved', 'Rejected'].map((name) =>
    path.join(vault, name),
  );
  return (file) =>
    file.startsWith(states) ||
    (path.dirname(file) === notes && /^RALPH_[A-Z]+_.+\.md$/.test(path.basename(file))) ||
    (requests.includes(path.dirname(file)) && /^APPROVAL_.+_.+\.md$/.test(path.basename(file)));
}
