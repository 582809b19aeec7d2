import { type LeftOut, leftOutSentences } from '../../../core/snapshots/left-out.ts';
import type { Repository } from '../../git/repository.ts';
import { asText, type TreePath } from '../../git/tree-path.ts';
import { type DirtyFiles, isSameFile, markDirtyFiles } from '../../workspace/dirty-files.ts';
import type { InnerRepository } from '../../workspace/inner-repositories.ts';
import type { KeptTree } from '../snapshot-store.ts';

/** Returns new sentences about files that a snapshot lacks or that look like secrets, and adds them to `said`. */
export function keptNotices(
  kept: Pick<KeptTree, 'leftOut' | 'secrets'>,
  said: Set<string>,
): readonly string[] {
  const all: readonly NotKept[] = [
    ...kept.leftOut,
    ...kept.secrets.map((name) => [name, 'secret'] as const),
  ];
  return sentences(all, said);
}

/** Returns such sentences about repositories inside the work tree, whose files no snapshot has. */
export function innerNotices(
  { leftOut, nested }: Pick<KeptTree, 'leftOut' | 'nested'>,
  repositories: readonly InnerRepository[],
  said: Set<string>,
): readonly string[] {
  const all = repositories.flatMap(({ path, isDirty, changed }): readonly NotKept[] => {
    if (leftOut.has(path)) return [];
    if (nested.has(path)) return isDirty ? [[path, 'uncommitted']] : [];
    return changed.length > 0 ? [[path, 'inner-repository']] : [];
  });
  return sentences(all, said);
}

type NotKept = readonly [TreePath, LeftOut['kind']];

function sentences(all: readonly NotKept[], said: Set<string>): readonly string[] {
  return leftOutSentences(
    all.map(([name, kind]) => ({ path: asText(name), kind })),
    said,
  );
}

/** Watches files, and repositories inside the tree, that are in no snapshot but may change. */
export function createSigns({ root }: Repository) {
  let before: DirtyFiles = new Map();
  return {
    /** Returns the paths of such files and repositories that are new or were written since the last call. */
    async changedSince({ leftOut, nested }: KeptTree): Promise<readonly TreePath[]> {
      const then = before;
      before = await markDirtyFiles(root, [...leftOut.keys(), ...nested], then);
      return [...before].flatMap(([name, now]) => {
        const old = then.get(name);
        return old === undefined || !isSameFile(old, now) ? [name] : [];
      });
    },
  };
}
