import { hashOfFile } from '../files/file-hash.ts';
import { lstatOf } from '../files/file-kinds.ts';
import type { IndexEntry } from '../git/listings.ts';
import type { PrivateGit } from '../git/private-git.ts';
import { readObjects } from '../git/questions/verified.ts';
import { treePlace } from '../git/tree-path.ts';
import { sizesOf } from './tree-files.ts';

/**
 * For a large file, git-lfs stores a pointer in git: a few lines with the hash and the size of the content
 * (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). A pointer with extensions does not match, since its hash
 * is not that of the file.
 */
const POINTER = /^version \S+\noid sha256:([0-9a-f]{64})\nsize (\d+)\n$/;

/** In bytes. A larger object is not a pointer, and is not read. */
const POINTER_AT_MOST = 1_024;

/** Returns the files in the work tree that have exactly the content which their pointers in git name. */
export async function whereContentIsAsNamed<File extends IndexEntry>(
  git: PrivateGit,
  files: readonly File[],
): Promise<ReadonlySet<File>> {
  const ids = files.map(({ id }) => id);
  const sizes = await sizesOf(git, ids);
  const pointers = await readObjects(
    git.own,
    ids.filter((id) => (sizes.get(id) ?? Infinity) <= POINTER_AT_MOST),
  );
  const found = new Set<File>();
  for (const file of files) {
    const text = pointers.get(file.id)?.content.toString('latin1') ?? '';
    const [, hash, size] = POINTER.exec(text) ?? [];
    const place = treePlace(git.repository.root, file.name);
    const stats = lstatOf(place);
    if (hash === undefined || stats?.isFile() !== true || stats.size !== Number(size)) continue;
    if ((await hashOfFile(place, stats.size)) === hash) found.add(file);
  }
  return found;
}
