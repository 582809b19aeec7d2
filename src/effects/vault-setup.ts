import { lstatSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../errors.ts';
import { leadsOut, VAULT_FOLDERS } from './vault-folders.ts';
import { errorCode, makePrivateFolder } from './write-file.ts';

/** What became of one thing that `init` wanted to be there. */
export type SetUp =
  | { readonly kind: 'made'; readonly path: string }
  | { readonly kind: 'was-there'; readonly path: string }
  /** Nothing is made behind a link that leads out of the vault, or in the place of something else. */
  | { readonly kind: 'refused'; readonly path: string; readonly why: string };

/** Makes the vault and its folders; whatever is there stays as it is. Never throws. */
export function makeVaultFolders(vault: string): readonly SetUp[] {
  const own = makeFolder(vault, vault);
  if (own.kind === 'refused') return [own];
  return [own, ...VAULT_FOLDERS.map((name) => makeFolder(path.join(vault, name), vault))];
}

function makeFolder(folder: string, vault: string): SetUp {
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return judge(folder, vault);
    makePrivateFolder(folder);
    return { kind: 'made', path: folder };
  } catch (error) {
    return { kind: 'refused', path: folder, why: messageOf(error) };
  }
}

function judge(folder: string, vault: string): SetUp {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) {
    return { kind: 'refused', path: folder, why: 'it is a link that leads to nothing' };
  }
  if (!stats.isDirectory()) return { kind: 'refused', path: folder, why: 'it is no folder' };
  return leadsOut(folder, vault)
    ? { kind: 'refused', path: folder, why: 'it is a link that leads out of the vault' }
    : { kind: 'was-there', path: folder };
}

/** Names under which a configuration may stand already. */
const CONFIG_NAMES = ['ralph.config.yaml', 'ralph.config.yml', 'ralph.config.json'];

/** Writes the configuration file, unless one stands there under any of its names. Never throws. */
export function writeNewConfig(vault: string, text: string): SetUp {
  const file = path.join(vault, 'ralph.config.yaml');
  try {
    const there = CONFIG_NAMES.map((name) => path.join(vault, name)).find(
      (each) => lstatSync(each, { throwIfNoEntry: false }) !== undefined,
    );
    if (there !== undefined) return { kind: 'was-there', path: there };
    // Created or refused in one step: neither another's file nor a link is written over.
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
    return { kind: 'made', path: file };
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return { kind: 'was-there', path: file };
    return { kind: 'refused', path: file, why: messageOf(error) };
  }
}

/** Whether `folder` is `vault` or lies below it: there the vault's configuration is found. */
export function liesIn(folder: string, vault: string): boolean {
  try {
    const [inner, outer] = [realpathSync(folder), realpathSync(vault)];
    return inner === outer || inner.startsWith(`${outer}${path.sep}`);
  } catch {
    return false;
  }
}
