import { realpathSync } from 'node:fs';
import { realPath } from '../files/real-path.ts';
import { distrustPath } from './owner.ts';

/** A folder that ralph writes to while a task runs. */
export interface PinnedFolder {
  readonly path: string;
  /**
   * Call this before each write. Throws if the path now leads elsewhere, since an agent may have replaced the folder
   * with a symbolic link, or if others can write to the folder. Accepts a missing folder.
   */
  check(): void;
}

/** Remembers the real path of a folder, even if the folder does not exist yet. */
export function pinFolder(folder: string): PinnedFolder {
  const real = realPath(folder);
  return {
    path: folder,
    check() {
      let now: string;
      try {
        now = realpathSync.native(folder);
      } catch {
        return;
      }
      if (now !== real) throw new Error(`${folder} leads to ${now} now; it was ${real}`);
      const why = distrustPath(now);
      if (why !== null) throw new Error(`${folder} is not used: ${why}`);
    },
  };
}
