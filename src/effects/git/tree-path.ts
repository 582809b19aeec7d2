import { lstatOf } from '../files/file-kinds.ts';

/** A path relative to the root of the work tree, with one character per byte. */
export type TreePath = string;

/** Returns the absolute place of a path; a Buffer, because names need not be UTF-8. */
export function treePlace(root: string, name: TreePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
}

/** Returns the folder that a path is in; '' for the root. */
export function parentOf(name: TreePath): TreePath {
  const end = name.lastIndexOf('/');
  return end === -1 ? '' : name.slice(0, end);
}

/** Whether one of the path's folders is now a symbolic link. The path then leads somewhere else. */
export function isBehindLink(root: string, name: TreePath): boolean {
  for (let folder = parentOf(name); folder !== ''; folder = parentOf(folder)) {
    if (lstatOf(treePlace(root, folder))?.isSymbolicLink() === true) return true;
  }
  return false;
}

/** Whether a path is a folder, and not a repository of its own. */
export function isPlainFolder(place: Buffer): boolean {
  if (lstatOf(place)?.isDirectory() !== true) return false;
  return lstatOf(Buffer.concat([place, Buffer.from('/.git')])) === null;
}

/** Encodes a text as a path with one character per byte. */
export function asTreePath(text: string): TreePath {
  return Buffer.from(text).toString('latin1');
}

/** Decodes what git printed, for people and for paths of the system. */
export function asText(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString();
}

/** Returns paths, one character for each byte, as git reads them with `-z`. */
export function asInput(names: Iterable<string>): Uint8Array {
  return Buffer.from([...names].map((name) => `${name}\0`).join(''), 'latin1');
}
