import { isTestName } from '../decider-names.ts';
import { fieldsOfJson } from '../tool-section.ts';
import { folderOf } from './named-places.ts';

type Texts = ReadonlyMap<string, string>;

/**
 * Finds the test folders that need a `package.json` with the module system of the start, because the work has changed
 * that of their package. Returns each file's text by its path. Leaves out folders that have a `package.json`.
 */
export function moduleSystemsOf(
  tests: readonly string[],
  { atStart, claimed }: { readonly atStart: Texts; readonly claimed: Texts },
): Texts {
  const found = new Map<string, string>();
  for (const test of tests.filter((path) => /\.[jt]sx?$/.test(path))) {
    const folder = folderOf(test);
    const place = `${folder}/package.json`;
    const type = typeFor(folder, atStart);
    if (!isTestName(`${folder}/x`) || claimed.has(place) || type === typeFor(folder, claimed))
      continue;
    found.set(place, `${JSON.stringify({ type })}\n`);
  }
  return found;
}

/** Returns the module system that Node.js uses for the files of a folder. */
function typeFor(folder: string, packages: Texts): string {
  const text = packages.get(folder === '' ? 'package.json' : `${folder}/package.json`);
  if (text === undefined) return folder === '' ? 'commonjs' : typeFor(folderOf(folder), packages);
  return fieldsOfJson(text)?.type === 'module' ? 'module' : 'commonjs';
}
