import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../errors.ts';
import { isThere } from '../files/file-kinds.ts';
import { leadsOut } from '../files/real-path.ts';
import { errorCode, makePrivateFolder, tryToRemove } from '../files/write-file.ts';
import { VAULT_FOLDERS } from './vault-folders.ts';

/** The result for one path that `ralph init` wanted to create. */
export type SetUp =
  | { readonly kind: 'made'; readonly path: string }
  | { readonly kind: 'was-there'; readonly path: string }
  /** Nothing was created, for example because `path` is a symbolic link out of the vault. `why` is a clause. */
  | { readonly kind: 'refused'; readonly path: string; readonly why: string };

/** Creates the vault and its folders; leaves existing folders unchanged. Never throws. */
export function makeVaultFolders(vault: string): readonly SetUp[] {
  const own = makeFolder(vault, vault);
  if (own.kind === 'refused') return [own];
  return [own, ...VAULT_FOLDERS.map((name) => makeFolder(path.join(vault, name), vault))];
}

function makeFolder(folder: string, vault: string): SetUp {
  try {
    if (isThere(folder)) return checkExisting(folder, vault);
    makePrivateFolder(folder);
    return { kind: 'made', path: folder };
  } catch (error) {
    return { kind: 'refused', path: folder, why: messageOf(error) };
  }
}

function checkExisting(folder: string, vault: string): SetUp {
  const stats = statSync(folder, { throwIfNoEntry: false });
  const refused = (why: string): SetUp => ({ kind: 'refused', path: folder, why });
  if (stats === undefined) return refused('it is a link to nothing');
  if (!stats.isDirectory()) return refused('it is not a folder');
  if (leadsOut(folder, vault)) return refused('it is a link that leads out of the vault');
  return { kind: 'was-there', path: folder };
}

const CONFIG_NAMES = ['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'];

/** Writes the configuration file, unless one exists under any of its names. Never throws. */
export function writeNewConfig(vault: string, text: string): SetUp {
  const file = path.join(vault, 'ralph.config.yaml');
  try {
    const there = CONFIG_NAMES.map((name) => path.join(vault, name)).find((each) => isThere(each));
    if (there !== undefined) return { kind: 'was-there', path: there };
    // `wx` fails if the file exists, so this overwrites no file and follows no link.
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return { kind: 'made', path: file };
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return { kind: 'was-there', path: file };
    // A full disk leaves a part of it, which the next `ralph init` would take for a configuration.
    tryToRemove(file);
    return { kind: 'refused', path: file, why: messageOf(error) };
  }
}

/** The files that identify a kind of project, each with the command that runs its tests. */
const PROJECTS: readonly (readonly [file: string, testCommand: string])[] = [
  ['package.json', 'npm test'],
  ['pyproject.toml', 'pytest'],
  ['Cargo.toml', 'cargo test'],
  ['go.mod', 'go test ./...'],
  ['Makefile', 'make test'],
];

/**
 * Returns the command that runs the tests of a project if the folder is the root of a git work tree; null for any other
 * folder, and for a folder that is already a vault.
 */
export function projectTests(folder: string): string | null {
  const has = (name: string): boolean => existsSync(path.join(folder, name));
  if (!has('.git') || VAULT_FOLDERS.some(has)) return null;
  return PROJECTS.find(([file]) => has(file))?.[1] ?? null;
}
