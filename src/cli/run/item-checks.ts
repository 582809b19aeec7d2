import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ListItem } from '../../core/list/list-item.ts';
import { findProgram } from '../../effects/processes/find-program.ts';

/** Returns a function that picks those checks of a list's item that are commands: they begin with a program or path. */
export function commandFinder(
  env: NodeJS.ProcessEnv,
  cwd: string,
): (item: ListItem) => readonly string[] {
  const known = new Map<string, boolean>();
  const isProgram = (word: string): boolean => {
    const found = known.get(word) ?? lookFor(word, env, cwd);
    known.set(word, found);
    return found;
  };
  return ({ checks }) =>
    checks.filter((text) => {
      const word = text
        .trim()
        .split(/\s+/)
        .find((each) => !/^\w+=/.test(each));
      return word !== undefined && isProgram(word);
    });
}

function lookFor(word: string, env: NodeJS.ProcessEnv, cwd: string): boolean {
  // `cd` is no program but a command of the shell, and often comes before the program.
  if (word === 'cd') return true;
  if (word.includes('/') && existsSync(path.resolve(cwd, word))) return true;
  return 'file' in findProgram({ name: word, env, cwd, further: [] });
}
