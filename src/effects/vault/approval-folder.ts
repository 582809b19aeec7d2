import { type FSWatcher, lstatSync, realpathSync, watch } from 'node:fs';
import path from 'node:path';
import type { ApprovalAnswer } from '../../core/machine/loop-state.ts';
import type { Approval, ThereBefore } from '../../core/task/task-state.ts';
import { oneLine } from '../../core/text/untrusted-text.ts';
import { MB, readHead, tryReadText } from '../files/bounded-read.ts';
import { leadsOut } from '../files/real-path.ts';
import {
  makePrivateFolder,
  removeHalfWritten,
  retryBusy,
  writeFileAtomic,
} from '../files/write-file.ts';
import { distrustPath } from '../trust/owner.ts';

/** Where requests are placed, and where they are moved to as an answer. */
export const PENDING = 'Pending_Approval';
export const APPROVED = 'Approved';
export const REJECTED = 'Rejected';

/** Polling interval for places without file events, such as network folders. */
const POLL_MS = 1_000;

/**
 * Writes a request where a person finds it, and records files already in the place of an answer:
 * they do not count as one. An older request by ralph under that name is replaced; a file written
 * by somebody else is kept as the request. Rejects with the system's error, if the file is not
 * regular, and if a folder is a link out of the vault.
 */
export async function placeRequest(
  vault: string,
  approval: Approval,
  text: string,
): Promise<ThereBefore> {
  // A request placed again after a resume keeps this record: it may already have been answered.
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
  for (const answers of [APPROVED, REJECTED]) {
    if (isSame(vault, answers, PENDING))
      throw new Error(`${answers} and ${PENDING} are the same folder`);
  }
  if (isSame(vault, APPROVED, REJECTED))
    throw new Error(`${APPROVED} and ${REJECTED} are the same folder`);
  const file = path.join(folder, approval.file);
  if (isFree(file) && findAnswer(vault, { ...approval, there_before: there }) === null) {
    await retryBusy(async () => makePrivateFolder(folder));
    removeHalfWritten(folder, approval.file);
    await writeFileAtomic(file, text);
  }
  return there;
}

/** Whether a link makes both folders the same: then a request would be its own answer. */
function isSame(vault: string, one: string, other: string): boolean {
  try {
    return realpathSync(path.join(vault, one)) === realpathSync(path.join(vault, other));
  } catch {
    // One of them does not exist yet.
    return false;
  }
}

const OWN_BEGINNING = '---\ntype: "approval_request"\n';

/** Whether the place is empty, or holds an older request written by ralph. */
function isFree(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isFile()) throw new Error(`${file} is not a regular file`);
  return readHead(file, OWN_BEGINNING.length).toString() === OWN_BEGINNING;
}

/**
 * Waits until the request is moved, expires, or the signal aborts; if not `patiently`, it checks
 * only once. Uses file events, and polling as a fallback.
 */
export function awaitAnswer(
  vault: string,
  approval: Approval,
  { patiently, signal }: { readonly patiently: boolean; readonly signal: AbortSignal },
): Promise<ApprovalAnswer> {
  const here = findAnswer(vault, approval);
  if (here !== null) return Promise.resolve(here);
  if (!patiently) return Promise.resolve({ kind: 'none', why: 'not-waited' });
  return new Promise((resolve) => {
    let watcher: FSWatcher | null = null;
    const end = (answer: ApprovalAnswer): void => {
      clearInterval(timer);
      signal.removeEventListener('abort', interrupt);
      watcher?.close();
      resolve(answer);
    };
    const interrupt = (): void => end({ kind: 'none', why: 'interrupted' });
    const look = (): void => {
      const answer = findAnswer(vault, approval);
      if (answer !== null) end(answer);
      else if (Date.now() >= Date.parse(approval.expires_at)) end({ kind: 'none', why: 'expired' });
    };
    // A request that is moved leaves this folder.
    watcher = tryWatch(path.join(vault, PENDING), look);
    const timer = setInterval(look, POLL_MS);
    signal.addEventListener('abort', interrupt);
    if (signal.aborted) interrupt();
  });
}

function tryWatch(folder: string, onEvent: () => void): FSWatcher | null {
  try {
    return watch(folder, onEvent).on('error', () => {});
  } catch {
    return null;
  }
}

/** Returns the answer, if there is one; a rejection beats an approval beside it. */
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
 * Identifies a regular file in its current version; null if there is none or only behind a link. It
 * ignores the change time: a backup that links an old answer does not make it a new one.
 */
function markOf(vault: string, folder: string, file: string): string | null {
  if (leadsOut(path.join(vault, folder), vault) || isSame(vault, folder, PENDING)) return null;
  // If others can write there, anybody could have answered.
  if (distrustPath(path.join(vault, folder)) !== null) return null;
  try {
    const stats = lstatSync(path.join(vault, folder, file), { bigint: true });
    return stats.isFile() ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : null;
  } catch {
    return null;
  }
}

const LONGEST_REASON = 1_000;

/** Returns the text after `reason:` in an answer; null if it is empty. */
function readReason(file: string): string | null {
  const [, written = ''] = /^reason:[ \t]*(.*)$/im.exec(tryReadText(file, MB) ?? '') ?? [];
  const reason = oneLine(unquoted(written.trim()), LONGEST_REASON);
  return reason === '' ? null : reason;
}

function unquoted(text: string): string {
  if (!/^".*"$/.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
