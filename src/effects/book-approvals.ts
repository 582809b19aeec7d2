import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { differs, type FileMark, markFile } from './file-marks.ts';
import { objectAt, parseObject, stringAt } from './json-fields.ts';
import { readMark } from './read-mark.ts';
import { exists } from './task-folder.ts';
import { leadsOut } from './vault-folders.ts';
import { makePrivateFolder, writeFileAtomic } from './write-file.ts';

/** A request for a person's approval, of a task that no loop drives. */
export interface BookApproval {
  readonly taskId: string;
  readonly approvalId: string;
  /** ISO instant. */
  readonly at: string;
  /** What the task is about, for the person: one line. */
  readonly about: string;
}

export type ApprovalAnswer =
  | { readonly kind: 'waiting'; readonly request: string; readonly approved: string }
  | { readonly kind: 'approved' }
  | { readonly kind: 'rejected'; readonly reason: string };

const ANSWERS = ['Approved', 'Rejected'] as const;

/** Remembers in the task's folder which request is open. */
const FILE = 'approval.json';

/** Asks: writes the request, and notes which answers were there before it, since they are none. */
export async function askApproval(
  vault: string,
  taskFolder: string,
  { taskId, approvalId, at, about }: BookApproval,
): Promise<void> {
  const name = `APPROVAL_${taskId}_${approvalId}.md`;
  const folder = path.join(vault, 'Pending_Approval');
  if (leadsOut(folder, vault)) throw new Error(`${folder} leads out of the vault`);
  const before: Record<string, FileMark | null> = {};
  for (const answer of ANSWERS) before[answer] = await markFile(path.join(vault, answer, name));
  makePrivateFolder(taskFolder);
  await writeFileAtomic(
    path.join(taskFolder, FILE),
    `${JSON.stringify({ approval_id: approvalId, name, at, before })}\n`,
  );
  makePrivateFolder(folder);
  const request = path.join(folder, name);
  // Whoever wrote a request of this name himself is not written over.
  if (!(await exists(request)))
    await writeFileAtomic(request, requestText(taskId, approvalId, at, about));
}

function requestText(taskId: string, approvalId: string, at: string, about: string): string {
  const fields = {
    type: 'approval_request',
    task_id: taskId,
    approval_id: approvalId,
    created: at,
  };
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---
${lines.join('\n')}
---

# Approval asked for: ${approvalId}

The task ${taskId} waits for a person.

    ${about}

To approve, move this file to \`Approved\`; to reject, move it to \`Rejected\`.
`;
}

/** How the open request stands. */
export async function approvalAnswer(vault: string, taskFolder: string): Promise<ApprovalAnswer> {
  const open = parseObject(await readFile(path.join(taskFolder, FILE), 'utf8').catch(() => ''));
  const name = open === null ? '' : path.basename(stringAt(open, 'name') ?? '');
  // A task of another tool names no request of its own: it waits for nothing that can come here.
  if (open === null || name === '') return { kind: 'approved' };
  const before = objectAt(open, 'before') ?? {};
  const isAnswered = (answer: (typeof ANSWERS)[number]): Promise<boolean> =>
    differs(path.join(vault, answer, name), readMark(before, answer));
  if (await isAnswered('Rejected')) {
    const text = await readFile(path.join(vault, 'Rejected', name), 'utf8').catch(() => '');
    const reason = /^reason:\s*(.+)$/m.exec(text)?.[1] ?? '';
    return { kind: 'rejected', reason: reason.replace(/^"(.*)"$/, '$1') };
  }
  if (await isAnswered('Approved')) return { kind: 'approved' };
  return {
    kind: 'waiting',
    request: path.join(vault, 'Pending_Approval', name),
    approved: path.join(vault, 'Approved'),
  };
}
