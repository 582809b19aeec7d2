import { realpathSync } from 'node:fs';
import { realPath } from '../real-path.ts';
import { distrustPath } from './owner.ts';

/** A folder that ralph writes into for as long as a task runs. */
export interface PinnedFolder {
  readonly path: string;
  /**
   * To be called before each write. Throws where the path leads elsewhere by now or others can write
   * to the folder: an agent may have put a link in its place. One that is gone may be made anew.
   */
  check(): void;
}

/** Remembers where a folder is, whether it is there yet or not. */
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
