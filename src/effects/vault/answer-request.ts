import { lstatSync, promises } from 'node:fs';
import path from 'node:path';
import { safeJson } from '../../core/text/safe-json.ts';
import { MB, readTextWithin } from '../files/bounded-read.ts';
import { isThere } from '../files/file-kinds.ts';
import { leadsOut } from '../files/real-path.ts';
import { makePrivateFolder, retryBusy, writeFileAtomic } from '../files/write-file.ts';
import { APPROVED, PENDING, REJECTED } from './vault-folders.ts';

/** Whether the folder of unanswered requests contains a regular file of this name. */
export function isPending(vault: string, name: string): boolean {
  const isName = path.basename(name) === name && !name.startsWith('.');
  const file = path.join(vault, PENDING, name);
  return isName && lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Answers a request: writes the reason into it and moves it to the folder of the decision. A file
 * already there under that name is renamed first. `at` is an ISO instant. Resolves to the path of
 * the answer within the vault. Rejects with the system's error, or if a folder leads out of the vault.
 */
export async function answerRequest(
  vault: string,
  name: string,
  {
    decision,
    reason,
    at,
  }: {
    readonly decision: 'approved' | 'rejected';
    readonly reason: string | null;
    readonly at: string;
  },
): Promise<string> {
  const folder = decision === 'approved' ? APPROVED : REJECTED;
  for (const each of [PENDING, folder]) {
    if (leadsOut(path.join(vault, each), vault)) {
      throw new Error(`${path.join(vault, each)} leads out of the vault`);
    }
  }
  const from = path.join(vault, PENDING, name);
  const to = path.join(vault, folder, name);
  await retryBusy(async () => makePrivateFolder(path.join(vault, folder)));
  if (reason !== null) await writeFileAtomic(from, withReason(readTextWithin(from, MB), reason));
  if (isThere(to)) {
    await promises.rename(to, `${to}.before-${at.replace(/\D/g, '')}`);
  }
  await retryBusy(() => promises.rename(from, to));
  return `${folder}/${name}`;
}

/** Returns the text with the reason on its `reason:` line, or at the top if it has no such line. */
function withReason(text: string, reason: string): string {
  const line = `reason: ${safeJson(reason.replace(/\s+/g, ' ').trim())}`;
  if (/^reason:.*$/m.test(text)) return text.replace(/^reason:.*$/m, () => line);
  const [top] = /^\uFEFF?---[ \t]*\r?\n/.exec(text) ?? [];
  return top === undefined ? `${line}\n\n${text}` : `${top}${line}\n${text.slice(top.length)}`;
}
