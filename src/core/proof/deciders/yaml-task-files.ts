import type { OpenRecipe, TaskFile } from './recipes.ts';

/** Reads the YAML of a Taskfile line by line. A line below a task may be a command, or the name of another task. */
export function readTaskfile(text: string): TaskFile {
  const recipes: OpenRecipe[] = [];
  const includes: string[] = [];
  let section = '';
  let indent = 0;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const depth = line.search(/\S/);
    const [, key, rest = ''] = /^\s*["']?([^\s"'][^"']*?)["']?:(?:\s+(.*))?$/.exec(line) ?? [];
    if (depth === 0) {
      section = key ?? '';
      indent = 0;
      continue;
    }
    if (indent === 0) indent = depth;
    if (section === 'includes') {
      const path = line.split(/[\s"'{}]+/).findLast((word) => /[./]/.test(word));
      if (path !== undefined) includes.push(path, `${path}/Taskfile.yml`, `${path}/Taskfile.yaml`);
    } else if (section === 'tasks') {
      if (depth === indent && key !== undefined)
        recipes.push({ names: [key], needs: [], lines: [] });
      const command = depth === indent ? rest : line.trim().replace(/^- */, '');
      const [, folder] = /^dir: *(.+)$/.exec(command) ?? [];
      const bare = command.replace(/^[\w-]+: +/, '').replace(/^\[|\]$/g, '');
      const parts = bare === command ? [bare] : bare.split(/, */);
      for (const part of parts.map((each) => each.trim().replace(/^(["'])(.*)\1$/, '$2'))) {
        if (/^[\w:.-]+$/.test(part)) recipes.at(-1)?.needs.push(part);
        recipes.at(-1)?.lines.push(folder === undefined ? part : `cd ${part}`);
      }
    }
  }
  return { recipes, includes };
}
