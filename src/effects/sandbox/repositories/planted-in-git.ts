import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { isAtOrBelow } from '../../../core/sandbox/places.ts';
import { MB, readWithin } from '../../files/bounded-read.ts';
import { gitIn } from '../../git/git.ts';
import { indexEntries } from '../../git/questions/index-files.ts';
import { entriesAt } from '../../git/questions/objects.ts';
import { resolveName } from '../../git/questions/refs.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';

/*
 * An agent can change even a file that it may not write to: git takes any content into the index or a commit, and the
 * user's next `git stash` or `git checkout` writes it to the file.
 */

interface EntriesRequest {
  readonly root: string;
  /** Absolute paths that the agent may not write to. */
  readonly denied: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

const TIMEOUT_MS = 30_000;

/** Notes what the index and HEAD now contain at the places that the agent may not write to. */
export async function watchEntries(request: EntriesRequest) {
  const look = () => entriesNow(request).catch(() => null);
  let before = (await look()) ?? new Map<string, Entry>();
  return {
    /** Returns each denied path whose entry in git is new or changed and differs from the file there. Never rejects. */
    async take(): Promise<readonly string[]> {
      const now = await look();
      if (now === null) return [`${request.root} (git's index and HEAD could not be read)`];
      const planted = [...now].filter(
        ([key, { place, id }]) => before.get(key)?.id !== id && !holds(place, id),
      );
      before = now;
      return planted.map(([, { place, where }]) => `${place} (${where})`).sort();
    },
  };
}

interface Entry {
  readonly place: string;
  readonly where: 'in the index' | 'in a commit';
  /** The mode and the id of the object. */
  readonly id: string;
}

/** Returns the entries in the index and HEAD for the denied paths. Rejects with a `GitError`. */
async function entriesNow({
  root,
  denied,
  env,
}: EntriesRequest): Promise<ReadonlyMap<string, Entry>> {
  const names = denied
    .filter((place) => place !== root && isAtOrBelow(place, root))
    .map((place) => path.relative(root, place));
  const entries = new Map<string, Entry>();
  if (names.length === 0) return entries;
  const git = gitIn(root, { env, timeoutMs: TIMEOUT_MS });
  const note = (where: Entry['where'], name: TreePath, id: string, stage = ''): void => {
    const place = path.join(root, asText(name));
    entries.set(`${where} ${stage} ${place}`, { place, where, id });
  };
  // A path in conflict has one entry for each side.
  for (const { name, mode, id, stage } of await indexEntries(git, names)) {
    note('in the index', name, `${mode} ${id}`, stage);
  }
  // Before the first commit, HEAD has no tree to read.
  if ((await resolveName(git, 'HEAD')) === null) return entries;
  for (const [name, entry] of await entriesAt(git, 'HEAD', names)) note('in a commit', name, entry);
  return entries;
}

/** Whether the file at a place has exactly the content of git's entry for it. */
function holds(place: string, entry: string): boolean {
  const [mode, id = ''] = entry.split(' ');
  try {
    const isLink = lstatSync(place).isSymbolicLink();
    if (isLink !== (mode === '120000')) return false;
    const content = isLink ? readlinkSync(place, 'buffer') : readWithin(place, MB);
    const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
    return hash.update(`blob ${content.length}\0`).update(content).digest('hex') === id;
  } catch {
    return false;
  }
}
