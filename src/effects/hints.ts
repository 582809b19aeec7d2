import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Requests } from '../loop/ports.ts';
import { makePrivateFolder, writeFileAtomic } from './write-file.ts';

/** Requests lie in the task's folder, each a file of its own. */
const FOLDER = 'requests';

/** Takes the hints that lie in a task's folder, oldest first, each once. */
export function hintBox(taskFolder: string): Requests {
  const folder = path.join(taskFolder, FOLDER);
  /** A file that cannot be removed is not taken again all the same. */
  const taken = new Set<string>();
  return {
    async hints() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
      const names = entries
        // A named pipe would never come to an end.
        .filter((entry) => entry.isFile() && /^tell-.*\.md$/.test(entry.name))
        .map(({ name }) => name)
        .filter((name) => !taken.has(name))
        .sort();
      const hints: string[] = [];
      for (const name of names) {
        const file = path.join(folder, name);
        const text = await readFile(file, 'utf8').catch(() => '');
        taken.add(name);
        await rm(file, { force: true }).catch(() => undefined);
        if (text.trim() !== '') hints.push(text);
      }
      return hints;
    },
  };
}

/** Leaves a hint for a running task. Rejects with the system's error. */
export async function leaveHint(taskFolder: string, text: string, at: string): Promise<void> {
  const folder = path.join(taskFolder, FOLDER);
  makePrivateFolder(folder);
  const stamp = at.replace(/\D/g, '');
  await writeFileAtomic(path.join(folder, `tell-${stamp}-${randomUUID()}.md`), text);
}
