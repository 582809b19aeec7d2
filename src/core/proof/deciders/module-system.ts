import { isTestName } from '../decider-names.ts';
import { fieldsOfJson } from '../tool-section.ts';
import { folderOf } from './named-places.ts';

type Texts = ReadonlyMap<string, string>;

/**
 * Finds the test folders that need a `package.json` of their own with the module system (ESM or CommonJS) of the
 * start, because the work has changed the package's. Returns the text for each `package.json` by its path. Leaves out
 * folders that already have one, or whose names do not say that they hold tests.
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
