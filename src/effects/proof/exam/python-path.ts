import { readFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn } from '../../files/folder.ts';
import { ifPossible } from '../../files/if-possible.ts';
import { realPath } from '../../files/real-path.ts';
import { GitError } from '../../git/git-error.ts';
import { type ExamPlaces, placeInExam } from './exam-links.ts';

/*
 * Python loads an editable install from where its source is: a `.pth` file names that folder, or a module by setuptools
 * maps the package's name to the folder. Python searches the folders of PYTHONPATH before it looks at either.
 */

/** Returns, for folders of editable installs, those of the exam, a checkout. Throws a `GitError` if one is unclear. */
export function editableFolders(
  libraries: readonly string[],
  places: ExamPlaces,
): readonly string[] {
  const found = libraries.flatMap((library) =>
    loadingNames(library).flatMap((name) => {
      const text = readText(path.join(library, name));
      if (name.endsWith('.pth')) return linesOf(text).map((line) => path.resolve(library, line));
      return text.includes(places.root) ? mappedBy(text, path.join(library, name)) : [];
    }),
  );
  return [...new Set(found.flatMap((place) => placeInExam(places, realPath(place)) ?? []))];
}

/** Returns the names of `.pth` files, and of the modules that their lines load. */
function loadingNames(library: string): readonly string[] {
  return namesIn(library).filter((name) => /\.pth$|^_.*(?:editable|finder).*\.py$/.test(name));
}

function readText(file: string): string {
  return ifPossible(() => readFileSync(file, 'utf8')) ?? '';
}

/** Returns the lines of a `.pth` file that are paths. */
function linesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(?:#|import\s)/.test(line));
}

const MAPPING = /^MAPPING\b[^=\n]*=\s*\{([^}]*)\}/m;
const PAIR = /(['"])([\w.]+)\1\s*:\s*(['"])(.*?)\3/g;

/** Returns the folders to which a module by setuptools leads Python. */
function mappedBy(text: string, file: string): readonly string[] {
  const [, pairs] = MAPPING.exec(text) ?? [];
  const folders = [...(pairs ?? '').matchAll(PAIR)].map(([, , name = '', , place = '']) => {
    const end = `/${name.replaceAll('.', '/')}`;
    const bare = place.replace(/\.py$/, '');
    return bare.endsWith(end) ? bare.slice(0, -end.length) : null;
  });
  const known = folders.filter((place) => place !== null);
  if (known.length === 0 || known.length < folders.length) {
    throw new GitError(`${file} leads Python into the work tree`);
  }
  return known;
}
