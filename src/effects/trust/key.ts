import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { readBytes, withRegularFile } from '../files/bounded-read.ts';
import { homeFolder } from '../files/home-folder.ts';
import { errorCode, giveName, makePrivateFolder, removeFile } from '../files/write-file.ts';

/*
 * The key by which ralph recognises the files that it wrote for this user. It is outside every vault (folder of tasks),
 * so write access to a vault is not enough to forge a task. An agent with a shell of the user can still read the key.
 */

/** A secret of at least 32 bytes, and where it comes from. */
export interface Key {
  readonly bytes: Buffer;
  readonly file: string;
  /** Whether the user named the key, for a vault that several machines share. */
  readonly isShared: boolean;
}

/** Why there is no usable key: one sentence that says what to do. */
export interface NoKey {
  readonly problem: string;
}

const KEY_BYTES = 32;
const LARGEST_BYTES = 4096;

/** Returns the path of this user's key, `$XDG_STATE_HOME/ralph/key`; null without a home folder. */
export function defaultKeyFile(env: NodeJS.ProcessEnv): string | null {
  const { XDG_STATE_HOME: stateHome = '' } = env;
  const home = homeFolder(env);
  if (path.isAbsolute(stateHome)) return path.join(stateHome, 'ralph', 'key');
  return home === null ? null : path.join(home, '.local', 'state', 'ralph', 'key');
}

/**
 * Returns the key file that a command must name with `--key-file`; null if `named` is null (the user's own key), or if
 * `RALPH_KEY_FILE` names it already. `named` is an absolute path.
 */
export function keyFlag(
  named: string | null,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const { RALPH_KEY_FILE: variable } = env;
  const isFound = variable !== undefined && path.resolve(variable) === named;
  return isFound ? null : named;
}

/**
 * Reads the key. `named` is the file that the user named; null for the user's own key, which is created if it is
 * missing and `create` is true. Never throws.
 */
export function readKey(
  named: string | null,
  env: NodeJS.ProcessEnv,
  { create }: { readonly create: boolean },
): Key | NoKey {
  const file = named ?? defaultKeyFile(env);
  if (file === null) {
    return {
      problem:
        'there is no home folder for the key; set one with HOME, a folder with XDG_STATE_HOME, or a key with --key-file.',
    };
  }
  try {
    const bytes = readSecret(file);
    return { bytes, file, isShared: named !== null };
  } catch (error) {
    if (errorCode(error) === '') return { problem: `${messageOf(error)}.` };
    if (errorCode(error) !== 'ENOENT') return { problem: unreadable(file, error) };
  }
  if (named !== null) {
    return {
      problem: `${file} does not exist. Create it once with: (umask 077; head -c 32 /dev/urandom > ${file}).`,
    };
  }
  if (!create) return { problem: `there is no key in ${file} yet.` };
  try {
    makeSecret(file);
    return { bytes: readSecret(file), file, isShared: false };
  } catch (error) {
    return { problem: unreadable(file, error) };
  }
}

function unreadable(file: string, error: unknown): string {
  return `cannot read or create the key ${file} (${messageOf(error)}); set its folder with XDG_STATE_HOME, or name a key with --key-file.`;
}

/** Reads a key. Opens the file only once, so that the file that is checked is the one that is read. */
function readSecret(file: string): Buffer {
  return withRegularFile(file, 0, (descriptor, size) => {
    const stats = fstatSync(descriptor);
    const user = process.getuid?.();
    if (user !== undefined && stats.uid !== user && stats.uid !== 0) {
      throw new Error(`the key ${file} belongs to another user (${stats.uid})`);
    }
    if ((stats.mode & 0o077) !== 0) {
      throw new Error(
        `others can read or write the key ${file}; if nobody has, chmod 600 it, otherwise remove it and trust open tasks again`,
      );
    }
    if (size < KEY_BYTES) {
      throw new Error(
        `the key ${file} is shorter than ${KEY_BYTES} bytes; remove it, and ralph creates a new one`,
      );
    }
    return readBytes(descriptor, Math.min(size, LARGEST_BYTES));
  });
}

/** Creates a key. The complete file gets its name, so that simultaneous first runs agree on one key. */
function makeSecret(file: string): void {
  makePrivateFolder(path.dirname(file));
  const temporary = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(descriptor, randomBytes(KEY_BYTES));
    fsyncSync(descriptor);
    giveName(temporary, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    removeFile(temporary);
  }
}
