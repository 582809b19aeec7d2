import { accepting } from '../../core/proof/accepted.ts';
import type { ChangedDecider } from '../../core/proof/findings.ts';
import { realPath } from '../files/real-path.ts';
import { findProgram } from '../processes/find-program.ts';

/** Where each program was found on PATH; null if it was not found. */
export type FoundPrograms = ReadonlyMap<string, string | null>;

/** Finds programs on PATH without starting them. */
export function findPrograms(
  names: Iterable<string>,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): FoundPrograms {
  return new Map(
    [...names].map((name) => {
      const found = findProgram({ name, env, cwd, further: [] });
      return [name, 'file' in found ? found.file : null];
    }),
  );
}

/**
 * Returns the programs that PATH now leads to another file, or to none. A program that was missing at the start does
 * not count, since no check could run it. A symbolic link to the same file counts as the same program.
 */
export function switchedPrograms(
  atStart: FoundPrograms,
  now: FoundPrograms,
  acceptChanged: readonly string[],
): readonly ChangedDecider[] {
  const isAccepted = accepting(acceptChanged);
  return [...atStart].flatMap(([name, pathAtStart]): readonly ChangedDecider[] => {
    const path = now.get(name) ?? null;
    if (pathAtStart === null || path === pathAtStart || isAccepted(name)) return [];
    if (path !== null && realPath(path) === realPath(pathAtStart)) return [];
    return [{ kind: 'program', name, path, pathAtStart }];
  });
}
