import { chmodSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { CommandError, messageOf } from '../../errors.ts';
import { MB, readWithin } from '../files/bounded-read.ts';
import { errorCode, writeFileAtomic } from '../files/write-file.ts';

/** The text of a list of tasks, or why it cannot be read, as a clause. */
export type ListText = { readonly text: string } | { readonly problem: string };

/** Reads the file of a list: a regular file of at most 1 MB in UTF-8. Never throws. */
export function readListFile(file: string): ListText {
  try {
    if (lstatSync(file).isSymbolicLink()) return { problem: 'it is a link' };
    const bytes = readWithin(file, MB);
    const text = bytes.toString();
    // Bytes that are not UTF-8 would be lost when the list is written.
    return Buffer.from(text).equals(bytes) ? { text } : { problem: 'it is not UTF-8' };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return { problem: 'there is no such file' };
    if (code === 'EFBIG') return { problem: 'it has more than 1 MB' };
    return {
      problem: code === 'EINVAL' || code === 'EISDIR' ? 'it is no file' : 'it cannot be read',
    };
  }
}

/** Replaces a list's file in one step, even if it is a symbolic link or its folder is gone. Rejects with a `CommandError`. */
export function writeListFile(file: string, text: string): Promise<void> {
  return saying(file, () => replaceList(file, text));
}

/** Writes a file of a list. If that fails, as on a full disk, rejects with a `CommandError` that says what to do. */
export async function saying(file: string, write: () => Promise<void>): Promise<void> {
  await write().catch((error: unknown) => {
    throw new CommandError(
      `${file} cannot be written (${messageOf(error)}). When it can, the same command goes on, and what is done is ticked without an agent.`,
    );
  });
}

async function replaceList(file: string, text: string): Promise<void> {
  const mode = lstatSync(file, { throwIfNoEntry: false })?.isFile() ? statSync(file).mode : 0o644;
  mkdirSync(path.dirname(file), { recursive: true });
  await writeFileAtomic(file, text);
  chmodSync(file, mode & 0o777);
}
