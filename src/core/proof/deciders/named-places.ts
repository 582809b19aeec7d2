import { isObject } from '../../text/is-object.ts';
import { fieldsOfJson } from '../tool-section.ts';

/** The endings that may be omitted from a file's name. */
const ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.json'];

/** The packages of a workspace by name, each with its folder and the text of its `package.json`. */
export type Packages = ReadonlyMap<string, { readonly folder: string; readonly text: string }>;

/** Finds the packages of the work tree among the texts of files, which are given with their paths. */
export function packagesIn(
  texts: Iterable<readonly [path: string, text: string | null]>,
): Packages {
  const found = new Map<string, { folder: string; text: string }>();
  for (const [path, text] of texts) {
    if (text === null || !/(?:^|\/)package\.json$/.test(path)) continue;
    const name = fieldsOfJson(text)?.name;
    if (typeof name === 'string') found.set(name, { folder: folderOf(path), text });
  }
  return found;
}

/** Returns where a named file may lie, relative to the top of the work tree. The name may lack its ending. */
export function possiblePaths(name: string, folders: readonly string[]): readonly string[] {
  const isRelative = /^\.\.?(?:\/|$)/.test(name);
  const bases = (isRelative ? folders.slice(0, 1) : folders).map((folder) => joined(folder, name));
  return bases
    .filter((path) => path !== '' && !/^\.\.(?:\/|$)|^\//.test(path))
    .flatMap(withEndings);
}

/** Returns where the files may lie if `name` names a package of the workspace; empty if there is no such package. */
export function placesInPackage(name: string, packages: Packages): readonly string[] {
  const [scope = '', rest = ''] = name.split('/');
  const own = name.startsWith('@') ? `${scope}/${rest}` : scope;
  const below = name.slice(own.length + 1);
  // `extends: "acme"` of eslint means `eslint-config-acme`.
  const names = [own, `eslint-config-${own}`, `eslint-plugin-${own}`, `${own}/eslint-config`];
  return names.flatMap((each) => {
    const known = packages.get(each);
    if (known === undefined) return [];
    const { folder, text } = known;
    if (below !== '') return withEndings(joined(folder, below));
    const fields = fieldsOfJson(text);
    const entries = [fields?.main, fields?.module, fields?.exports].flatMap((each) =>
      stringsOf(each),
    );
    return [...entries, 'index'].flatMap((entry) => withEndings(joined(folder, entry)));
  });
}

/** How deep the `exports` of a package are read. */
const DEEPEST = 6;

function stringsOf(value: unknown, depth = 0): readonly string[] {
  if (typeof value === 'string') return [value];
  if (!isObject(value) || depth > DEEPEST) return [];
  return Object.values(value).flatMap((each) => stringsOf(each, depth + 1));
}

function withEndings(path: string): readonly string[] {
  const bare = path.replace(/\.([cm]?)js$/, '.$1ts');
  return [
    ...new Set([
      path,
      bare,
      ...ENDINGS.flatMap((ending) => [path + ending, `${path}/index${ending}`]),
    ]),
  ];
}

/** Returns the folder of a path; empty if that is the top. */
export function folderOf(path: string): string {
  return path.replace(/\/?[^/]*$/, '');
}

/** Joins two paths and resolves `.` and `..` as far as possible. */
export function joined(folder: string, path: string): string {
  if (path.startsWith('/')) return path;
  const parts: string[] = folder.startsWith('/') ? [''] : [];
  for (const part of [...folder.split('/'), ...path.split('/')]) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}
