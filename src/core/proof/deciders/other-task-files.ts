import { isObject } from '../../text/is-object.ts';
import { fieldsOfJson } from '../tool-section.ts';
import { plainJson } from './json-comments.ts';
import { joinedLines, type OpenRecipe, type TaskFile } from './recipes.ts';

/** Reads the commands of all environments of a `tox.ini`. */
export function readTox(text: string): TaskFile {
  const recipes: OpenRecipe[] = [];
  let key = '';
  for (const line of joinedLines(text)) {
    const [, section] = /^\[(.*)\]/.exec(line) ?? [];
    const [, name, value] = /^([\w-]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (section !== undefined) recipes.push({ names: [], needs: [], lines: [] });
    else if (name !== undefined) key = name;
    const command = (value ?? line).trim().replace(/^[-!] */, '');
    const plain = command.replace(/\{(?:toxinidir|tox_root)\}/g, '.');
    if (/^commands/.test(key)) recipes.at(-1)?.lines.push(plain);
    else if (key === 'changedir' || key === 'change_dir') recipes.at(-1)?.lines.push(`cd ${plain}`);
  }
  return { recipes, includes: [] };
}

/** Reads the commands of all sessions of a noxfile, such as `session.run("sh", "scripts/test.sh")`. */
export function readNoxfile(text: string): TaskFile {
  const calls = [...text.matchAll(/\.(?:run\w*|chdir)\(([^()]*)/g)];
  const lines = calls.map(([call, list = '']) => {
    const words = [...list.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(([, a, b]) => a ?? b ?? '');
    const line = words.map((word) => (/\s/.test(word) ? `'${word}'` : word)).join(' ');
    return call.startsWith('.chdir') ? `cd ${line}` : line;
  });
  return { recipes: [{ names: [], needs: [], lines }], includes: [] };
}

/** Reads the scripts of a `composer.json`, where `@php` runs PHP and `@name` runs another script. */
export function readComposer(text: string): TaskFile {
  return recipesIn(fieldsOfJson(text)?.scripts, (line) => line.replace(/^@(?=php |composer )/, ''));
}

/** Reads the tasks of a `deno.json`. */
export function readDeno(text: string): TaskFile {
  return recipesIn(fieldsOfJson(plainJson(text))?.tasks, (line) => line);
}

/** Reads `{name: "command"}`. Instead of a command there may be a list, or an object with the command and more. */
function recipesIn(tasks: unknown, asLine: (line: string) => string): TaskFile {
  if (!isObject(tasks)) return { recipes: [], includes: [] };
  const recipes = Object.entries(tasks).map(([name, task]) => {
    const { command = task, dependencies = [] } = isObject(task) ? task : {};
    const lines = [command]
      .flat()
      .flatMap((line) => (typeof line === 'string' ? [asLine(line)] : []));
    const named = lines.flatMap((line) => /^@(?:run-script +)?([\w:.-]+)/.exec(line)?.[1] ?? []);
    const needs = [dependencies].flat().flatMap((need) => (typeof need === 'string' ? [need] : []));
    return { names: [name], needs: [...named, ...needs], lines };
  });
  return { recipes, includes: [] };
}
