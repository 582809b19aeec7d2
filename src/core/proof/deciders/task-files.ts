import type { TaskCall } from '../check-words.ts';
import type { TaskTool } from '../command-words.ts';
import { readJustfile } from './justfiles.ts';
import { readMakefile } from './makefiles.ts';
import { folderOf, joined } from './named-places.ts';
import { readComposer, readDeno, readNoxfile, readTox } from './other-task-files.ts';
import type { Recipe, TaskFile } from './recipes.ts';
import { readTaskfile } from './yaml-task-files.ts';

interface TaskReader {
  /** The names of the task files for which the program looks, in order. */
  readonly files: readonly string[];
  /** Which recipes count if no word of the call names one. */
  readonly unnamed: 'all' | 'none';
  readonly read: (text: string) => TaskFile;
}

/** The reader for each program. A new program is one more row. */
const TASK_READERS: Readonly<Record<TaskTool, TaskReader>> = {
  make: { files: ['GNUmakefile', 'makefile', 'Makefile'], unnamed: 'all', read: readMakefile },
  just: { files: ['justfile', '.justfile', 'Justfile'], unnamed: 'all', read: readJustfile },
  task: {
    files: ['Taskfile', 'taskfile'].flatMap((name) =>
      ['.yml', '.yaml', '.dist.yml', '.dist.yaml'].map((ending) => name + ending),
    ),
    unnamed: 'all',
    read: readTaskfile,
  },
  tox: { files: ['tox.ini'], unnamed: 'all', read: readTox },
  nox: { files: ['noxfile.py'], unnamed: 'all', read: readNoxfile },
  composer: { files: ['composer.json'], unnamed: 'none', read: readComposer },
  deno: { files: ['deno.json', 'deno.jsonc'], unnamed: 'none', read: readDeno },
};

/** A task file as a program reads it, together with the files that it includes. */
export interface UsedTaskFile {
  readonly paths: readonly string[];
  /** The folder in which its recipes run. */
  readonly folder: string;
  readonly recipes: readonly Recipe[];
}

const MOST_FILES = 50;

/** Finds the task files that a call uses, in one of `folders` or above it. `known` is a cache over all calls. */
export function taskFilesOf(
  { tool, files }: TaskCall,
  folders: readonly string[],
  {
    textOf,
    known,
  }: {
    readonly textOf: (path: string) => string | null;
    readonly known: Map<string, UsedTaskFile | null>;
  },
): readonly UsedTaskFile[] {
  const names = TASK_READERS[tool].files;
  const places = folders.flatMap((folder) =>
    files.length > 0
      ? files.map((file) => ({ path: joined(folder, file), folder }))
      : withThoseAbove(folder).flatMap((each) =>
          names.map((name) => ({ path: joined(each, name), folder: each })),
        ),
  );
  return places.flatMap(({ path, folder }) => {
    const key = `${tool} ${path}`;
    if (!known.has(key)) known.set(key, readWithIncluded(tool, { path, folder }, textOf));
    return known.get(key) ?? [];
  });
}

/** Reads a file together with the files that it includes, so that variables of one are known in the others. */
function readWithIncluded(
  tool: TaskTool,
  { path, folder }: { readonly path: string; readonly folder: string },
  textOf: (path: string) => string | null,
): UsedTaskFile | null {
  const texts = new Map<string, string>();
  const add = (place: string): void => {
    const text = texts.has(place) || texts.size >= MOST_FILES ? null : textOf(place);
    if (text !== null) texts.set(place, text);
  };
  add(path);
  for (let size = 0; ; ) {
    if (texts.size === size) return null;
    size = texts.size;
    const { recipes, includes } = TASK_READERS[tool].read([...texts.values()].join('\n'));
    const bases = new Set([folder, ...[...texts.keys()].map(folderOf)]);
    for (const base of bases) for (const name of includes) add(joined(base, name));
    if (texts.size === size) return { paths: [...texts.keys()], folder, recipes };
  }
}

function withThoseAbove(folder: string): readonly string[] {
  return folder === '' || folder.startsWith('/')
    ? [folder]
    : [folder, ...withThoseAbove(folderOf(folder))];
}

const MOST_RECIPES = 2000;

/**
 * Returns the recipes that words name, or without words the first recipe and `default`; also the recipes that these
 * need. If none of the names is known, or one has a variable, all recipes count, unless `unnamed` is `none`.
 */
export function recipesFor(
  tool: TaskTool,
  words: readonly string[],
  given: readonly Recipe[],
): readonly Recipe[] {
  const recipes = given.slice(0, MOST_RECIPES);
  const { unnamed } = TASK_READERS[tool];
  const plain = words.filter((word) => !/^-|=/.test(word));
  const first = recipes.find(({ names }) => !names.some((name) => name.startsWith('.')));
  const asked = plain.length > 0 ? plain : ['default', ...(first?.names ?? [])];
  const isKnown = asked.some((word) => recipes.some((recipe) => hasName(recipe, word)));
  if (unnamed === 'all' && !isKnown) return recipes;
  const found = new Set<Recipe>();
  // Words that are added to the set during the loop are visited, too.
  const open = new Set(asked);
  for (const word of open) {
    if (unnamed === 'all' && word.includes('$')) return recipes;
    for (const recipe of recipes) {
      if (found.has(recipe) || !hasName(recipe, word)) continue;
      found.add(recipe);
      for (const need of recipe.needs) open.add(need);
    }
  }
  return [...found];
}

/** Whether a word names a recipe. `%` is a pattern in make, and `docs:test` may be `test` of an included file. */
function hasName({ names }: Recipe, word: string): boolean {
  return names.some((name) => {
    const [before = '', after] = name.split('%');
    if (after === undefined) return word === name || word.endsWith(`:${name}`);
    return word.length >= name.length && word.startsWith(before) && word.endsWith(after);
  });
}
