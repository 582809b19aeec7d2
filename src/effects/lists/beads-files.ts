import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { signOfContent } from '../files/file-hash.ts';
import { isThere } from '../files/file-kinds.ts';
import { upward } from '../files/upward.ts';

/** Files that determine how `bd`, the program of the issue tracker beads, works, besides its hooks. */
const SETTINGS = ['config.yaml', 'metadata.json', 'redirect'];

/** Returns the hooks and settings of `bd` that apply in a folder, each with a checksum; empty if there are none. */
export function beadsFiles(cwd: string): ReadonlyMap<string, string> {
  const folder = beadsAbove(cwd);
  if (folder === null) return new Map();
  const files = [...SETTINGS, ...below(folder, 'hooks')];
  return new Map(
    files.flatMap((file) => {
      const sum = sumOf(path.join(folder, file));
      return sum === null ? [] : [[path.join('.beads', file), sum] as const];
    }),
  );
}

/** Returns the first file that is new, gone or has another checksum; null if there is none. */
export function changedBeadsFile(
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): string | null {
  const files = new Set([...was.keys(), ...is.keys()]);
  return [...files].find((file) => was.get(file) !== is.get(file)) ?? null;
}

function beadsAbove(cwd: string): string | null {
  const folders = upward(cwd).map((folder) => path.join(folder, '.beads'));
  return folders.find(isThere) ?? null;
}

function below(folder: string, name: string): readonly string[] {
  try {
    const found = readdirSync(path.join(folder, name), { recursive: true, encoding: 'utf8' });
    return [name, ...found.map((each) => path.join(name, each))];
  } catch {
    return [name];
  }
}

function sumOf(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return `${stats.mode} ${stats.isDirectory() ? '' : signOfContent(file)}`;
}
