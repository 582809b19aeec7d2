import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** They take long, need what is not everywhere, or look at the clock, which other work changes. */
const LEFT_OUT = /^test\/(?:(?:e2e|claude|agents|sandbox|fleet)\/|.*-growth\.test)/;

/**
 * The tests that a file of core has to expect: those of core that import it, directly or not, and those
 * elsewhere that import it directly. The nearest comes first, then what imports it directly.
 */
export function relatedTests(
  root: string,
  paths: readonly string[],
): (file: string) => readonly string[] {
  const imported = new Map(
    paths
      .filter((path) => path.endsWith('.ts'))
      .map((path) => [path, importsOf(path, readFileSync(join(root, path), 'utf8'))]),
  );
  const reached = new Map<string, ReadonlySet<string>>();
  for (const path of imported.keys()) {
    if (!path.endsWith('.test.ts') || LEFT_OUT.test(path)) continue;
    // What it puts in the place of a module would stay there for the files behind it.
    if (readFileSync(join(root, path), 'utf8').includes('vi.mock(')) continue;
    const all = new Set(imported.get(path));
    // A set also gives what was added to it meanwhile.
    if (path.startsWith('test/core/')) {
      for (const each of all) for (const next of imported.get(each) ?? []) all.add(next);
    }
    reached.set(path, all);
  }
  return (file) => {
    const nearest = file.replace(/^src\/(.*)\.ts$/, 'test/$1.test.ts');
    const distance = (path: string): number =>
      path === nearest ? 0 : imported.get(path)?.has(file) ? 1 : 2;
    return [...reached.keys()]
      .filter((path) => reached.get(path)?.has(file))
      .sort((one, other) => distance(one) - distance(other));
  };
}

/** What a file loads: imports of types alone are gone when it runs. */
function importsOf(path: string, text: string): ReadonlySet<string> {
  const loading = text.replace(/^(?:import|export) type [^;]*;/gm, '');
  const names = [...loading.matchAll(/(?:from|import\(?) ?'(\.{1,2}\/[^']+)'/g)];
  return new Set(names.map(([, name = '']) => join(dirname(path), name)));
}
