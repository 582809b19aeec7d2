import { readdirSync } from 'node:fs';

/** Returns the names in a folder, unsorted; empty if it cannot be read. Never throws. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
