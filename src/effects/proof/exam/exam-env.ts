import path from 'node:path';
import { checkBelow, type NamedPlace } from '../../../core/proof/check-places.ts';
import { namesIn } from '../../files/folder.ts';
import { isInside, realPath } from '../../files/real-path.ts';
import { type ExamPlaces, placeInExam } from './exam-links.ts';
import { editableFolders } from './python-path.ts';

/**
 * Returns the environment of a check in the exam, a checkout: its paths lead into the exam, and Python finds editable
 * installs there first. Throws a `GitError` if it is unclear how Python finds these.
 */
export function envInExam(
  env: NodeJS.ProcessEnv,
  places: ExamPlaces,
  named: readonly NamedPlace[],
): NodeJS.ProcessEnv {
  const { root, folder } = places;
  const home = env.HOME ?? '';
  // If the home folder is the work tree or in it, all paths of the user's files look like paths of the work tree.
  const isHomeThere = home === root || isInside(root, realPath(home));
  const isMapped = (name: string): boolean =>
    !isHomeThere && name !== 'HOME' && !name.startsWith('RALPH');
  const mapped = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value !== undefined && isMapped(name) ? checkBelow(value, named, folder) : value,
    ]),
  );
  const search = (env.PATH ?? '').split(path.delimiter);
  const python = editableFolders(librariesOf(search, home), places);
  const given = mapped.PYTHONPATH ?? '';
  return {
    ...mapped,
    PATH: search.map((entry) => pathInExam(entry, places)).join(path.delimiter),
    ...(python.length > 0
      ? { PYTHONPATH: [...python, ...(given === '' ? [] : [given])].join(path.delimiter) }
      : {}),
    // Python would write bytecode next to the packages, which are symbolic links to those of the work tree.
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

function pathInExam(entry: string, places: ExamPlaces): string {
  return (path.isAbsolute(entry) ? placeInExam(places, realPath(entry)) : null) ?? entry;
}

/** Returns the folders of Python packages that belong to the programs on PATH or to the user. */
function librariesOf(search: readonly string[], home: string): readonly string[] {
  const prefixes = [
    ...search.filter((entry) => path.basename(entry) === 'bin').map((entry) => path.dirname(entry)),
    path.join(home, '.local'),
  ];
  return [...new Set(prefixes.filter((prefix) => path.isAbsolute(prefix)))].flatMap((prefix) =>
    namesIn(path.join(prefix, 'lib')).flatMap((name) =>
      name.startsWith('python')
        ? ['site-packages', 'dist-packages'].map((each) => path.join(prefix, 'lib', name, each))
        : [],
    ),
  );
}
