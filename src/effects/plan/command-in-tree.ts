import { statSync } from 'node:fs';
import path from 'node:path';
import { shellWords } from '../../core/settings/shell-words.ts';
import { treeAround } from '../files/find-git-above.ts';
import { realPath } from '../files/real-path.ts';

/** Programs that run what files of the work folder choose: a script of `package.json`, a target of a `Makefile`. */
const RUN_BY_TREE = new RegExp(
  [
    // Where a command begins, even inside another one.
    /(?:^|[;&|({`]|-c\s+["'])\s*(?:(?:exec|env|command|time|nohup|[A-Z_]\w*=\S*)\s+)*/,
    /(npx|pnpx|bunx|pnpm|yarn|g?make|just|(?:npm|bun)\s(?:-\S+\s+)*(?:run|run-script|exec|x|test|start))/,
    /(?=$|[\s;&|)}`"'])/,
  ]
    .map(({ source }) => source)
    .join(''),
);
/** Characters that separate words for a shell, besides white space. */
const SIGNS = /[;&|<>()`{}]+/g;
/** Quoted commands within quoted commands are searched to this depth. */
const DEEPEST = 4;

/**
 * Returns the word by which a command uses the work tree: a file in it, or a program that runs what its files say; null
 * without one. For commands that run after the agent, which could rewrite such files. Finds mistakes, not tricks.
 */
export function commandInTree(command: string, startDir: string, cwd: string): string | null {
  const root = treeAround(cwd);
  if (root === null) return null;
  const byTree = RUN_BY_TREE.exec(command)?.[1];
  if (byTree !== undefined) return byTree;
  const inTree = wordsIn(command, DEEPEST).find((word) =>
    [startDir, cwd].some((folder) => isFileIn(root, path.resolve(folder, word))),
  );
  return inTree ?? null;
}

/** Returns the words of a command and of the commands that it quotes. */
function wordsIn(command: string, depth: number): readonly string[] {
  const whole = shellWords(command) ?? [];
  const apart = shellWords(command.replace(SIGNS, ' ')) ?? command.split(/["'\s]+|[;&|<>()`{}]+/);
  const words = [...new Set([...whole, ...apart])].flatMap((word) => [
    word,
    // For a word such as `--script=run.sh`, also the value.
    ...(word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : []),
  ]);
  const inner = words.filter((word) => depth > 0 && /[\s;&|<>()`]/.test(word) && word !== command);
  return [
    ...words.map((word) => word.replace(/^\$(?:PWD|\{PWD\})\//, './')),
    ...inner.flatMap((word) => wordsIn(word, depth - 1)),
  ];
}

function isFileIn(root: string, file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && realPath(file).startsWith(`${root}${path.sep}`);
}
