import path from 'node:path';

/** Lists a folder and those above it, the nearest first. */
export function upward(folder: string): readonly string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...upward(parent)];
}
