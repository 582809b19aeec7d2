import { readdirSync } from 'node:fs';

/** The names in a folder, in no order; none where it is not there or cannot be read. Never throws. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
