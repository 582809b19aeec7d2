import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Removes a file or folder, even if folders in it are read-only. Follows no symlink. Throws the system's error. */
export function removeTree(place: string): void {
  try {
    rmSync(place, { recursive: true, force: true });
  } catch {
    makeWritable(place);
    rmSync(place, { recursive: true, force: true });
  }
}

function makeWritable(place: string): void {
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  chmodSync(place, 0o700);
  for (const name of readdirSync(place)) makeWritable(path.join(place, name));
}
