import { lstatSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApprovalAnswer } from '../../core/machine/loop-event.ts';
import type { Approval, ThereBefore } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, readFirstBytes, tryReadText } from '../files/bounded-read.ts';
import { ifPossible } from '../files/if-possible.ts';
import { isSamePlace, leadsOut } from '../files/real-path.ts';
import {
  makePrivateFolder,
  removeHalfWritten,
  retryBusy,
  writeFileAtomic,
} from '../files/write-file.ts';
import { distrustPath } from '../trust/owner.ts';
import { APPROVED, PENDING, REJECTED } from './vault-folders.ts';

/** How often the folders are looked at for an answer. */
const POLL_MS = 250;

/**
 * Writes a request into `Pending_Approval`. Resolves to a record of files that already have the name of an answer and
 * do not count as the answer. Replaces an older request by ralph of the same name; a file that ralph did not write
 * stays as the request. Rejects with the system's error, or if the file is not regular or a folder is not safe to use.
 */
export async function placeRequest(
  vault: string,
  approval: Approval,
  text: string,
): Promise<ThereBefore> {
  // After a resume, the earlier record is used: the request may have been answered since then.
  const there: ThereBefore = approval.there_before ?? {
    approved: markOf(vault, APPROVED, approval.file),
    rejected: markOf(vault, REJECTED, approval.file),
  };
  const folder = path.join(vault, PENDING);
  if (leadsOut(folder, vault)) throw new Error(`${folder} leads out of the vault`);
  for (const name of [PENDING, APPROVED, REJECTED]) {
    const why = distrustPath(path.join(vault, name));
    if (why !== null) throw new Error(`${path.join(vault, name)} is not used: ${why}`);
  }
  for (const [one, other] of [
    [APPROVED, PENDING],
    [REJECTED, PENDING],
    [APPROVED, REJECTED],
  ] as const) {
    if (isSame(vault, one, other)) throw new Error(`${one} and ${other} are the same folder`);
  }
  const file = path.join(folder, approval.file);
  if (isFree(file) && findAnswer(vault, { ...approval, there_before: there }) === null) {
    await retryBusy(async () => makePrivateFolder(folder));
    removeHalfWritten(folder, approval.file);
    await writeFileAtomic(file, text);
  }
  return there;
}

/** Whether both names lead to the same folder: then a request would be its own answer. */
function isSame(vault: string, one: string, other: string): boolean {
  return isSamePlace(path.join(vault, one), path.join(vault, other));
}

const OWN_BEGINNING = '---\ntype: "approval_request"\n';

/** Whether the file does not exist or is a request written by ralph. Throws if it is not regular. */
function isFree(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isFile()) throw new Error(`${file} is not a regular file`);
  return readFirstBytes(file, OWN_BEGINNING.length).toString() === OWN_BEGINNING;
}

/**
 * Waits until the request is answered or expires, or the signal aborts. Without `patiently`, checks only once for an
 * answer.
 */
export async function awaitAnswer(
  vault: string,
  approval: Approval,
  { patiently, signal }: { readonly patiently: boolean; readonly signal: AbortSignal },
): Promise<ApprovalAnswer> {
  for (;;) {
    const answer = findAnswer(vault, approval);
    if (answer !== null) return answer;
    if (!patiently) return { kind: 'none', why: 'not-waited' };
    if (signal.aborted) return { kind: 'none', why: 'interrupted' };
    if (Date.now() >= Date.parse(approval.expires_at)) return { kind: 'none', why: 'expired' };
    await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Whether a request is answered. One that somebody has removed is not: a resume puts it there again. */
export function isAnswered(vault: string, approval: Approval): boolean {
  return findAnswer(vault, approval) !== null;
}

/** Returns the answer; null if there is none yet. If there are both answers, the rejection counts. */
function findAnswer(vault: string, { file, there_before }: Approval): ApprovalAnswer | null {
  const isNew = (folder: string, before: string | null | undefined): boolean => {
    const mark = markOf(vault, folder, file);
    return mark !== null && mark !== before;
  };
  if (isNew(REJECTED, there_before?.rejected)) {
    const reason = readReason(path.join(vault, REJECTED, file));
    return { kind: 'rejected', file: `${REJECTED}/${file}`, reason };
  }
  if (isNew(APPROVED, there_before?.approved)) {
    return { kind: 'approved', file: `${APPROVED}/${file}`, reason: null };
  }
  return null;
}

/**
 * Returns a text that identifies the current version of a regular file. Returns null if there is no
 * such file or its folder cannot be trusted. Leaves out the change time, because a hard link made
 * by a backup alters it.
 */
function markOf(vault: string, folder: string, file: string): string | null {
  if (leadsOut(path.join(vault, folder), vault) || isSame(vault, folder, PENDING)) return null;
  // If other users can write to the folder, any of them could have answered.
  if (distrustPath(path.join(vault, folder)) !== null) return null;
  const stats = ifPossible(() => lstatSync(path.join(vault, folder, file), { bigint: true }));
  return stats?.isFile() === true ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : null;
}

/** Returns the text after `reason:` in an answer; null if there is none. */
function readReason(file: string): string | null {
  const [, written = ''] = /^reason:[ \t]*(.*)$/im.exec(tryReadText(file, MB) ?? '') ?? [];
  const reason = oneLine(unquoted(written.trim()), 1_000);
  return reason === '' ? null : reason;
}

function unquoted(text: string): string {
  if (!/^".*"$/.test(text)) return text;
  return ifPossible(() => String(JSON.parse(text))) ?? text;
}
